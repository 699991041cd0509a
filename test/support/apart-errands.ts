/** What an errand can do wrong, and one that does nothing wrong. */
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'

/** Throws. */
export async function throws(): Promise<never> {
  throw new Error('wrong')
}

/** Leaves a promise that is rejected and that nobody waits for. */
export async function rejectsUnseen(): Promise<void> {
  void throws()
  await turn()
}

/** Waits for a promise when it has been rejected already. */
export async function rejectsTooSoon(): Promise<void> {
  const begun = throws()
  await turn()
  await begun
}

/** Takes longer than the others. */
export async function lasts(): Promise<string> {
  await delay(100)
  return 'right'
}
