/**
 * Runs per second: `node --conditions=witan-source bench/throughput.ts [--ms 2000] [--at-once 64] [--store NAME] [--json FILE]`. With 1, 2
 * and 4 processes on one PostgreSQL server, and beside them one process on SQLite and in memory; one turn and three levels, over a model of
 * 0 and of 20 ms.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { aboutHere } from './about.ts'
import { gridOf, short } from './grid.ts'
import { type GroundName, openGround, type Site, storeAt } from './ground.ts'
import { cpuNow, runOnce } from './measure.ts'
import { scenarios } from './scenario.ts'
import type { Subject } from './subject.ts'
import { witanOn } from './witan.ts'

const { values } = parseArgs({
  options: {
    ms: { type: 'string', default: '2000' },
    'at-once': { type: 'string', default: '64' },
    store: { type: 'string' },
    json: { type: 'string' },
  },
})

/** Runs that each process keeps under way at once. */
const atOnce = Number(values['at-once'])
const ids = ['S1', 'S4']
const latencies = [0, 20]
const warmMs = 500

/** What a process that runs is told, and what it answers. */
interface Order {
  readonly id: string
  readonly latencyMs: number
  readonly ms: number
}
interface Done {
  readonly runs: number
  /** How long 99 of 100 runs took at most. */
  readonly p99Ms: number
  readonly cpuMs: number
  readonly seconds: number
}

/** Set in the environment of a process that runs: its sites by scenario. */
const sitesOfRunner = 'WITAN_BENCH_SITES'

async function beRunner(sites: Readonly<Record<string, Site>>): Promise<void> {
  const latency = { ms: 0 }
  const subjects = new Map<string, Subject>()
  for (const scenario of scenarios) {
    const site = sites[scenario.id]
    if (site !== undefined) subjects.set(scenario.id, await witanOn(scenario, storeAt(site), latency))
  }
  const obey = async ({ id, latencyMs, ms }: Order): Promise<Done> => {
    latency.ms = latencyMs
    const scenario = scenarios.find((one) => one.id === id)
    const subject = subjects.get(id)
    if (scenario === undefined || subject === undefined) throw new Error(`there is no ${id} here`)
    const [begun, cpu] = [performance.now(), cpuNow()]
    const took: number[] = []
    const lane = async () => {
      while (performance.now() - begun < ms) {
        const from = performance.now()
        await runOnce(scenario, subject)
        took.push(performance.now() - from)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, lane))
    const p99Ms = took.sort((one, other) => one - other)[Math.floor(took.length * 0.99)] ?? 0
    return { runs: took.length, p99Ms, cpuMs: (cpuNow() - cpu) / 1000, seconds: (performance.now() - begun) / 1000 }
  }
  process.on('message', (order: Order | 'end') => {
    if (order !== 'end') void obey(order).then((done) => process.send?.(done))
    else void Promise.all([...subjects.values()].map((subject) => subject.close())).then(() => process.disconnect())
  })
  process.send?.('ready')
}

/** A process that runs what it is told. */
async function openRunner(sites: Readonly<Record<string, Site>>) {
  const child = fork(import.meta.filename, process.argv.slice(2), {
    env: { ...process.env, [sitesOfRunner]: JSON.stringify(sites) },
  })
  await once(child, 'message')
  return {
    async run(order: Order): Promise<Done> {
      child.send(order)
      const [done] = (await once(child, 'message')) as [Done]
      return done
    },
    async close() {
      child.send('end')
      await once(child, 'exit')
    },
  }
}

interface Line {
  readonly store: GroundName
  readonly processes: number
  readonly id: string
  readonly latencyMs: number
  readonly perSecond: number
  readonly p99Ms: number
  readonly cpuUs: number
  readonly serverUs: number | null
}

async function measure(store: GroundName, processes: number, ground: ReturnType<typeof openGround>): Promise<Line[]> {
  const sites: Record<string, Site> = {}
  for (const id of ids) sites[id] = await ground.site(store)
  const runners = []
  for (let at = 0; at < processes; at += 1) runners.push(await openRunner(sites))
  const lines: Line[] = []
  for (const id of ids) {
    for (const latencyMs of latencies) {
      await Promise.all(runners.map((runner) => runner.run({ id, latencyMs, ms: warmMs })))
      const before = ground.serverCpuMs()
      const done = await Promise.all(runners.map((runner) => runner.run({ id, latencyMs, ms: Number(values.ms) })))
      const after = ground.serverCpuMs()
      const runs = done.reduce((sum, one) => sum + one.runs, 0)
      const cpuMs = done.reduce((sum, one) => sum + one.cpuMs, 0)
      const perSecond = done.reduce((sum, one) => sum + one.runs / one.seconds, 0)
      const isServed = store === 'postgres' && before !== null && after !== null
      const serverUs = isServed ? ((after - before) * 1000) / runs : null
      const p99Ms = Math.max(...done.map((one) => one.p99Ms))
      lines.push({ store, processes, id, latencyMs, perSecond, p99Ms, cpuUs: (cpuMs * 1000) / runs, serverUs })
    }
  }
  await Promise.all(runners.map((runner) => runner.close()))
  return lines
}

async function main(): Promise<void> {
  const about = aboutHere()
  const ground = openGround()
  const results: Line[] = []
  const all = [
    ['memory', 1],
    ['normal', 1],
    ['full', 1],
    ['postgres', 1],
    ['postgres', 2],
    ['postgres', 4],
  ] as const
  const cases = all.filter(([store]) => values.store === undefined || store === values.store)
  for (const [store, processes] of cases) {
    process.stderr.write(`${store}, ${processes}\n`)
    results.push(...(await measure(store, processes, ground)))
  }
  await ground.close()
  console.log(
    `${about.text}; ${atOnce} runs under way per process; runs per second, CPU µs per run (of the server), and the ms of the 99th of 100\n`,
  )
  const columns = ids.flatMap((id) => latencies.map((latencyMs) => ({ id, latencyMs })))
  const head = [
    '',
    ...columns.map(({ id, latencyMs }) => `${id === 'S1' ? 'one turn' : 'three levels'}, ${latencyMs} ms`),
  ]
  const rows = cases.map(([store, processes]) => [
    `${store}, ${processes} ${processes === 1 ? 'process' : 'processes'}`,
    ...columns.map(({ id, latencyMs }) => {
      const isHere = (one: Line) => one.store === store && one.processes === processes
      const line = results.find((one) => isHere(one) && one.id === id && one.latencyMs === latencyMs)
      const server = line?.serverUs === null ? '' : ` + ${short(line?.serverUs)}`
      return `${short(line?.perSecond)} (${short(line?.cpuUs)}${server}) ${short(line?.p99Ms)}`
    }),
  ])
  console.log(gridOf(head, rows))
  if (values.json === undefined) console.log(`\n${JSON.stringify({ about, results })}`)
  else writeFileSync(values.json, `${JSON.stringify({ about, results }, null, 2)}\n`)
}

const given = process.env[sitesOfRunner]
if (given === undefined) await main()
else await beRunner(JSON.parse(given) as Record<string, Site>)
