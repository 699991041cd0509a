/**
 * A fan-out to other servers: `npm run bench:remotes -- [--runs 20] [--remotes 8] [--stores memory,normal]`. One agent asks eight agents of
 * one other server on loopback at once, over JSON-RPC and streams; each takes 100 ms or more. Prints the wall time beside that of the
 * slowest, and the CPU of the process that calls, without that of the other server, which is a thread of its own. A server that says that it takes
 * a message once is called over connections that were used before.
 */
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRuntime, type Model } from '@witan/core'
import { aboutHere } from './about.ts'
import { percentile } from './figure.ts'
import { gridOf } from './grid.ts'
import { type GroundName, openGround, storeAt } from './ground.ts'

/** The domains of a server that says that it takes a message once, and of one that does not. */
const domains = { yes: 'once.test', no: 'plain.test' } as const
type Once = keyof typeof domains
/** How long an agent there takes, by its number. */
const takesMs = (at: number) => 100 + 10 * at
const once = [{ uri: 'https://witan.dev/ns/a2a/idempotent/v1' }]
const cardOf = (name: string, url: string) => ({
  ...{ name, description: 'Knows.', version: '1', skills: [] },
  supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: true, extensions: url.includes(domains.yes) ? once : [] },
})

/** The other server: every path ends in the number of an agent. */
function serve(): void {
  let tasks = 0
  const server = createServer(async (request, response) => {
    const [path = '', query = ''] = (request.url ?? '').split('?')
    const domain = request.headers.host
    const url = `https://${domain}`
    const give = (value: object) => response.end(JSON.stringify(value))
    const name = /^resource=acct:(a\d+)@/.exec(query)?.[1]
    const links = [{ rel: 'https://mentionable.dev/ns/rel/agent-card', href: `${url}/card/${name}` }]
    if (name !== undefined) return void give({ subject: `acct:${name}@${domain}`, links })
    const agent = /\/(a\d+)(?:\/|$)/.exec(path)?.[1] ?? 'a0'
    if (path === `/card/${agent}`)
      return void give({ address: `@${agent}@${domain}`, name: agent, a2a: { endpoint: `${url}/a2a/${agent}` } })
    if (path.endsWith('agent-card.json')) return void give(cardOf(agent, `${url}/a2a/${agent}`))
    for await (const _ of request);
    tasks += 1
    const ids = { taskId: `t${tasks}`, contextId: `c${tasks}` }
    const frame = (result: object) => response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result })}\n\n`)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    frame({ task: { id: ids.taskId, contextId: ids.contextId, status: { state: 'TASK_STATE_WORKING' } } })
    setTimeout(
      () => {
        for (const text of ['In ', 'the ', 'cellar.'])
          frame({
            artifactUpdate: { ...ids, append: text !== 'In ', artifact: { artifactId: 'a', parts: [{ text }] } },
          })
        frame({ statusUpdate: { ...ids, status: { state: 'TASK_STATE_COMPLETED' } } })
        response.end()
      },
      takesMs(Number(agent.slice(1))),
    )
  })
  server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port))
}

const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 }

/** Calls each tool once, and then answers. */
const model: Model = {
  id: 'play/desk',
  async *stream({ messages, tools }) {
    const isDone = messages.at(-1)?.role === 'tool'
    const toolCalls = isDone
      ? []
      : tools.map(({ name }, at) => ({ id: `call_${at}`, name, arguments: '{"message":"Find it."}' }))
    const finishReason = isDone ? 'stop' : 'tool_calls'
    yield { type: 'reply', reply: { text: isDone ? 'done' : '', toolCalls, finishReason, usage, model: null } }
  },
}

interface Effort {
  readonly runs: number
  readonly remotes: number
  readonly port: number
}

async function measured(name: GroundName, isOnce: Once, { runs, remotes, port }: Effort): Promise<readonly string[]> {
  const domain = domains[isOnce]
  const ground = openGround()
  const store = storeAt(await ground.site(name))
  const edges = Array.from({ length: remotes }, (_, at) => ({ name: `a${at}`, address: `@a${at}@${domain}` }))
  const runtime = createRuntime({
    ...{ store, models: { 'play/desk': model }, domains: { 'a.test': 'default' } },
    agents: [{ id: 'desk', model: 'play/desk', instructions: 'Ask.', remotes: edges }],
    federation: { resolve: { [domain]: `http://127.0.0.1:${port}` } },
  })
  await runtime.ready
  const walls: number[] = []
  const costs: number[] = []
  for (let run = -5; run < runs; run += 1) {
    const before = process.threadCpuUsage()
    const began = performance.now()
    const { run: started } = await runtime.start({ agent: 'desk', prompt: 'go' })
    const result = await started?.result
    const wall = performance.now() - began
    const spent = process.threadCpuUsage(before)
    const ended = (await runtime.readEvents(result?.conversationId ?? '', { limit: 1_000, verbose: true })).events
    const answers = ended.filter((event) => event.type === 'end' && event.author.startsWith('@a'))
    if (result?.text !== 'done' || answers.length !== remotes) throw new Error(`${answers.length} answers`)
    if (run < 0) continue
    walls.push(wall)
    costs.push((spent.user + spent.system) / 1_000 / remotes)
  }
  await runtime.close()
  await ground.close()
  const slowest = takesMs(remotes - 1)
  const shown = (value: number, digits = 2) => value.toFixed(digits)
  const [wall, worst] = [percentile(walls, 0.5), percentile(walls, 1)]
  return [
    name,
    isOnce,
    shown(wall, 0),
    shown(wall / slowest),
    shown(worst / slowest),
    shown(percentile(costs, 0.5)),
    shown(percentile(costs, 0)),
  ]
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      runs: { type: 'string', default: '20' },
      remotes: { type: 'string', default: '8' },
      stores: { type: 'string', default: 'memory,normal' },
    },
  })
  const worker = new Worker(new URL(import.meta.url), { workerData: 'serve' })
  const port = await new Promise<number>((resolve) => worker.once('message', resolve))
  console.log(aboutHere())
  const effort = { runs: Number(values.runs), remotes: Number(values.remotes), port }
  const rows: (readonly string[])[] = []
  for (const name of values.stores.split(','))
    for (const isOnce of ['no', 'yes'] as const) rows.push(await measured(name as GroundName, isOnce, effort))
  console.log(gridOf(['store', 'once', 'wall ms', 'of the slowest', 'the worst', 'CPU ms of each', 'lowest'], rows))
  await worker.terminate()
}

if (isMainThread) await main()
else if (workerData === 'serve') serve()
