/** Ends a call to a server when the caller aborts it or the server stays silent for too long. */
import { ModelCallError } from '../model.ts'

/** Watches one call. Only the time in which we wait for the server counts: a slow reader of deltas is no silence. */
export interface CallWatch {
  /** Aborts with the caller's reason, or with a `ModelCallError` after too long a silence. */
  readonly signal: AbortSignal
  /** We wait for the server from now on. */
  wait(): void
  /** The server has done its part for now. */
  pause(): void
  /** From now on only so much silence is borne. */
  shorten(timeoutMs: number): void
  /** Stops watching. */
  close(): void
  /** Stops the call itself. */
  abort(): void
}

/** Begins to watch. It must be closed, or its timer keeps running. */
export function watchCall(caller: AbortSignal, timeoutMs: number): CallWatch {
  const controller = new AbortController()
  let waiting = false
  const onAbort = () => controller.abort(caller.reason)
  const onSilence = () => {
    if (!waiting) return
    controller.abort(new ModelCallError(`The model server sent nothing for ${timeoutMs} ms.`, { retryable: true }))
  }
  let timer = setTimeout(onSilence, timeoutMs)
  caller.addEventListener('abort', onAbort, { once: true })
  return {
    signal: controller.signal,
    wait: () => {
      waiting = true
      timer.refresh()
    },
    pause: () => {
      waiting = false
    },
    shorten: (ms) => {
      clearTimeout(timer)
      timer = setTimeout(onSilence, Math.min(ms, timeoutMs))
    },
    close: () => {
      clearTimeout(timer)
      caller.removeEventListener('abort', onAbort)
    },
    abort: () => controller.abort(),
  }
}
