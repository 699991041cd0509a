/** A played MCP server of the 2025 era on standard input and output: raw JSON-RPC, so that it can misbehave. Its words: folder, name. */
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import {
  answerOf,
  callLines,
  doingOf,
  filesOf,
  type Message,
  modernLine,
  notificationLine,
  resultLine,
} from './mcp-script.ts'

const [folder = '', name = ''] = process.argv.slice(2)
const files = filesOf(folder, name)
const { stays = false, starts, isModern = false } = files.read()
const open = new Map<string, unknown>()

const write = (line: string) => process.stdout.write(`${isModern ? modernLine(line) : line}\n`)

if (starts === 'fails') {
  process.stderr.write(`cannot start today with ${process.env['TOKEN']}\n`)
  process.exit(3)
}
files.note({ message: { method: 'started' } })
if (stays) {
  process.on('SIGTERM', () => files.note({ message: { method: 'asked to end' } }))
  setInterval(() => {}, 1_000)
}

async function call(message: Message): Promise<void> {
  const script = files.read()
  const doing = doingOf(String(message.params?.['name']), script, files.heard())
  if (doing.delayMs !== undefined) await delay(doing.delayMs)
  const token = (message.params?.['_meta'] as { progressToken?: unknown } | undefined)?.progressToken
  for (let at = 1; at <= (doing.progress?.count ?? 0); at++) {
    const params = { progressToken: token, progress: at, total: doing.progress?.count, message: `step ${at}` }
    write(notificationLine('notifications/progress', params))
    await delay(doing.progress?.everyMs)
  }
  if (doing.flood !== undefined)
    for (let left = doing.flood.count; left > 0; left -= 1000) {
      const lines = `${doing.flood.line}\n`.repeat(Math.min(left, 1000))
      if (!process.stdout.write(lines)) await once(process.stdout, 'drain')
    }
  if (doing.writes !== undefined)
    process.stderr.write(`${doing.writes.replace('$ARGUMENTS', JSON.stringify(message.params?.['arguments']))}\n`)
  if (doing.hangs === true) return
  if (doing.dies === true) process.kill(process.pid, 'SIGKILL')
  if (doing.ask !== undefined) {
    const id = `asked-${open.size}`
    open.set(id, message.id)
    write(JSON.stringify({ jsonrpc: '2.0', id, ...doing.ask }))
    return
  }
  if (doing.endless === true) {
    const more = () => void process.stdout.write('x'.repeat(65_536), () => setImmediate(more))
    more()
    return
  }
  if (doing.change !== undefined) {
    files.write({ ...script, tools: doing.change })
    write(notificationLine('notifications/tools/list_changed'))
  }
  for (const line of callLines(message, doing)) write(line)
}

const input = createInterface({ input: process.stdin })
input.on('close', () => {
  if (!stays) process.exit(0)
})
input.on('line', (line) => {
  const message = JSON.parse(line) as Message
  files.note({ message })
  const asked = message.method === undefined ? open.get(String(message.id)) : undefined
  if (asked !== undefined) {
    const { result = null, error = null } = message
    write(resultLine(asked, { content: [{ type: 'text', text: JSON.stringify({ result, error }) }] }))
    return
  }
  const answer = answerOf(message, files.read())
  if (answer === undefined) void call(message)
  else if (answer !== null) write(answer)
})
