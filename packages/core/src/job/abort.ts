/** Stops waiting for a model when the signal aborts. */
import type { ModelReply } from '../model/model.ts'

/** Rejects when the signal aborts, even if the model does not stop; its late reply is ignored [D10]. */
export function orAborted(reply: Promise<ModelReply>, signal: AbortSignal): Promise<ModelReply> {
  return new Promise((resolve, reject) => {
    // The signal belongs to this call alone, so the listener need not be removed.
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    reply.then(resolve, reject)
  })
}
