/**
 * What a step costs on each store: `node --conditions=witan-source bench/step.ts [--ms 1500] [--stores memory,normal,full,postgres] [--json FILE]`.
 * CPU, statements, commits and bytes of a turn (one step), of a step more (a model call and its tool), of three levels (eight steps),
 * and how many commits 200 runs at once need.
 */
import { counts } from './counting.ts'
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { aboutHere } from './about.ts'
import { gridOf, short } from './grid.ts'
import { type GroundName, groundNames, openGround, type Site, storeAt } from './ground.ts'
import { cpuNow, runOnce, warmUp } from './measure.ts'
import { type Scenario, scenarios } from './scenario.ts'
import type { Subject } from './subject.ts'
import { witanOn } from './witan.ts'

const { values } = parseArgs({
  options: {
    ms: { type: 'string', default: '1500' },
    stores: { type: 'string', default: groundNames.join(',') },
    json: { type: 'string' },
  },
})

const atOnce = 200

/** Per run, or of all runs; null where it cannot be read. */
interface Cost {
  readonly cpuUs: number
  readonly serverUs: number | null
  readonly statements: number
  readonly commits: number
  readonly kib: number | null
  readonly runs: number
}

/** What a store has handed to the disk so far, in bytes. */
type Written = () => Promise<number | null>

/** PostgreSQL: its write-ahead log; SQLite: what this process wrote, nearly all of it to the file and its log. */
function writtenTo(site: Site): { readonly read: Written; close(): Promise<void> } {
  const none = async () => {}
  if (site.kind === 'memory') return { read: async () => null, close: none }
  if (site.kind !== 'postgres') {
    if (process.platform !== 'linux') return { read: async () => null, close: none }
    const read = async () => Number(/^wchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
    return { read, close: none }
  }
  const client = new pg.Client({ connectionString: site.url })
  const open = client.connect()
  return {
    async read() {
      await open
      const { rows } = await client.query("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes")
      return Number(rows[0]?.bytes)
    },
    close: () => client.end(),
  }
}

interface Watch {
  readonly written: Written
  readonly serverCpuMs: () => number | null
}

/** What `work` costs, divided by its runs. */
async function costOf({ written, serverCpuMs }: Watch, work: () => Promise<number>): Promise<Cost> {
  const before = { written: await written(), server: serverCpuMs() }
  const [statements, commits, cpu] = [counts.statements, counts.commits, cpuNow()]
  const runs = await work()
  await new Promise((resolve) => setTimeout(resolve, 30))
  const cpuUs = (cpuNow() - cpu) / runs
  const counted = { statements: (counts.statements - statements) / runs, commits: (counts.commits - commits) / runs }
  const after = { written: await written(), server: serverCpuMs() }
  const kib = before.written === null || after.written === null ? null : (after.written - before.written) / 1024 / runs
  const serverUs =
    before.server === null || after.server === null ? null : ((after.server - before.server) * 1000) / runs
  return { cpuUs, serverUs, ...counted, kib, runs }
}

async function oneByOne(scenario: Scenario, subject: Subject): Promise<number> {
  const until = performance.now() + Number(values.ms)
  let runs = 0
  while (performance.now() < until || runs < 20) {
    await runOnce(scenario, subject)
    runs += 1
  }
  return runs
}

async function together(scenario: Scenario, subject: Subject): Promise<number> {
  await Promise.all(Array.from({ length: atOnce }, () => runOnce(scenario, subject)))
  return atOnce
}

function scenarioOf(id: string): Scenario {
  const found = scenarios.find((one) => one.id === id)
  if (found === undefined) throw new Error(`there is no scenario ${id}`)
  return found
}

async function measure(name: GroundName, ground: ReturnType<typeof openGround>) {
  const serverCpuMs = name === 'postgres' ? ground.serverCpuMs : () => null
  const take = async (id: string, work: (scenario: Scenario, subject: Subject) => Promise<number>, ms = 0) => {
    const scenario = scenarioOf(id)
    const site = await ground.site(name)
    const latency = { ms: 0 }
    const subject = await witanOn(scenario, storeAt(site), latency)
    const written = writtenTo(site)
    await warmUp(scenario, subject, Number(values.ms) / 2)
    latency.ms = ms
    const cost = await costOf({ written: written.read, serverCpuMs }, () => work(scenario, subject))
    await written.close()
    await subject.close()
    return cost
  }
  const turn = await take('S1', oneByOne)
  const eleven = await take('S3', oneByOne)
  const levels = await take('S4', oneByOne)
  const group = { instant: await take('S4', together), slow: await take('S4', together, 20) }
  return { store: name, turn, step: stepOf(turn, eleven), levels, group }
}

/** One step more: ten tool calls against none, by ten. */
function stepOf(turn: Cost, eleven: Cost): Cost {
  const per = (few: number | null, many: number | null) => (few === null || many === null ? null : (many - few) / 10)
  return {
    cpuUs: per(turn.cpuUs, eleven.cpuUs) ?? 0,
    serverUs: per(turn.serverUs, eleven.serverUs),
    statements: per(turn.statements, eleven.statements) ?? 0,
    commits: per(turn.commits, eleven.commits) ?? 0,
    kib: per(turn.kib, eleven.kib),
    runs: eleven.runs,
  }
}

const stepsOfLevels = 8

async function main(): Promise<void> {
  const about = aboutHere()
  const ground = openGround()
  const results = []
  for (const name of values.stores.split(',') as GroundName[]) {
    process.stderr.write(`${name}\n`)
    results.push(await measure(name, ground))
  }
  await ground.close()
  const cells = ({ cpuUs, serverUs, statements, commits, kib }: Cost) => [
    ...[cpuUs, serverUs, statements, commits, kib].map((value) => short(value)),
  ]
  console.log(
    `${about.text}; CPU in µs, what is written in KiB: into the file and log of SQLite, into the log of PostgreSQL\n`,
  )
  const head = ['', 'store', 'CPU', 'server', 'statements', 'commits', 'KiB']
  const rows = results.flatMap(({ store, turn, step, levels }) => [
    ['one turn', store, ...cells(turn)],
    ['a step more, with a tool', store, ...cells(step)],
    ['three levels, 8 steps', store, ...cells(levels)],
  ])
  console.log(gridOf(head, rows))
  console.log(`\nGroup commit: ${atOnce} runs of three levels at once, ${atOnce * stepsOfLevels} steps\n`)
  const groups = results
    .filter(({ store }) => store !== 'memory')
    .flatMap(({ store, group }) => [
      [store, 'instant', ...groupCells(group.instant)],
      [store, '20 ms', ...groupCells(group.slow)],
    ])
  console.log(gridOf(['store', 'model', 'steps', 'commits', 'steps per commit', 'statements'], groups))
  if (values.json === undefined) console.log(`\n${JSON.stringify({ about, results })}`)
  else writeFileSync(values.json, `${JSON.stringify({ about, results }, null, 2)}\n`)
}

function groupCells({ commits, statements, runs }: Cost): string[] {
  const [steps, all] = [runs * stepsOfLevels, commits * runs]
  return [String(steps), String(Math.round(all)), (steps / all).toFixed(1), short(statements * runs)]
}

await main()
