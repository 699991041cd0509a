/** Periods of time: how long a call worked, and how long it waited for people. */
import type { CallView, ConversationView } from '@witan/client'

/** From a moment to a later one, in milliseconds since 1970; the end is infinite while it lasts. */
type Span = readonly [from: number, to: number]

/** How long a call took: at work, and waiting for people. */
export interface Times {
  readonly workedMs: number
  readonly waitedMs: number
}

/**
 * What a call took until now or, once it has ended, by its events alone: the page's clock may run behind the server's.
 * An agent waits while all that it waits for does.
 */
export function timesOf(view: ConversationView, callId: string, nowMs: number): Times {
  const call = view.calls.get(callId)
  if (call === undefined) return { workedMs: 0, waitedMs: 0 }
  const [from, to] = lifeOf(call, nowMs)
  const until = Number.isFinite(to) ? to : nowMs
  const waited = waitingSpans(view, callId).reduce((sum, span) => sum + overlap(span, [from, until]), 0)
  return { workedMs: Math.max(0, until - from - waited), waitedMs: waited }
}

/** A part of the time of a call, in ms since 1970. */
interface CallPeriod {
  readonly from: number
  readonly to: number
  readonly isWaiting: boolean
}

/** The time of a call until now as periods of work and of waiting, in order and without gaps; none if it took no time. */
export function periodsOf(view: ConversationView, callId: string, nowMs: number): readonly CallPeriod[] {
  const call = view.calls.get(callId)
  if (call === undefined) return []
  const [from, to] = lifeOf(call, nowMs)
  const until = Math.max(from, Number.isFinite(to) ? to : nowMs)
  const periods: CallPeriod[] = []
  const add = (end: number, isWaiting: boolean) => {
    const begin = periods.at(-1)?.to ?? from
    if (end > begin) periods.push({ from: begin, to: end, isWaiting })
  }
  for (const [begin, end] of waitingSpans(view, callId)) {
    add(Math.min(begin, until), false)
    add(Math.min(end, until), true)
  }
  add(until, false)
  return periods
}

const known = new WeakMap<ConversationView, Map<string, readonly Span[]>>()

/** When a call waited for people, in order and without overlaps. Worked out once for each view. */
function waitingSpans(view: ConversationView, callId: string): readonly Span[] {
  const cache = known.get(view) ?? new Map<string, readonly Span[]>()
  known.set(view, cache)
  const found = cache.get(callId)
  if (found !== undefined) return found
  const call = view.calls.get(callId)
  const spans = call === undefined ? [] : joined([...ownSpans(call), ...allWaiting(view, call)])
  cache.set(callId, spans)
  return spans
}

function ownSpans({ asked }: CallView): Span[] {
  return asked.map(({ askedAt, settledAt }): Span => [at(askedAt), at(settledAt)])
}

/** When at least one child was open and all that were open waited. */
function allWaiting(view: ConversationView, call: CallView): Span[] {
  const steps: { readonly at: number; readonly open: number; readonly waiting: number }[] = []
  for (const id of call.children) {
    const child = view.calls.get(id)
    if (child === undefined || child.background) continue
    const [from, to] = lifeOf(child, at(call.endedAt))
    steps.push({ at: from, open: 1, waiting: 0 }, { at: to, open: -1, waiting: 0 })
    for (const span of waitingSpans(view, id)) {
      const [begin, end] = [Math.max(from, span[0]), Math.min(to, span[1])]
      if (end > begin) steps.push({ at: begin, open: 0, waiting: 1 }, { at: end, open: 0, waiting: -1 })
    }
  }
  steps.sort((one, other) => one.at - other.at)
  const spans: Span[] = []
  let [open, waiting] = [0, 0]
  for (const [index, step] of steps.entries()) {
    open += step.open
    waiting += step.waiting
    const next = steps[index + 1]?.at ?? step.at
    if (open > 0 && open === waiting && next > step.at) spans.push([step.at, next])
  }
  return spans
}

/** A call of a stopped run has no end of its own: it ends with what stopped it. */
function lifeOf({ startedAt, endedAt, state }: CallView, stoppedMs: number): Span {
  return [at(startedAt), endedAt === null && state === 'cancelled' ? stoppedMs : at(endedAt)]
}

function at(time: string | null): number {
  return time === null ? Number.POSITIVE_INFINITY : Date.parse(time)
}

function joined(spans: Span[]): readonly Span[] {
  const whole: [number, number][] = []
  for (const [from, to] of spans.sort((one, other) => one[0] - other[0])) {
    const last = whole.at(-1)
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to)
    else whole.push([from, to])
  }
  return whole
}

function overlap([from, to]: Span, [low, high]: Span): number {
  return Math.max(0, Math.min(to, high) - Math.max(from, low))
}
