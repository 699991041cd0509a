/**
 * What a replay assumes of what the log does not show: when appends were reported, which outcomes came at once, and which entries were recorded
 * before they were stored.
 */
import type { Entry } from '@witan/protocol/entries'
import { isClosing } from './lookahead.ts'

/** One set of assumptions. */
export interface Plan {
  /** Appends whose report is held: from the position behind the append to the position that the replay must reach first. */
  readonly holds: ReadonlyMap<number, number>
  /** Positions between outcomes that had come at once: no model is asked and no tool is called there. */
  readonly pauses: ReadonlySet<number>
  /** Entries that were recorded earlier than they were stored: `count` of them, stored from index `from` on, were recorded from index `to` on. */
  readonly moves: readonly (readonly [from: number, to: number, count: number])[]
}

/** The first plan: no report is held, each outcome came alone, and entries were recorded in the order of the log. */
export const usualPlan: Plan = { holds: new Map(), pauses: new Set(), moves: [] }

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
export function* otherPlans(plan: Plan, { order, at, stored }: Played): Generator<Plan, void, void> {
  const { holds, moves, pauses } = plan
  const reported = asReported(order, at)
  if (reported.length > 0) yield { ...plan, moves: [...moves, ...reported] }
  const before = stored.filter((position) => position <= at).slice(-nearby)
  for (const one of before.reverse()) yield { ...plan, holds: new Map(holds).set(one, at + 1) }
  const together = outcomesTogether(order, at)
  if (together.length > 0) yield { ...plan, pauses: new Set([...pauses, ...together]) }
  const early = beforeBrought(order, at)
  if (early !== null) yield { ...plan, moves: [...moves, early] }
  const move = (by: Plan['moves'][number]): Plan => ({ ...plan, moves: [...moves, by] })
  for (const from of new Set([at, beginOf(order, at), askedAt(order, at), runOf(order, at)]))
    yield* [...earlier(order, from)].map(move)
  for (const from of firstsAhead(order, at))
    for (let to = at; to >= at - close && mayPass(order, from, to); to -= 1)
      for (const count of countsAt(order, from)) yield move([from, to, count])
  for (const one of before.slice(0, 2))
    for (let until = one + 1; until <= Math.min(at, one + close); until += 1)
      yield { ...plan, holds: new Map(holds).set(one, until) }
}

/**
 * A report names tasks in the order in which their ends were seen, or that of the call that had been told of them: the moves that bring those ends
 * into this order.
 */
function asReported(order: readonly Entry[], at: number): Plan['moves'] {
  const report = order[at]
  const tasks = report?.type === 'message' ? (report.body.tasks ?? []) : []
  const moves: Plan['moves'][number][] = []
  let now = order
  for (const [index, task] of tasks.entries()) {
    const seen = seenAt(now, at, task)
    const from = beginOf(now, seen)
    const to = Math.min(...tasks.slice(index + 1).map((other) => beginOf(now, seenAt(now, at, other))))
    if (to > from || !mayPass(now, from, to)) continue
    // A job that closes records all that it closes at once.
    let end = seen + 1
    while (end < from + blockAt(now, from) && isClosing(now[end] as Entry, (now[end] as Entry).job)) end += 1
    const move = [from, to, end - from] as const
    moves.push(move)
    now = inOrder(now, { moves: [move] })
  }
  return moves
}

/** Where the end of a task was seen that is reported behind it. */
function seenAt(order: readonly Entry[], at: number, task: string): number {
  const told = order.findLast(({ type, body }, index) => index < at && type === 'message' && body.tasks?.includes(task))
  const over = told?.place.call ?? task
  return order.findIndex(({ kind, type, place }) => kind === 'agent' && type !== 'start' && place.call === over)
}

/** The moves of what was recorded with an entry to before one of the last blocks of other jobs. */
function* earlier(order: readonly Entry[], from: number): Generator<Plan['moves'][number], void, void> {
  for (let [to, left] = [from - 1, nearby]; left > 0 && mayPass(order, from, to); to -= 1) {
    if (!isBegin(order, to)) continue
    left -= 1
    for (const count of countsAt(order, from)) yield [from, to, count]
  }
}

