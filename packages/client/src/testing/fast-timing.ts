/** A clock that runs fifty times faster and remembers what it was asked for. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Timing } from '../timing.ts'

/** A clock for tests, and every pause it was asked for, in milliseconds. */
export interface FastTiming extends Timing {
  readonly pauses: number[]
}

/** Makes such a clock; retries are not spread. */
export function fastTiming(quietMs = 10_000): FastTiming {
  const pauses: number[] = []
  return {
    pauses,
    quietMs,
    random: () => 1,
    pause: async (ms, signal) => {
      pauses.push(ms)
      await wait(ms / 50, undefined, signal ? { signal } : {})
    },
  }
}
