/** An estimate of the database server's clock: this process's monotonic clock, set by the server's last reply. */
import { steady } from '../../../identity/clock.ts'

/** The server's clock, estimated between two replies. */
export interface ServerClock {
  /** Whole milliseconds since 1970. Before the server's first reply: the machine's clock. */
  now(): number
  /** Takes the server's time, from a reply to a query sent at `askedAt` of the monotonic clock. */
  observe(serverNow: number, askedAt: number): void
}

/** A clock that trusts the quicker of two replies, but none forever, because clocks drift. */
export function createServerClock(): ServerClock {
  let offset = Date.now() - steady()
  let doubt = Number.POSITIVE_INFINITY
  let observedAt = steady()
  return {
    now: () => Math.round(steady() + offset),
    observe(serverNow, askedAt) {
      const at = steady()
      const halfTrip = (at - askedAt) / 2
      doubt += (at - observedAt) / 1000 // a thousandth of what has passed since: far more than clocks drift
      if (halfTrip > doubt) return
      offset = serverNow - askedAt - halfTrip
      doubt = halfTrip
      observedAt = at
    },
  }
}
