/** Waiting for a model without being held up by it. */
import type { ModelReply } from '../model/model.ts'

/** A model that does not stop at the signal holds nobody up: what it still says is not used [D10]. */
export function orAborted(reply: Promise<ModelReply>, signal: AbortSignal): Promise<ModelReply> {
  return new Promise((resolve, reject) => {
    // The signal is this call's own and goes with it, so the listener need not be taken off.
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    reply.then(resolve, reject)
  })
}
