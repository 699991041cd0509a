/**
 * Seeds of whatever is drawn: a fixed one, so that a change breaks a test for everybody alike, and beside it, where a property is
 * worth it, one of the day, which is printed. `WITAN_SEED=7 npm test` repeats or explores another.
 */
import { randomInt } from 'node:crypto'
import type { TestContext } from 'node:test'
import fc from 'fast-check'

const fixedSeed = 20_260_101

function givenSeed(): number | null {
  const given = process.env['WITAN_SEED'] ?? ''
  if (given === '') return null
  const seed = Number(given)
  if (!Number.isSafeInteger(seed)) throw new RangeError(`WITAN_SEED is "${given}"; it takes a whole number`)
  return seed
}

/** What a test draws from that is to do the same on every run. */
export const seed: number = givenSeed() ?? fixedSeed

/** A seed that is new on every run; whoever draws from it prints it. */
export function seedOfTheDay(): number {
  return givenSeed() ?? randomInt(2 ** 31)
}

/** Checks the property `runs` times in all, a fifth of them on the seed of the day. */
export async function holds<Values>(
  context: TestContext,
  property: fc.IAsyncProperty<Values> | fc.IProperty<Values>,
  runs: number,
): Promise<void> {
  const today = Math.ceil(runs / 5)
  await fc.assert(property, { seed: fixedSeed, numRuns: runs - today })
  const day = seedOfTheDay()
  context.diagnostic(`seed of the day ${day}`)
  await fc.assert(property, { seed: day, numRuns: today })
}
