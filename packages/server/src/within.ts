/** Shutting down within a time limit. */

/** An orderly stop usually allows ten seconds: the process exits a little earlier, and its remaining jobs go on when their leases expire. */
export const stopsWithinMs = 9_000

/** True if `work` ends within `ms`. Its error is thrown; late work goes on in the background. */
export async function isDoneWithin(work: Promise<void>, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), Math.max(0, ms))
  try {
    return await Promise.race([work.then(() => true), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
