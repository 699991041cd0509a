/** One deadline for a request: everything that it waits for in a store shares it. What outlives the request has none. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { steady } from './clock.ts'

interface Deadline {
  /** By `steady`; infinite once the request waits for no store any more. */
  until: number
  /** The request has waited until then, and in vain. */
  isMissed: boolean
}

const current = new AsyncLocalStorage<Deadline | null>()

/** Works on a request that waits for its stores for so many ms in all. */
export function withinRequest<Result>(ms: number, work: () => Result): Result {
  return current.run({ until: steady() + ms, isMissed: false }, work)
}

/** Works on what outlives the request that it was begun by. */
export function apartFromRequests<Result>(work: () => Result): Result {
  return current.getStore() == null ? work() : current.run(null, work)
}

/** The request has stored what it asks for. What it waits for from now on may take its time. */
export function liftDeadline(): void {
  const deadline = current.getStore()
  if (deadline != null) deadline.until = Number.POSITIVE_INFINITY
}

/** That the deadline came first. What was waited for goes on, and may happen. */
export class DeadlineMissed extends Error {}

/**
 * The result of `work`, if it comes before the deadline of the request. Throws {@link DeadlineMissed} otherwise, and at once for everything
 * that the request then tries. Work that begins after the deadline takes its time: what came before took long and did not fail.
 */
export async function inTime<Result>(work: () => Promise<Result>): Promise<Result> {
  const deadline = current.getStore()
  if (deadline == null) return work()
  if (deadline.isMissed) throw new DeadlineMissed('the request has waited as long as it may')
  const leftMs = deadline.until - steady()
  if (leftMs === Number.POSITIVE_INFINITY || leftMs <= 0) return work()
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    deadline.isMissed = true
    late.reject(new DeadlineMissed(`no reply came in ${Math.round(leftMs)} ms`))
  }, leftMs)
  const begun = work()
  begun.catch(() => {}) // it may fail after the deadline
  try {
    return await Promise.race([begun, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
