/**
 * What a replay assumes of what the log does not show: when appends were reported, which outcomes came at once, and which entries were recorded
 * before they were stored.
 */
import type { Entry } from '@witan/protocol/entries'
import { beginOf, blockAt, countsAt, earliestOf, isBegin, stretchOf } from './blocks.ts'
import { isClosing } from './lookahead.ts'

/** One set of assumptions. */
export interface Plan {
  /** Appends whose report is held: from the position behind the append to the position that the replay must reach first. */
  readonly holds: ReadonlyMap<number, number>
  /** Positions between outcomes that had come at once: no model is asked and no tool is called there. */
  readonly pauses: ReadonlySet<number>
  /** Entries that were recorded earlier than they were stored: `count` of them, stored from index `from` on, were recorded from index `to` on. */
  readonly moves: readonly (readonly [from: number, to: number, count: number])[]
  /** Whether the last assumption is read from the log: it holds although the log may not be followed further by it alone. */
  readonly isRead: boolean
}

/** The first plan: no report is held, each outcome came alone, and entries were recorded in the order of the log. */
export const usualPlan: Plan = { holds: new Map(), pauses: new Set(), moves: [], isRead: false }

/** The entries in the order in which they were recorded. */
export function inOrder(entries: readonly Entry[], { moves }: Pick<Plan, 'moves'>): readonly Entry[] {
  const order = [...entries]
  for (const [from, to, count] of moves) order.splice(to, 0, ...order.splice(from, count))
  return order
}

/** How many appends before a difference may have been reported later, and how many blocks, or jobs, may have been recorded earlier. */
const nearby = 8
/** The same for what happened at nearly the same time. */
const close = 4

/** How many tasks of one report are looked at. */
const mostReported = 64

/** A replay that stopped at `at`. */
interface Played {
  readonly order: readonly Entry[]
  readonly at: number
  readonly stored: readonly number[]
}

/**
 * The plans with one assumption more, near the entry at which a replay stopped: the report of an append before it came later, the outcomes before
 * it came at once, or it or an entry behind it was recorded before others that are stored first. The likely ones come first.
 */
export function* otherPlans(last: Plan, { order, at, stored }: Played): Generator<Plan, void, void> {
  const plan: Plan = { ...last, isRead: false }
  const { holds, moves, pauses } = plan
  const reported = asReported(order, at)
  if (reported.length > 0) yield { ...plan, moves: [...moves, ...reported], isRead: true }
  const before = stored.filter((position) => position <= at).slice(-nearby)
  for (const one of before.reverse()) yield { ...plan, holds: new Map(holds).set(one, at + 1) }
  const together = outcomesTogether(order, at)
  if (together.length > 0) yield { ...plan, pauses: new Set([...pauses, ...together]) }
  const early = beforeBrought(order, at)
  if (early !== null) yield { ...plan, moves: [...moves, early] }
  const move = (by: Plan['moves'][number]): Plan => ({ ...plan, moves: [...moves, by] })
  for (const from of new Set([stretchOf(order, at), askedAt(order, at)]))
    for (const one of earlier(order, from)) yield move(one)
  for (const from of firstsAhead(order, at)) {
    const earliest = Math.max(at - close, earliestOf(order, from))
    for (let to = at; to >= earliest; to -= 1) for (const count of countsAt(order, from)) yield move([from, to, count])
  }
}

/** A report names its tasks in the order in which their ends were seen. The moves that bring those ends into that order. */
function asReported(order: readonly Entry[], at: number): Plan['moves'] {
  const report = order[at]
  const tasks = report?.type === 'message' ? (report.body.tasks ?? []).slice(0, mostReported) : []
  const moves: Plan['moves'][number][] = []
  let now = order
  for (const index of tasks.keys()) {
    const [seen = -1, ...others] = seenAt(now, at, tasks.slice(index))
    const from = beginOf(now, seen)
    // None is seen later than the end that the report comes with.
    const to = Math.min(...[...others, at - 1].map((other) => beginOf(now, other)))
    if (to >= from || to < earliestOf(now, from)) continue
    // A job that closes records all that it closes at once.
    let end = seen + 1
    while (end < from + blockAt(now, from) && isClosing(now[end] as Entry, (now[end] as Entry).job)) end += 1
    const move = [from, to, end - from] as const
    moves.push(move)
    now = inOrder(now, { moves: [move] })
  }
  return moves
}

