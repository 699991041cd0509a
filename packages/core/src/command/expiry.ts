/** Settles expired interruptions: at their time if this process opened them, and with every round of the worker. */
import type { Clock } from '../identity/clock.ts'

/** Timers for expiring interruptions. */
export interface Expiry {
  /** Settles what is due at this time of the clock of a database. */
  at(database: string, time: number): void
  /** Settles what is due now. Never rejects for an interruption that could not be settled. */
  settleDue(): Promise<void>
  close(): void
}

/** An expiry further away than this is left to the worker's rounds, to save timers. */
const farthestMs = 3_600_000

/** Creates the timers; `settleDue` settles what is due. */
export function createExpiry(
  by: { readonly clock: Clock; now(database: string): number; report(error: unknown): void },
  settleDue: () => Promise<void>,
): Expiry {
  const timers = new Set<() => void>()
  return {
    at(database, time) {
      const wait = Math.max(0, time - by.now(database))
      if (wait > farthestMs) return
      const fire = () => {
        timers.delete(cancel)
        settleDue().catch(by.report)
      }
      const cancel = by.clock.after(wait, fire, { background: true })
      timers.add(cancel)
    },
    settleDue,
    close() {
      for (const cancel of timers) cancel()
      timers.clear()
    },
  }
}
