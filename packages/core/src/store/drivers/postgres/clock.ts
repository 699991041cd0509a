/** The database server's clock as this process knows it: its own steady clock, set by what the server said last. */

/** A clock that never jumps because somebody sets the machine's; for durations. */
export const steady = (): number => performance.now()

/** The server's clock, between two times at which the server was asked. */
export interface ServerClock {
  /** Milliseconds since 1970, whole. Before the server was ever asked: the machine's own. */
  now(): number
  /** Takes in what the server said to a question sent at `askedAt` of the steady clock. */
  heard(serverNow: number, askedAt: number): void
}

/** A clock that trusts the quicker of two answers, but no answer for ever: clocks drift. */
export function createServerClock(): ServerClock {
  let offset = Date.now() - steady()
  let doubt = Number.POSITIVE_INFINITY
  let heardAt = steady()
  return {
    now: () => Math.round(steady() + offset),
    heard(serverNow, askedAt) {
      const at = steady()
      const halfTrip = (at - askedAt) / 2
      doubt += (at - heardAt) / 1000 // a thousandth of what has passed since: far more than clocks drift
      if (halfTrip > doubt) return
      offset = serverNow - askedAt - halfTrip
      doubt = halfTrip
      heardAt = at
    },
  }
}
