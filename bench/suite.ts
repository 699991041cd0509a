/** The measurements: which subjects there are, and every scenario with all of them in turn. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { floor } from './floor.ts'
import type { Latency } from './instant-model.ts'
import { burstOf, type Effort, figureOf, growthOf, roundOf, warmUp } from './measure.ts'
import { growing, type Scenario, scenarios, threeLevels } from './scenario.ts'
import type { Subject } from './subject.ts'
import type { Line } from './table.ts'
import { type StoreName, witan } from './witan.ts'

/** What is measured, how thoroughly, and whom to tell how far it is. */
export interface Suite {
  /** Ids; null is everything. */
  readonly only: ReadonlySet<string> | null
  readonly stores: readonly StoreName[]
  readonly effort: Effort
  say(progress: string): void
}

/** Every id that can be asked for. */
export const ids: readonly string[] = [...scenarios.map(({ id }) => id), 'S8', 'S9']

const atOnce = 200
const marks = [1, 50, 200, 500]

/** Takes every figure that was asked for. */
export async function measure(suite: Suite): Promise<readonly Line[]> {
  const wanted = (id: string) => suite.only === null || suite.only.has(id)
  const lines: Line[] = []
  for (const scenario of scenarios) if (wanted(scenario.id)) lines.push(await single(suite, scenario))
  if (wanted('S8')) for (const ms of [0, 20]) lines.push(...(await burst(suite, ms)))
  if (wanted('S9')) lines.push(...(await growth(suite)))
  return lines
}

/** CPU per run: all subjects are warmed up, then each round visits them all, so that what disturbs one disturbs its neighbours. */
async function single(suite: Suite, scenario: Scenario): Promise<Line> {
  const { rounds, roundMs, warmMs } = suite.effort
  const values: Record<string, number[]> = {}
  await withSubjects(suite, { scenario, latency: { ms: 0 } }, async (subjects) => {
    for (const [name, subject] of subjects) {
      suite.say(`${scenario.id} ${scenario.title}: ${name}`)
      await warmUp(scenario, subject, warmMs)
      values[name] = []
    }
    for (let round = 1; round <= rounds; round += 1) {
      suite.say(`${scenario.id} ${scenario.title}: round ${round} of ${rounds}`)
      for (const [name, subject] of subjects) values[name]?.push(await roundOf(scenario, subject, roundMs))
    }
  })
  return lineOf({ id: scenario.id, title: scenario.title, unit: 'us' }, values)
}

/** Many runs at once, with a model that takes `ms`. */
async function burst(suite: Suite, ms: number): Promise<readonly Line[]> {
  const latency = { ms: 0 }
  const cpu: Record<string, number[]> = {}
  const wall: Record<string, number[]> = {}
  await withSubjects(suite, { scenario: threeLevels, latency }, async (subjects) => {
    for (const [name, subject] of subjects) {
      suite.say(`S8 ${atOnce} at once, ${ms} ms model: ${name}`)
      await warmUp(threeLevels, subject, suite.effort.warmMs)
      latency.ms = ms
      const costs = []
      for (let round = 0; round < suite.effort.rounds; round += 1)
        costs.push(await burstOf(threeLevels, subject, atOnce))
      cpu[name] = costs.map((cost) => cost.cpu)
      wall[name] = costs.map((cost) => cost.wall)
      latency.ms = 0
    }
  })
  const title = `${atOnce} at once, ${ms} ms model`
  return [
    lineOf({ id: 'S8', title: `${title}: CPU per run`, unit: 'us' }, cpu),
    lineOf({ id: 'S8', title: `${title}: wall`, unit: 'ms' }, wall),
  ]
}

/** One conversation turn by turn: the figure of a turn is taken over the ten that end there. */
async function growth(suite: Suite): Promise<readonly Line[]> {
  const { turns } = suite.effort
  const reached = marks.filter((mark) => mark <= turns)
  const costs: Record<string, Awaited<ReturnType<typeof growthOf>>> = {}
  await withSubjects(suite, { scenario: growing, latency: { ms: 0 } }, async (subjects) => {
    for (const [name, subject] of subjects) {
      suite.say(`S9 ${growing.title}: ${name}, ${turns} turns`)
      costs[name] = await growthOf(growing, subject, turns)
    }
  })
  return reached.flatMap((mark) => {
    const cpu: Record<string, number[]> = {}
    const written: Record<string, number[]> = {}
    for (const [name, all] of Object.entries(costs)) {
      const window = mark === 1 ? all.slice(0, 5) : all.slice(mark - 10, mark)
      cpu[name] = window.map((cost) => cost.cpu)
      written[name] = window.flatMap((cost) => (cost.written === null ? [] : [cost.written / 1024]))
    }
    return [
      lineOf({ id: 'S9', title: `turn ${mark} of one conversation: CPU`, unit: 'us' }, cpu),
      lineOf({ id: 'S9', title: `turn ${mark} of one conversation: written`, unit: 'KiB' }, written),
    ]
  })
}

function lineOf(line: Omit<Line, 'figures'>, values: Readonly<Record<string, readonly number[]>>): Line {
  return { ...line, figures: Object.fromEntries(Object.entries(values).map(([name, all]) => [name, figureOf(all)])) }
}

/** Builds the floor and one subject per store, and takes everything down again. */
async function withSubjects(
  suite: Suite,
  about: { readonly scenario: Scenario; readonly latency: Latency },
  work: (subjects: ReadonlyMap<string, Subject>) => Promise<void>,
): Promise<void> {
  const { scenario, latency } = about
  const folders: string[] = []
  const subjects = new Map<string, Subject>([['floor', floor(scenario, latency)]])
  try {
    for (const store of suite.stores) {
      const folder = mkdtempSync(join(tmpdir(), 'witan-bench-'))
      folders.push(folder)
      subjects.set(store, await witan(scenario, { store, folder, latency }))
    }
    await work(subjects)
  } finally {
    for (const subject of subjects.values()) await subject.close()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  }
}
