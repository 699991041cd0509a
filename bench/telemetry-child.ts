/** One process of the benchmark of telemetry: makes runs with or without traces and tells what they cost. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import { cpuNow, runOnce } from './measure.ts'
import { type Scenario, scenarios } from './scenario.ts'
import { storeNames, witan } from './witan.ts'

const [what = '', id = '', store = '', content = '', url = '', models = ''] = process.argv.slice(2)
const found = scenarios.find((one) => one.id === id)
const name = storeNames.find((one) => one === store)
if (found === undefined || name === undefined) throw new Error(`there is no ${id} on ${store}`)

/** As long as a reply may well be. */
const long = 'A long answer, of "many" words. '.repeat(40_000)
const scenario: Scenario =
  what === 'hold'
    ? { ...found, text: long, roles: { root: { tool: false, subAgents: [], reply: () => ({ text: long }) } } }
    : found

/** Warming up takes as much CPU on a busy machine as on an idle one. */
const warmUs = 8_000_000
/** Runs between two looks at the clock. */
const perLook = 20

let dropped = 0
const report = (error: unknown) => {
  const said = /; (\d+) spans were dropped/.exec(String(error))
  dropped = Math.max(dropped, Number(said?.[1] ?? 0))
}
const folder = mkdtempSync(join(tmpdir(), 'witan-bench-'))
const telemetry = content === 'off' ? {} : { otlp: { url, content: content as 'none' | 'full' } }
const subject = await witan(scenario, {
  ...{ store: name, folder, latency: { ms: 0 }, telemetry, report },
  ...(models === '' ? {} : { models }),
})

/** A server has turns of its event loop between two runs; without one, spans would wait for the last run. */
async function run(): Promise<void> {
  await runOnce(scenario, subject)
  await turn()
}

/** CPU µs per run, measured over this much CPU. Some spans of a round are sent in the next one. */
async function spend(us: number): Promise<number> {
  const from = cpuNow()
  let runs = 0
  while (cpuNow() - from < us) {
    for (let one = 0; one < perLook; one += 1) await run()
    runs += perLook
  }
  return (cpuNow() - from) / runs
}

/** Memory in use, in MB, after the same number of runs for each kind of content. */
async function held(): Promise<number> {
  for (let runs = 0; runs < 3_000; runs += 1) await run()
  await wait(1_500)
  const collect = globalThis.gc as () => void
  for (let times = 0; times < 3; times += 1) collect()
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  return (heapUsed + Math.max(external, arrayBuffers)) / 1_048_576
}

/** The longest time between two turns of the event loop while runs are made one after the other, and once they are over. */
async function holds(): Promise<{ runs: number; after: number }> {
  let [longest, last, isOver] = [0, performance.now(), false]
  const watch = (async () => {
    while (!isOver) {
      await turn()
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }
  })()
  for (let runs = 0; runs < 20; runs += 1) await run()
  await wait(200)
  longest = 0
  const alone: number[] = []
  for (let runs = 0; runs < 20; runs += 1) {
    await runOnce(scenario, subject)
    // What follows the end of a run is telemetry.
    longest = 0
    last = performance.now()
    await wait(100)
    alone.push(longest)
  }
  isOver = true
  await watch
  alone.sort((a, b) => a - b)
  return { runs: Math.round((alone[10] ?? 0) * 10) / 10, after: Math.round((alone[19] ?? 0) * 10) / 10 }
}

if (what === 'cost') await spend(warmUs)
process.on('message', async (order) => {
  if (order === 'end') {
    await subject.close()
    rmSync(folder, { recursive: true, force: true })
    process.exit(0)
  }
  const before = dropped
  if (what === 'held') process.send?.({ mb: await held() })
  else if (what === 'hold') process.send?.(await holds())
  else process.send?.({ cpu: await spend(Number(order) * 1000), dropped: dropped - before })
})
process.send?.({})
