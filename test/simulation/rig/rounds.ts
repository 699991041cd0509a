/** Many stories by seed, and what they came to together. */
import fc from 'fast-check'
import type { ReportLine } from '../../faults/rig/row.ts'
import type { Drawn } from '../../support/seeds.ts'
import { stories } from './commands.ts'
import { play } from './play.ts'
import type { Tally } from './scene.ts'

/** The seed that everybody runs. */
export const fixedSeed = 20_261_122

/** A seed of an earlier failure: the seed, and the way to the smallest story of it. */
export interface Regression {
  readonly seed: number
  readonly path: string
  /** Of which stories; default: all. */
  readonly of?: keyof typeof stories
  /** What was wrong. */
  readonly was: string
}

/** What so many stories came to. */
export interface Simulated {
  readonly schedules: number
  readonly tally: Tally
  /** What was wrong in the first bad story, and where that is. */
  readonly failure: (Drawn & { readonly what: string }) | null
}

/** Which stories, the one at a path of the seed, and how far one worker's clock is off. */
export interface ScheduleOptions {
  readonly of?: keyof typeof stories
  readonly path?: string
  readonly skewMs?: number
}

/** Plays so many stories of a seed, or the one at a path of it. */
export async function runSchedules(
  seed: number,
  runs: number,
  { of = 'all', path, skewMs = 0 }: ScheduleOptions = {},
): Promise<Simulated> {
  const tally: Tally = { crashes: 0, freezes: 0, thaws: 0, fenced: 0, recovered: 0 }
  let schedules = 0
  const property = fc.asyncProperty(fc.scheduler(), stories[of], async (scheduler, story) => {
    const played = await play(scheduler, story, skewMs)
    schedules += 1
    for (const name of Object.keys(tally) as (keyof Tally)[]) tally[name] += played.tally[name]
    if (played.violations.length > 0) throw new Error(JSON.stringify(played.violations))
  })
  const found = await fc.check(property, { seed, numRuns: runs, ...(path === undefined ? {} : { path }) })
  if (!found.failed) return { schedules, tally, failure: null }
  const [, story] = found.counterexample ?? []
  const what = found.errorInstance instanceof Error ? found.errorInstance.message : 'the story broke'
  const failure = { seed, path: found.counterexamplePath ?? '', what: `${what} in ${JSON.stringify(story)}` }
  return { schedules, tally, failure }
}

/** The simulation as a line of the report. */
export async function simulate(runs: number): Promise<ReportLine> {
  const from = Date.now()
  const { schedules, tally, failure } = await runSchedules(fixedSeed, runs)
  const faults = tally.crashes + tally.freezes
  return {
    id: 'SIM',
    title: 'interleavings of three simulated workers',
    store: 'memory',
    trials: schedules,
    faultsFired: faults,
    faultsIntended: faults,
    violations: failure === null ? [] : [JSON.stringify(failure)],
    recoveryMs: null,
    counts: { 'late writes refused': tally.fenced, takeovers: tally.recovered },
    seconds: Math.round((Date.now() - from) / 100) / 10,
  }
}
