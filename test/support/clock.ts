/** A clock that stands still until a test moves it. */
import type { Clock } from '@witan/core/testing'

export interface FakeClock extends Clock {
  /** Moves the time on and runs what became due, in order. */
  advance(ms: number): void
}

interface Alarm {
  readonly at: number
  readonly run: () => void
}

/** Starts at a fixed date. */
export function fakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let now = start
  const alarms = new Set<Alarm>()
  return {
    now: () => now,
    after(ms, run) {
      const alarm = { at: now + ms, run }
      alarms.add(alarm)
      return () => alarms.delete(alarm)
    },
    advance(ms) {
      now += ms
      const due = [...alarms].filter(({ at }) => at <= now).sort((a, b) => a.at - b.at)
      for (const alarm of due) {
        if (alarms.delete(alarm)) alarm.run()
      }
    },
  }
}