/** For each task, the index at which its end was seen: its own end, or the end of the call that had been told of it. -1 if there is none. */
function seenAt(order: readonly Entry[], at: number, tasks: readonly string[]): readonly number[] {
  const seenBy = new Map(tasks.map((task) => [task, task]))
  const ends = new Map<string, number>()
  for (const [index, { type, kind, place, body }] of order.entries()) {
    if (index < at && type === 'message')
      for (const task of body.tasks ?? []) if (seenBy.has(task)) seenBy.set(task, place.call)
    if (kind === 'agent' && type !== 'start' && !ends.has(place.call)) ends.set(place.call, index)
  }
  return [...seenBy.values()].map((call) => ends.get(call) ?? -1)
}

/** The moves of an entry, with what was recorded in one go with it, to before one of the last blocks. */
function* earlier(order: readonly Entry[], from: number): Generator<Plan['moves'][number], void, void> {
  const earliest = earliestOf(order, from)
  for (let [to, left] = [from - 1, nearby]; left > 0 && to >= earliest; to -= 1) {
    if (!isBegin(order, to)) continue
    left -= 1
    for (const count of countsAt(order, from)) yield [from, to, count]
  }
}

/** Where the notices begin that a model call recorded before this reply came; this entry itself if there are none. */
function askedAt(order: readonly Entry[], at: number): number {
  const reply = order[at]
  const isReply = reply?.type === 'end' && reply.kind === 'model'
  const isOfCall = ({ place, epoch }: Entry) => epoch !== 0 && place.call === reply?.place.call
  const last = isReply ? order.findLastIndex((one, index) => index < at && isOfCall(one)) : -1
  return order[last]?.type === 'notice' ? beginOf(order, last) : at
}

/** The positions between outcomes of models and tools that a job recorded one right after the other, just before this entry. */
function outcomesTogether(order: readonly Entry[], at: number): readonly number[] {
  const job = order[at]?.job
  const isOutcome = (one: Entry | undefined) =>
    one?.job === job &&
    ((one?.type === 'end' && one.kind === 'model') || (one?.kind === 'tool' && one.type !== 'start'))
  const found: number[] = []
  for (let index = beginOf(order, at); isOutcome(order[index]) && isOutcome(order[index - 1]); index -= 1)
    found.push(index)
  return found
}

/** The next entries of other jobs. A job may have recorded one long before it is stored; only what others do shows that. */
function* firstsAhead(order: readonly Entry[], at: number): Generator<number, void, void> {
  const seen = new Set<string>()
  for (let index = at; index < order.length && seen.size <= nearby; index += 1) {
    const { job, epoch } = order[index] as Entry
    if (epoch === 0 || seen.has(job)) continue
    seen.add(job)
    if (index > at) yield index
  }
}

/**
 * A job may have recorded its last entries before it saw the last thing that was brought to it. The move puts them before that thing; if it is the
 * report of a task, before the end of the task too, because both are one append. Null if nothing was brought.
 */
function beforeBrought(order: readonly Entry[], at: number): Plan['moves'][number] | null {
  const job = order[at]?.job
  const brought = order.findLastIndex((one, index) => index < at && one.job === job && one.epoch === 0)
  const from = order.findIndex((one, index) => index > brought && one.job === job)
  if (brought < 0 || from > at) return null
  let to = brought
  while (order[to - 1]?.epoch === 0 && order[to - 1]?.appendNo === (order[to]?.appendNo ?? 0) + 1) to -= 1
  const message = order[brought]
  if (message?.type === 'message' && message.body.tasks !== undefined) to = beginOf(order, to - 1)
  const own = order.slice(from, at + blockAt(order, at)).findIndex((one) => one.job !== job)
  return [from, to, own < 0 ? at + blockAt(order, at) - from : own]
}
