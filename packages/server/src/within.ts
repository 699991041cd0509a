/** An end that comes in time. */

/** Whoever stops a process in order gives it ten seconds: a little before them it goes, and what it still has its leases hand on. */
export const stopsWithinMs = 9_000

/** Whether `work` is done within so many milliseconds; what it throws is thrown, and late work goes on by itself. */
export async function isDoneWithin(work: Promise<void>, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), Math.max(0, ms))
  try {
    return await Promise.race([work.then(() => true), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
