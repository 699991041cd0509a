/** Ends a call to a server when the caller aborts it, the server sends nothing of its reply for too long, or the whole takes too long. */
import { ModelCallError } from '../model.ts'

/** Watches one call. Only the time in which we wait for the server counts as silence: a slow reader of deltas is none. */
export interface CallWatch {
  /** Aborts with the caller's reason, or with a `ModelCallError` after too long. */
  readonly signal: AbortSignal
  /** We wait for the server from now on. */
  wait(): void
  /** The server has done its part for now. */
  pause(): void
  /** A part of the reply has come: the silence is over. Bytes that say nothing, such as comments, do not end it. */
  hear(): void
  /** From now on only so much silence is borne. */
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
  let heard = true
  const end = (message: string, trouble: 'time' | null) =>
    controller.abort(new ModelCallError(message, { retryable: trouble === null, trouble }))
  const onAbort = () => controller.abort(caller.reason)
  const onSilence = () => {
    if (waiting) end(`The model server sent nothing of its reply for ${silenceMs} ms.`, null)
    // While its reader took its time, the server could not be heard.
    else heard = true
  }
  let timer = setTimeout(onSilence, silenceMs)
  const total = setTimeout(() => end(`The model server's reply took more than ${totalMs} ms.`, 'time'), totalMs)
  caller.addEventListener('abort', onAbort, { once: true })
  return {
    signal: controller.signal,
    wait: () => {
      waiting = true
      if (heard) timer.refresh()
      heard = false
    },
    pause: () => {
      waiting = false
    },
    hear: () => {
      heard = true
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
