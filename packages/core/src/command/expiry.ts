/** When to look after what expires: at its time where this process asked, and with every round of the worker. */
import type { Clock } from '../identity/clock.ts'

/** The watch over what expires. */
export interface Expiry {
  /** Something expires then, by the store's clock. */
  at(time: number): void
  /** Looks now. Never rejects for one that could not be settled. */
  look(): Promise<void>
  close(): void
}

/** What is further away is left to the rounds: timers are cheap, and not free. */
const farthestMs = 3_600_000

/** Makes the watch over what expires; `look` settles what is due. */
export function createExpiry(
  by: { readonly clock: Clock; now(): number; report(error: unknown): void },
  look: () => Promise<void>,
): Expiry {
  const timers = new Set<() => void>()
  return {
    at(time) {
      const wait = Math.max(0, time - by.now())
      if (wait > farthestMs) return
      const fire = () => {
        timers.delete(cancel)
        look().catch(by.report)
      }
      const cancel = by.clock.after(wait, fire, { background: true })
      timers.add(cancel)
    },
    look,
    close() {
      for (const cancel of timers) cancel()
      timers.clear()
    },
  }
}
