/** MCP servers on stdio that break the protocol or its bounds, by name. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

type Message = Readonly<Record<string, unknown>> & { readonly id?: string | number; readonly method?: string }
const write = (value: unknown) => process.stdout.write(`${typeof value === 'string' ? value : JSON.stringify(value)}\n`)
const answer = (id: unknown, result: unknown) => write({ jsonrpc: '2.0', id, result })
const text = (value: string) => ({ content: [{ type: 'text', text: value }] })
const tool = (name: string) => ({ name, inputSchema: { type: 'object' } })
const kind = process.argv[2] ?? ''
const isDeaf = kind.startsWith('deaf')
const forEver = setInterval(() => {}, 1_000)

/** What each does with a list; the others list one tool. */
const lists: Readonly<Record<string, (id: unknown, cursor: unknown) => void>> = {
  'many-pages': (id, cursor) => answer(id, { tools: [tool('go')], nextCursor: String(Number(cursor ?? 0) + 1) }),
  'same-page': (id) => answer(id, { tools: [tool('go')], nextCursor: 'again' }),
  'many-tools': (id) => answer(id, { tools: Array.from({ length: 501 }, (_, at) => tool(`t${at}`)) }),
  'no-list': () => {},
  'deep-list': (id) =>
    write(
      `{"jsonrpc":"2.0","id":${id},"result":{"tools":[{"name":"go","inputSchema":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}]}}`,
    ),
  'odd-tools': (id) => answer(id, { tools: [{ name: 7 }, null, tool('go'), { name: 'x' }, tool('go')] }),
}

/** What each does with a call; the others answer. */
const calls: Readonly<Record<string, (id: unknown, params: Readonly<Record<string, unknown>>) => void>> = {
  'long-line': (id) =>
    write(
      `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"${'x'.repeat(17 * 1024 * 1024)}"}]}}`,
    ),
  'endless-line': () => {
    const more = () => process.stdout.write('x'.repeat(65_536), () => setImmediate(more))
    more()
  },
  deep: (id) =>
    write(
      `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${'['.repeat(10_000)}${']'.repeat(10_000)}}}`,
    ),
  'many-values': (id) =>
    write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":[${'1,'.repeat(2_000_000)}1]}}`),
  twice: (id) => {
    answer(id, text('first'))
    answer(id, text('second'))
  },
  'other-id': (id) => {
    answer(999, text('no'))
    answer(String(id), text('no'))
    answer(null, text('no'))
    answer(id, text('yes'))
  },
  flood: (id) => {
    const params = { progressToken: id, progress: 1 }
    const one = `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })}\n`
    const many = one.repeat(500)
    const more = () => process.stdout.write(many, () => setImmediate(more))
    more()
  },
  pings: () => {
    let at = 0
    const more = () =>
      process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++at, method: 'ping' })}\n`.repeat(100), () =>
        setImmediate(more),
      )
    process.stdin.pause()
    more()
  },
  pid: (id) => answer(id, text(String(process.pid))),
  'deaf-echo': (id) => answer(id, text(String(process.pid))),
  silent: () => {},
  deaf: () => {},
  dies: () => process.exit(3),
  killed: () => process.kill(process.pid, 'SIGKILL'),
  samples: (id) =>
    ask('sampling/createMessage', { messages: [], maxTokens: 1 }, (said) => answer(id, text(JSON.stringify(said)))),
  elicits: (id) =>
    ask('elicitation/create', { message: 'Who?', requestedSchema: { type: 'object', properties: {} } }, (said) =>
      answer(id, text(JSON.stringify(said))),
    ),
  roots: (id) => ask('roots/list', {}, (said) => answer(id, text(JSON.stringify(said)))),
  error: (id) =>
    write({
      jsonrpc: '2.0',
      id,
      error: { code: -32000, message: `\u001b[31m${process.env['SECRET']}\n${'e'.repeat(5_000)}` },
    }),
  'no-result': (id) => write({ jsonrpc: '2.0', id }),
  'odd-content': (id) => answer(id, { content: 'text' }),
  env: (id) => answer(id, text(JSON.stringify(process.env))),
  big: (id) => answer(id, text('a "quoted" line\n'.repeat(800_000))),
  echo: (id, params) => answer(id, text(JSON.stringify(params))),
  logs: (id) => {
    for (let at = 0; at < 200; at++)
      write({
        jsonrpc: '2.0',
        method: 'notifications/message',
        params: { level: 'info', data: `${process.env['SECRET']} line ${at} ${'x'.repeat(5_000)}` },
      })
    process.stderr.write(`trouble ${process.env['SECRET']}\n`)
    write('this is no JSON')
    setTimeout(() => answer(id, text('done')), 100)
  },
  'odd-progress': (id) => {
    for (const progress of [1, 'two', null, { a: 1 }])
      write({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: id, progress, message: 'm'.repeat(5_000) },
      })
    answer(id, text('done'))
  },
}

const asked = new Map<unknown, (said: unknown) => void>()
function ask(method: string, params: unknown, then: (said: unknown) => void): void {
  const id = `ask-${asked.size}`
  asked.set(id, then)
  write({ jsonrpc: '2.0', id, method, params })
}

const lines = createInterface({ input: process.stdin })
if (kind === 'parent') {
  const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM",()=>{});setInterval(()=>{},1000)'], {
    stdio: 'ignore',
  })
  process.stderr.write(`grandchild ${child.pid}\n`)
}
if (isDeaf) process.on('SIGTERM', () => {})
lines.on('close', () => {
  if (!isDeaf) clearInterval(forEver)
  if (!isDeaf && kind !== 'parent') process.exit(0)
  if (kind === 'parent') process.exit(0)
})
lines.on('line', (line) => {
  const { id, method, params, ...rest } = JSON.parse(line) as Message & { params?: Readonly<Record<string, unknown>> }
  if (method === undefined) {
    asked.get(id)?.(rest)
    return
  }
  if (kind === 'exits-on-probe' && method === 'server/discover') process.exit(1)
  if (kind === 'never') return
  if (method === 'notifications/cancelled') process.stderr.write(`cancelled ${JSON.stringify(params)}\n`)
  if (id === undefined) return
  if (method === 'initialize')
    answer(id, {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {}, logging: {} },
      serverInfo: { name: kind, version: '0' },
    })
  else if (method === 'tools/list') {
    const list = lists[kind]
    if (list === undefined) answer(id, { tools: [tool('go')] })
    else list(id, params?.['cursor'])
  } else if (method === 'tools/call') (calls[kind] ?? calls['echo'])?.(id, params ?? {})
  else write({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } })
})
