/**
 * How soon a task in the background begins: `node --conditions=witan-source bench/hand-off.ts [--tasks 200] [--stores memory,normal,full,postgres] [--json FILE]`.
 * From the commit of the step that starts the task to the first call of its model: in one process, and, on PostgreSQL, from a process
 * that has no room to another one.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createRuntime, defineAgent, type Model, type Runtime, type Store } from '@witan/core'
import { aboutHere } from './about.ts'
import { percentile } from './figure.ts'
import { gridOf } from './grid.ts'
import { type GroundName, groundNames, openGround, type Site, storeAt } from './ground.ts'

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '200' },
    stores: { type: 'string', default: groundNames.join(',') },
    json: { type: 'string' },
  },
})

/** The same clock in all processes of a machine, in ms. */
const clock = (): number => Number(process.hrtime.bigint()) / 1e6

const nothing = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 }

/** The root starts one task and stays at work for a while, so that a process without room stays without. */
function rootModel(stayMs: number): Model {
  return {
    id: 'bench/root',
    async *stream({ messages }) {
      const last = messages.at(-1)
      const first = last?.role === 'user' && last.content.startsWith('task-')
      if (!first) await new Promise((resolve) => setTimeout(resolve, stayMs))
      const args = JSON.stringify({ message: first ? last.content : '' })
      const toolCalls = first ? [{ id: `of-${last.content}`, name: 'worker', arguments: args }] : []
      const finishReason = first ? 'tool_calls' : 'stop'
      yield { type: 'reply', reply: { text: first ? '' : 'ok', toolCalls, finishReason, usage: nothing, model: null } }
    },
  }
}

/** Tells when it is first asked about a task. */
function workerModel(asked: (task: string, at: number) => void): Model {
  return {
    id: 'bench/worker',
    async *stream({ messages }) {
      const at = clock()
      const task = /task-\d+/.exec(JSON.stringify(messages))?.[0] ?? ''
      asked(task, at)
      yield { type: 'reply', reply: { text: 'done', toolCalls: [], finishReason: 'stop', usage: nothing, model: null } }
    },
  }
}

/** The store, telling when the step that starts a task is durable. */
function watched(store: Store, committed: (task: string, at: number) => void): Store {
  return {
    ...store,
    async append(append) {
      const result = await store.append(append)
      const at = clock()
      if (!result.ok) return result
      for (const { type, kind, body, place } of append.entries)
        if (type === 'start' && kind === 'agent' && place.parentCall !== null) committed(body.message, at)
      return result
    },
  }
}

interface Options {
  readonly site: Site
  readonly maxJobs: number
  readonly stayMs: number
  committed(task: string, at: number): void
  asked(task: string, at: number): void
}

async function open({ site, maxJobs, stayMs, committed, asked }: Options): Promise<Runtime> {
  const worker = defineAgent({ id: 'worker', instructions: 'Work.', model: workerModel(asked) })
  const edge = { agent: 'worker', description: 'Works in the background.', blocking: 'never' } as const
  const root = defineAgent({ id: 'root', instructions: 'Ask.', model: rootModel(stayMs), subAgents: [edge] })
  const runtime = createRuntime({ agents: [root, worker], store: watched(storeAt(site), committed), maxJobs })
  await runtime.ready
  return runtime
}

const warm = 30

/** Set in the environment of the process that has room. */
const siteOfOther = 'WITAN_BENCH_SITE'

/** One task after the other, each in a conversation of its own. */
async function measure(site: Site, between: boolean): Promise<readonly number[]> {
  const commits = new Map<string, number>()
  const asks = new Map<string, number>()
  let told = () => {}
  const asked = (task: string, at: number) => {
    asks.set(task, at)
    told()
  }
  const about = { site, committed: (task: string, at: number) => void commits.set(task, at) }
  const runtime = await open({ ...about, asked, maxJobs: between ? 1 : 200, stayMs: between ? 200 : 0 })
  const other = between ? await openOther(site, asked) : null
  const times: number[] = []
  for (let task = 0; task < Number(values.tasks) + warm; task += 1) {
    const name = `task-${task}`
    const begun = new Promise<void>((resolve) => {
      told = resolve
    })
    const opened = await runtime.start({ agent: 'root', prompt: name })
    await begun
    await opened.run?.result
    await new Promise((resolve) => setTimeout(resolve, 5))
    if (task >= warm) times.push((asks.get(name) ?? Number.NaN) - (commits.get(name) ?? Number.NaN))
  }
  await other?.close()
  await runtime.close()
  return times
}

/** Another process, which has room. */
async function openOther(site: Site, asked: (task: string, at: number) => void) {
  const child = fork(import.meta.filename, { env: { ...process.env, [siteOfOther]: JSON.stringify(site) } })
  const ready = new Promise<void>((resolve) => {
    child.on('message', (message: { readonly ready?: true; readonly task?: string; readonly at?: number }) => {
      if (message.ready === true) resolve()
      else asked(message.task ?? '', message.at ?? 0)
    })
  })
  await ready
  return {
    async close() {
      child.send('end')
      await once(child, 'exit')
    },
  }
}

async function beOther(site: Site): Promise<void> {
  const asked = (task: string, at: number) => void process.send?.({ task, at })
  const runtime = await open({ site, maxJobs: 200, stayMs: 0, committed: () => {}, asked })
  process.send?.({ ready: true })
  await once(process, 'message')
  await runtime.close()
  process.disconnect()
}

async function main(): Promise<void> {
  const about = aboutHere()
  const ground = openGround()
  const results = []
  for (const name of values.stores.split(',') as GroundName[]) {
    for (const between of name === 'postgres' ? [false, true] : [false]) {
      const times = await measure(await ground.site(name), between)
      const where = between ? 'two processes' : 'one process'
      const aimMs = between ? 25 : 5
      const figures = { p50: percentile(times, 0.5), p95: percentile(times, 0.95), max: percentile(times, 1) }
      results.push({ store: name, where, tasks: times.length, aimMs, ...figures })
    }
  }
  await ground.close()
  console.log(`${about.text}; from the commit that starts a task to its first model call, ms\n`)
  const rows = results.map(({ store, where, p50, p95, max, tasks, aimMs }) => [
    `${store}, ${where}`,
    ...[p50, p95, max].map((value) => value.toFixed(2)),
    String(tasks),
    `${p50 < aimMs ? 'met' : 'missed'} (< ${aimMs})`,
  ])
  console.log(gridOf(['', 'p50', 'p95', 'max', 'tasks', 'aim of p50'], rows))
  if (values.json === undefined) console.log(`\n${JSON.stringify({ about, results })}`)
  else writeFileSync(values.json, `${JSON.stringify({ about, results }, null, 2)}\n`)
}

const given = process.env[siteOfOther]
if (given !== undefined) await beOther(JSON.parse(given) as Site)
else await main()
