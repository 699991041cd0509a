/**
 * How properties are checked. `npm test` makes an eighth of the draws, from a fixed seed alone, so that a change breaks a test for everybody
 * alike. With `WITAN_TESTS=all`, as in `npm run test:all`, a fifth of all is drawn beside them from a seed of the day: new draws prove more than the same
 * ones again. A failure prints the command that repeats it. `WITAN_SEED=7` explores another seed, `WITAN_RUNS=10000` draws as often.
 */
import { randomInt } from 'node:crypto'
import { relative } from 'node:path'
import type { TestContext } from 'node:test'
import fc from 'fast-check'

/** The seed that everybody draws from. */
export const fixedSeed = 20_260_101

/** Whether everything is to be tried; `npm test` tries a part of what is long. */
export const isWhole = process.env['WITAN_TESTS'] === 'all'

/** How often a test draws. */
export interface Runs<Values = unknown> {
  readonly all: number
  /** How often in `npm test`. Default: an eighth, and 25 times at least. */
  readonly quick?: number
  /** How many of all come from the seed of the day. Default: a fifth. */
  readonly ofTheDay?: number
  /** Values that are checked before any that is drawn. */
  readonly examples?: readonly Values[]
}

/** Draws from one seed: so many, or the one at a path and those that fast-check would try beside it. */
export interface Draw {
  readonly seed: number
  readonly runs: number
  readonly path?: string
}

/** One draw: the path of fast-check leads to it from its seed. */
export interface Drawn {
  readonly seed: number
  readonly path: string
}

/**
 * The share of a count that the draws of the fixed seed must come to, so that it is reached always or never; -1, which is no demand, for a
 * share below 1 and where nothing is drawn from that seed.
 */
export type Share = (count: number) => number

/** The whole number in a variable of the environment; null if it has none. */
function numberIn(name: string): number | null {
  const text = process.env[name] ?? ''
  if (text === '') return null
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new RangeError(`${name} is "${text}"; it takes a whole number`)
  return number
}

function quickRuns({ all, quick }: Runs): number {
  return quick ?? Math.min(all, Math.max(25, Math.ceil(all / 8)))
}

/** What a test draws, which it says of seeds that are new. `own` is its fixed seed. */
export function drawsOf(context: TestContext, runs: Runs, own = fixedSeed): readonly Draw[] {
  const given = numberIn('WITAN_SEED')
  const path = process.env['WITAN_PATH'] ?? ''
  if (path !== '' && given === null) throw new RangeError('WITAN_PATH is a path of WITAN_SEED, which is missing')
  if (path !== '') return [{ seed: given ?? own, runs: 1, path }]
  const isQuick = !isWhole
  const all = numberIn('WITAN_RUNS') ?? (isQuick ? quickRuns(runs) : runs.all)
  if (given !== null) return [{ seed: given, runs: all }]
  if (isQuick) return [{ seed: own, runs: all }]
  const today = Math.min(runs.ofTheDay ?? Math.ceil(all / 5), all)
  const day = randomInt(2 ** 31)
  context.diagnostic(`seed of the day ${day}`)
  const again = numberIn('WITAN_RUNS') === null ? Math.min(all - today, quickRuns(runs)) : all - today
  return [
    { seed: own, runs: again },
    { seed: day, runs: today },
  ]
}

/** The command that repeats one draw of a test, from the root of the repository. */
export function repeats({ filePath = '', name }: TestContext, { seed, path }: Drawn): string {
  const pattern = name.replaceAll(/[$()*+.?[\\\]^{|}/]/g, '\\$&').replaceAll("'", "'\\''")
  const node = 'npx node --conditions=witan-source --test --test-force-exit'
  return `WITAN_SEED=${seed} WITAN_PATH=${path} ${node} --test-name-pattern='${pattern}' ${relative('.', filePath)}`
}

/** Checks a property. Returns what share of a count over all draws may be demanded. Throws with the command that repeats a failure. */
export async function holds<Values>(
  context: TestContext,
  property: fc.IAsyncProperty<Values> | fc.IProperty<Values>,
  given: number | Runs<Values>,
): Promise<Share> {
  const runs: Runs<Values> = typeof given === 'number' ? { all: given } : given
  const examples = runs.examples === undefined ? {} : { examples: [...runs.examples] }
  const draws = drawsOf(context, runs)
  for (const { seed, runs: numRuns, path } of draws) {
    const which = path === undefined ? {} : { path, endOnFailure: true }
    const found = await fc.check(property, { seed, numRuns, ...examples, ...which })
    if (!found.failed) continue
    const { errorInstance: cause, counterexamplePath } = found
    const command = counterexamplePath === null ? '' : `\n${repeats(context, { seed, path: counterexamplePath })}`
    throw new Error(`${await fc.asyncDefaultReportMessage(found)}\n\nRepeat it with:${command}`, { cause })
  }
  const sure = draws.filter(({ seed, path }) => seed === fixedSeed && path === undefined)
  const drawn = sure.reduce((sum, draw) => sum + draw.runs, 0)
  return (count) => Math.floor((count * Math.min(drawn, runs.all)) / runs.all) || -1
}
