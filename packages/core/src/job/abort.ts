/** Stops waiting for a model or a tool when the signal aborts. */
import { isTimeOver } from '../model/time-limit.ts'

/** Rejects when the signal aborts, even if what runs does not stop; its late result is ignored [D10]. */
export function orAborted<Result>(result: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    // The signal belongs to this call alone, so the listener need not be removed.
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    result.then(resolve, reject)
  })
}

/** Why a tool call was aborted that took longer than its tool may. */
export class TimeUp extends Error {
  constructor() {
    super('time-out')
    this.name = 'TimeUp'
  }
}

/** Whether nobody waits for what runs with this signal: it was aborted, and not because its time was over. */
export function isAbandoned(signal: AbortSignal): boolean {
  return signal.aborted && !isTimeOver(signal) && !(signal.reason instanceof TimeUp)
}
