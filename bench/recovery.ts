/**
 * How long a run stands still when its process is killed: `node --conditions=witan-source bench/recovery.ts [--lease 15000] [--trials 16] [--json FILE]`.
 * On PostgreSQL: each trial is a process with a run at work that is killed by SIGKILL at some moment between two heartbeats, and what is
 * measured is the time until another process asks the run's model again. All trials share two processes that are left.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createRuntime, defineAgent, type Model, type Runtime } from '@witan/core'
import { aboutHere } from './about.ts'
import { percentile } from './figure.ts'
import { gridOf, short } from './grid.ts'
import { openGround, type Site, storeAt } from './ground.ts'

const { values } = parseArgs({
  options: {
    lease: { type: 'string', default: '15000' },
    trials: { type: 'string', default: '16' },
    json: { type: 'string' },
  },
})
const leaseMs = Number(values.lease)
const aimMs = leaseMs < 1000 ? 1000 : leaseMs * 1.2

/** Set in the environment of the processes that are started. */
const roleOf = 'WITAN_BENCH_ROLE'

interface Role {
  readonly site: Site
  readonly leaseMs: number
  /** What the run of this process is called; null for one that only takes over. */
  readonly trial: string | null
}

/** Never answers, and tells that it was asked. */
function silentModel(asked: (trial: string) => void): Model {
  return {
    id: 'bench/silent',
    async *stream({ messages }, { signal }) {
      asked(/trial-\d+/.exec(JSON.stringify(messages))?.[0] ?? '')
      await once(signal, 'abort')
      yield* [] // it never comes to this
      throw new Error('aborted')
    },
  }
}

async function open({ site, leaseMs: lease }: Role, asked: (trial: string) => void): Promise<Runtime> {
  const root = defineAgent({ id: 'root', instructions: 'Work.', model: silentModel(asked) })
  const runtime = createRuntime({ agents: [root], store: storeAt(site), leaseMs: lease })
  await runtime.ready
  return runtime
}

/** A process that works until it is killed. */
async function beProcess(role: Role): Promise<void> {
  process.on('message', () => {}) // it stays until it is killed
  const runtime = await open(role, (trial) => void process.send?.(trial))
  if (role.trial === null) process.send?.('ready')
  else await runtime.start({ agent: 'root', prompt: role.trial })
}

async function spawn(role: Role): Promise<ChildProcess> {
  const child = fork(import.meta.filename, { env: { ...process.env, [roleOf]: JSON.stringify(role) } })
  await once(child, 'message')
  return child
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function measure(site: Site): Promise<readonly number[]> {
  const killed = new Map<string, number>()
  const times = new Map<string, number>()
  let told = () => {}
  const takers: ChildProcess[] = []
  for (let at = 0; at < 2; at += 1) {
    const taker = await spawn({ site, leaseMs, trial: null })
    taker.on('message', (trial: string) => {
      const at = killed.get(trial)
      if (at !== undefined && !times.has(trial)) times.set(trial, performance.now() - at)
      told()
    })
    takers.push(taker)
  }
  const trials = Array.from({ length: Number(values.trials) }, (_, index) => `trial-${index}`)
  const owners = new Map<string, ChildProcess>()
  for (const trial of trials) owners.set(trial, await spawn({ site, leaseMs, trial }))
  const over = new Promise<void>((resolve) => {
    told = () => {
      if (times.size === trials.length) resolve()
    }
  })
  await Promise.all(
    [...owners].map(async ([trial, child], index) => {
      await pause((leaseMs / 3) * (index / trials.length))
      killed.set(trial, performance.now())
      child.kill('SIGKILL')
    }),
  )
  await over
  for (const taker of takers) taker.kill('SIGKILL')
  return [...times.values()]
}

async function main(): Promise<void> {
  const about = aboutHere()
  const ground = openGround()
  const times = await measure(await ground.site('postgres'))
  await ground.close()
  const result = { leaseMs, trials: times.length, p50: percentile(times, 0.5), p99: percentile(times, 0.99), times }
  console.log(`${about.text}; from kill -9 of the owner to the next call of the run's model, ms, PostgreSQL\n`)
  const isMet = result.p99 <= aimMs
  const row = [
    `${leaseMs} ms`,
    short(result.p50),
    short(result.p99),
    String(times.length),
    `${isMet ? 'met' : 'missed'} (≤ ${aimMs})`,
  ]
  console.log(gridOf(['lease', 'p50', 'p99', 'trials', 'aim of p99'], [row]))
  if (values.json === undefined) console.log(`\n${JSON.stringify({ about, result })}`)
  else writeFileSync(values.json, `${JSON.stringify({ about, result }, null, 2)}\n`)
}

const given = process.env[roleOf]
if (given === undefined) await main()
else await beProcess(JSON.parse(given) as Role)
