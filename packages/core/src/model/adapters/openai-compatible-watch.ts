/** Ends a call to a server if the caller aborts it, the server is silent for too long, or the reply takes too long. */
import { ModelCallError } from '../model.ts'

/** Watches one call. Only time spent waiting for the server counts as silence, not the time of a slow reader of deltas. */
export interface CallWatch {
  /** Aborts with the caller's reason, or with a `ModelCallError` after too long. */
  readonly signal: AbortSignal
  /** We wait for the server from now on. */
  wait(): void
  /** We do not wait for the server now. */
  pause(): void
  /** A part of the reply has arrived, which ends the silence. Bytes without content, such as comments, do not end it. */
  received(): void
  /** Lowers the limit on silence. */
  shorten(silenceMs: number): void
  /** Stops watching. */
  close(): void
  /** Stops the call itself. */
  abort(): void
}

/** How long a call may take. */
export interface CallLimits {
  /** Without any part of the reply. */
  readonly silenceMs: number
  /** In all. */
  readonly totalMs: number
}

/** Begins to watch. It must be closed, or its timers keep running. */
export function watchCall(caller: AbortSignal, { silenceMs, totalMs }: CallLimits): CallWatch {
  const controller = new AbortController()
  let waiting = false
  let hasReceived = true
  const end = (message: string, trouble: 'time' | null) =>
    controller.abort(new ModelCallError(message, { retryable: trouble === null, trouble }))
  const onAbort = () => controller.abort(caller.reason)
  const onSilence = () => {
    if (waiting) end(`The model server sent nothing of its reply for ${silenceMs} ms.`, null)
    // A reader was slow, and nothing could come meanwhile.
    else hasReceived = true
  }
  let timer = setTimeout(onSilence, silenceMs)
  const total = setTimeout(() => end(`The model server's reply took more than ${totalMs} ms.`, 'time'), totalMs)
  caller.addEventListener('abort', onAbort, { once: true })
  return {
    signal: controller.signal,
    wait: () => {
      waiting = true
      if (hasReceived) timer.refresh()
      hasReceived = false
    },
    pause: () => {
      waiting = false
    },
    received: () => {
      hasReceived = true
    },
    shorten: (ms) => {
      clearTimeout(timer)
      timer = setTimeout(onSilence, Math.min(ms, silenceMs))
    },
    close: () => {
      clearTimeout(timer)
      clearTimeout(total)
      caller.removeEventListener('abort', onAbort)
    },
    abort: () => controller.abort(),
  }
}
