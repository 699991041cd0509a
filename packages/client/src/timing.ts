/** The client's timing: pauses, back-off, and the watch over a quiet stream. */

/** The client's clock; tests give their own. */
export interface Timing {
  /** Resolves after `ms`, or rejects with the signal's reason. */
  pause(ms: number, signal?: AbortSignal): Promise<void>
  /** From 0 to below 1; spreads the retries of many clients. */
  random(): number
  /** A stream without a byte for so long counts as lost; the server pings every 15 s. */
  readonly quietMs: number
}

const firstMs = 250
const capMs = 15_000

/** The pause after `failures` in a row: doubled each time from 250 ms up to 15 s, then multiplied by a random factor from 0.5 to 1. */
export function backoffMs(timing: Timing, failures: number): number {
  const whole = Math.min(capMs, firstMs * 2 ** Math.min(failures - 1, 16))
  return whole * (0.5 + timing.random() / 2)
}

/** The real clock. A stream counts as lost after three missed pings. */
export const realTiming: Timing = { pause, random: Math.random, quietMs: 45_000 }

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason)
      return
    }
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/** Watches a wait that must not last: on from `start` to `stop`, as often as wanted. */
export interface Watch {
  start(): void
  stop(): void
}

/** Calls `lost` when one wait lasts `quietMs`. */
export function createWatch(quietMs: number, lost: () => void): Watch {
  let timer: ReturnType<typeof setTimeout> | undefined
  const stop = () => clearTimeout(timer)
  return {
    start: () => {
      stop()
      timer = setTimeout(lost, quietMs)
    },
    stop,
  }
}