/** The positions between the last outcomes of models and tools that a job recorded before this entry, if nothing stands between those. */
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

/** The next entry of each job but the one whose turn it is: what it had recorded shows in what all of them do, although it is stored later. */
function* firstsAhead(order: readonly Entry[], at: number): Generator<number, void, void> {
  const seen = new Set<string>()
  for (let index = at; index < order.length && seen.size <= nearby; index += 1) {
    const { job, epoch } = order[index] as Entry
    if (epoch === 0 || seen.has(job)) continue
    seen.add(job)
    if (index > at) yield index
  }
}

/** Whether a block begins here: behind another job's entry or a refused end, with a model's reply, or where a job begins to close. */
function isBegin(order: readonly Entry[], at: number): boolean {
  const [before, one] = [order[at - 1], order[at]]
  if (before?.job !== one?.job || before?.epoch !== one?.epoch) return true
  if (before === undefined || one === undefined || before.appendNo + 1 !== one.appendNo) return true
  if (isEnd(before)) return false
  return (one.type === 'end' && one.kind === 'model') || (isClosing(one, one.job) && !isClosing(before, one.job))
}

function isEnd({ type, kind, place, job }: Entry): boolean {
  return kind === 'agent' && type !== 'start' && place.call === job
}

/**
 * The move of what a job recorded behind the last thing that was brought to it, to before that, and before the end of the task that it reports; null if
 * this is not behind such a thing.
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

/** Where the block begins that this entry stands in. */
function beginOf(order: readonly Entry[], at: number): number {
  let begin = at
  while (begin > 0 && !isBegin(order, begin)) begin -= 1
  return begin
}

/** Where the notices begin that were recorded when the model of this reply was asked; this entry itself if there are none. */
function askedAt(order: readonly Entry[], at: number): number {
  const reply = order[at]
  const isReply = reply?.type === 'end' && reply.kind === 'model'
  const last = isReply ? order.findLastIndex((one, index) => index < at && one.job === reply.job) : -1
  if (order[last]?.type !== 'notice' || order[last].place.call !== reply?.place.call) return at
  return beginOf(order, last)
}

/** How many entries a job may have recorded with this one: none, those up to the end of a call or to the start of another, the block, and all before it decided to end. */
function countsAt(order: readonly Entry[], from: number): ReadonlySet<number> {
  const block = blockAt(order, from)
  const together = order.slice(from, from + block)
  const end = together.findIndex(({ kind, type }) => kind === 'agent' && type !== 'start')
  const next = together.findIndex(({ kind, type }, index) => index > 0 && kind === 'agent' && type === 'start')
  return new Set([1, Math.max(1, end + 1), Math.max(1, next), block, togetherAt(order, from)])
}

/** How many entries a job recorded with this one in one go. */
function blockAt(order: readonly Entry[], from: number): number {
  let end = from + 1
  while (end < order.length && !isBegin(order, end)) end += 1
  return end - from
}

/** How many entries a job recorded with this one and behind it, before it decided to end, if nothing stands between those. */
function togetherAt(order: readonly Entry[], from: number): number {
  const first = order[from]
  const end = order.findIndex(
    (one, at) => at > from && (one.epoch !== first?.epoch || one.job !== first.job || isEnd(one)),
  )
  return Math.max(1, (end < 0 ? order.length : end) - from)
}

/** Where those entries of its job begin that nothing stands between up to this one. */
function runOf(order: readonly Entry[], at: number): number {
  let begin = at
  while (order[begin - 1]?.job === order[at]?.job && order[begin - 1]?.epoch === order[at]?.epoch) begin -= 1
  return begin
}

/** Whether an entry may have been recorded before those from `to` on: what a job records by itself, after all that it recorded before. */
function mayPass(order: readonly Entry[], from: number, to: number): boolean {
  const one = order[from]
  if (one === undefined || to < 0 || one.epoch === 0) return false
  return order.slice(to, from).every(({ job, epoch }) => job !== one.job || epoch === 0)
}
