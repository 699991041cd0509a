/** When several people are free at once, in the working hours of each. */
import type { Person } from '../world.ts'
import type { Meeting } from './calendar.ts'
import { atTime, dayAfter, shownIn } from './zones.ts'

interface Span {
  readonly startMs: number
  readonly endMs: number
}

/** What is asked for. */
export interface Wish {
  readonly who: readonly Person[]
  /** The first day and the last one, such as `2026-10-26`. */
  readonly from: string
  readonly to: string
  readonly minutes: number
}

/** A time at which all are free, as the clocks of each show it. */
export interface Free {
  readonly start: string
  readonly end: string
  readonly shown: string
}

const workday = { begins: '9:00', ends: '17:00' }

/** The times in which all are free for long enough: Monday to Friday, 9 to 17 of each one's own clock. At most `limit`, in order. */
export function freeTimes(
  { who, from, to, minutes }: Wish,
  meetings: readonly Meeting[],
  limit: number,
): readonly Free[] {
  const free = who
    .map((person) => without(workingTimes(person.zone, from, to), busy(person, meetings)))
    .reduce((all, one) => shared(all, one))
  const zones = [...new Set(who.map(({ zone }) => zone))]
  return free
    .filter(({ startMs, endMs }) => endMs - startMs >= minutes * 60_000)
    .slice(0, limit)
    .map((span) => ({
      start: new Date(span.startMs).toISOString(),
      end: new Date(span.endMs).toISOString(),
      shown: zones.map((zone) => shownSpan(span, zone)).join(' = '),
    }))
}

/** A time as the clocks of a zone show it: `2026-10-26 14:00–15:30 Europe/Berlin`. */
export function shownSpan({ startMs, endMs }: Span, zone: string): string {
  const [start, end] = [shownIn(startMs, zone), shownIn(endMs, zone)]
  const isOneDay = start.slice(0, 10) === end.slice(0, 10)
  return `${start}–${isOneDay ? end.slice(11) : end} ${zone}`
}

function workingTimes(zone: string, from: string, to: string): readonly Span[] {
  const spans: Span[] = []
  for (let day = from; day <= to; day = dayAfter(day)) {
    const weekday = new Date(`${day}T00:00:00Z`).getUTCDay()
    const span = { startMs: atTime(day, workday.begins, zone), endMs: atTime(day, workday.ends, zone) }
    if (weekday !== 0 && weekday !== 6) spans.push(span)
  }
  return spans
}

function busy({ email }: Person, meetings: readonly Meeting[]): readonly Span[] {
  return meetings.filter(({ who }) => who.includes(email))
}

function without(spans: readonly Span[], taken: readonly Span[]): readonly Span[] {
  return taken.reduce(
    (left: readonly Span[], { startMs, endMs }) => left.flatMap((span) => rest(span, startMs, endMs)),
    spans,
  )
}

function rest(span: Span, startMs: number, endMs: number): readonly Span[] {
  if (endMs <= span.startMs || startMs >= span.endMs) return [span]
  const parts = [
    { startMs: span.startMs, endMs: startMs },
    { startMs: endMs, endMs: span.endMs },
  ]
  return parts.filter((part) => part.startMs < part.endMs)
}

function shared(one: readonly Span[], other: readonly Span[]): readonly Span[] {
  return one
    .flatMap((a) => other.map((b) => ({ startMs: Math.max(a.startMs, b.startMs), endMs: Math.min(a.endMs, b.endMs) })))
    .filter(({ startMs, endMs }) => startMs < endMs)
    .sort((a, b) => a.startMs - b.startMs)
}
