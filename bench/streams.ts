/**
 * Events per second to 500 readers: `node --conditions=witan-source bench/streams.ts [--readers 500] [--json FILE]`. A server in a process
 * of its own, in memory, read over HTTP as server-sent events: all readers on one conversation, and one reader on each of as many.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import type { Model } from '@witan/core'
import { loadConfig, startServer } from '@witan/server'
import { aboutHere, cpuMsOf } from './about.ts'
import { cpuNow } from './measure.ts'
import { gridOf, short } from './grid.ts'
import { deltaText } from './scenario.ts'

const { values } = parseArgs({ options: { readers: { type: 'string', default: '500' }, json: { type: 'string' } } })
const readers = Number(values.readers)

/** Set in the environment of the process that serves. */
const isServer = 'WITAN_BENCH_SERVER'

const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 }

/** Says as many pieces as the message asks for, one in each turn of the event loop. */
const talker: Model = {
  id: 'bench/talker',
  async *stream({ messages }, { deltas }) {
    const asked = Number(/say (\d+)/.exec(JSON.stringify(messages.at(-1)))?.[1] ?? 1)
    let text = ''
    for (let index = 0; index < asked; index += 1) {
      text += deltaText(index)
      if (deltas) yield { type: 'delta', text: deltaText(index) }
      await new Promise((resolve) => setImmediate(resolve))
    }
    yield { type: 'reply', reply: { text, toolCalls: [], finishReason: 'stop', usage, model: null } }
  },
}

async function serve(): Promise<void> {
  const folder = mkdtempSync(`${tmpdir()}/witan-bench-`)
  const config = await loadConfig({ cwd: folder, env: {} })
  const server = await startServer({
    ...config,
    auth: { ...config.auth, mode: 'none' },
    server: { ...config.server, port: 0 },
    store: { ...config.store, url: 'memory:' },
    logLevel: 'error',
    models: { 'bench/talker': talker },
    agents: [{ id: 'talker', instructions: 'Talk.', model: 'bench/talker' }],
  })
  process.send?.(server.url)
  await once(process, 'message')
  rmSync(folder, { recursive: true, force: true })
  process.exit(0)
}

async function post(url: string, body: unknown): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' }
  const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${url}: ${reply.status} ${text.slice(0, 300)}`)
  return JSON.parse(text) as Record<string, unknown>
}

/** A reader that counts frames until the root has ended. */
interface Reader {
  readonly over: Promise<void>
  frames(): number
  close(): void
}

async function openReader(url: string, agent: Agent): Promise<Reader> {
  const request = get(url, { agent, headers: { accept: 'text/event-stream' } })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode}`)
  let frames = 0
  let rest = ''
  const over = new Promise<void>((resolve) => {
    response.setEncoding('utf8').on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\n\n')
      rest = parts.pop() ?? ''
      for (const part of parts) {
        if (part.startsWith(':')) continue
        frames += 1
        if (part.includes('event: end') && part.includes('"kind":"agent"')) resolve()
      }
    })
  })
  response.on('error', () => {})
  return { over, frames: () => frames, close: () => request.destroy() }
}

function rssOf({ pid }: ChildProcess): number | null {
  if (process.platform !== 'linux') return null
  const found = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return found === null ? null : Number(found[1]) / 1024
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

interface Case {
  readonly title: string
  readonly conversations: number
  readonly deltas: number
}

/** Opens the readers, starts a run in every conversation, and waits until all have read its end. */
async function measure({ title, conversations, deltas }: Case) {
  const server = fork(import.meta.filename, { env: { ...process.env, [isServer]: '1' } })
  const [base] = (await once(server, 'message')) as [string]
  const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY })
  const create = async () => String((await post(`${base}/api/v1/conversations`, { agent: 'talker' }))['id'])
  const run = (id: string, count: number) =>
    post(`${base}/api/v1/conversations/${encodeURIComponent(id)}/runs?mode=async`, { prompt: `say ${count}` })
  const read = (id: string) =>
    openReader(`${base}/api/v1/conversations/${encodeURIComponent(id)}/events?verbose=true`, agent)
  for (let warm = 0; warm < 20; warm += 1) {
    const id = await create()
    const reader = await read(id)
    await run(id, 200)
    await reader.over
    reader.close()
  }
  const ids: string[] = []
  for (let count = 0; count < conversations; count += 1) ids.push(await create())
  const before = rssOf(server)
  const open: Reader[] = []
  for (let count = 0; count < readers; count += 1) open.push(await read(ids[count % ids.length] as string))
  const connected = rssOf(server)
  const [begun, cpu, own] = [performance.now(), cpuMsOf(server.pid as number), cpuNow()]
  await Promise.all(ids.map((id) => run(id, deltas)))
  await Promise.all(open.map(({ over }) => over))
  const seconds = (performance.now() - begun) / 1000
  const cpuMs = (cpuMsOf(server.pid as number) ?? Number.NaN) - (cpu ?? Number.NaN)
  const readersMs = (cpuNow() - own) / 1000
  const peak = rssOf(server)
  const events = open.reduce((sum, reader) => sum + reader.frames(), 0)
  for (const reader of open) reader.close()
  await pause(3000)
  const after = rssOf(server)
  server.send('end')
  await once(server, 'exit')
  const rates = { events, seconds, perSecond: events / seconds, cpuUsPerEvent: (cpuMs * 1000) / events, readersMs }
  return { title, readers, conversations, deltas, ...rates, rssMb: { before, connected, peak, after } }
}

async function main(): Promise<void> {
  const about = aboutHere()
  const results = []
  const cases: Case[] = [
    { title: `${readers} readers of one conversation`, conversations: 1, deltas: 500 },
    { title: `one reader each of ${readers} conversations`, conversations: readers, deltas: 100 },
  ]
  for (const one of cases) results.push(await measure(one))
  console.log(`${about.text}; one server process and one that reads; RSS of the server in MB\n`)
  const head = [
    '',
    'events',
    'events/s',
    'server CPU µs/event',
    'RSS before',
    'connected',
    'right after',
    'readers gone',
  ]
  const rows = results.map(({ title, events, perSecond, cpuUsPerEvent, rssMb }) => [
    title,
    short(events),
    short(perSecond),
    short(cpuUsPerEvent),
    ...[rssMb.before, rssMb.connected, rssMb.peak, rssMb.after].map(short),
  ])
  console.log(gridOf(head, rows))
  if (values.json === undefined) console.log(`\n${JSON.stringify({ about, results })}`)
  else writeFileSync(values.json, `${JSON.stringify({ about, results }, null, 2)}\n`)
}

if (process.env[isServer] === undefined) await main()
else await serve()
