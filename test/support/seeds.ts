/** Every property runs on a fixed seed, so that a change breaks it for everybody alike, and on a random one that is printed. */
import { randomInt } from 'node:crypto'
import type { TestContext } from 'node:test'
import fc from 'fast-check'

const fixedSeed = 20_260_101

/** Checks the property `runs` times on the fixed seed and a fifth of that on a random one. */
export async function holds<Values>(
  context: TestContext,
  property: fc.IAsyncProperty<Values> | fc.IProperty<Values>,
  runs: number,
): Promise<void> {
  await fc.assert(property, { seed: fixedSeed, numRuns: runs })
  const seed = randomInt(2 ** 31)
  context.diagnostic(`random seed ${seed}`)
  await fc.assert(property, { seed, numRuns: Math.ceil(runs / 5) })
}
