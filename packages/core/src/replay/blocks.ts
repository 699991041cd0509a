/** Blocks and stretches of a log. A block is what a job recorded in one go, as far as the log shows; a stretch is entries of one job in a row. */
import type { Entry } from '@witan/protocol/entries'
import { isClosing } from './lookahead.ts'

/** Whether a block begins here: behind another job's entry or a refused end, with a model's reply, or where a job begins to close. */
export function isBegin(order: readonly Entry[], at: number): boolean {
  const [before, one] = [order[at - 1], order[at]]
  if (before?.job !== one?.job || before?.epoch !== one?.epoch) return true
  if (before === undefined || one === undefined || before.appendNo + 1 !== one.appendNo) return true
  if (isEnd(before)) return false
  return (one.type === 'end' && one.kind === 'model') || (isClosing(one, one.job) && !isClosing(before, one.job))
}

function isEnd({ type, kind, place, job }: Entry): boolean {
  return kind === 'agent' && type !== 'start' && place.call === job
}

/** Where the block begins that this entry stands in. */
export function beginOf(order: readonly Entry[], at: number): number {
  let begin = at
  while (begin > 0 && !isBegin(order, begin)) begin -= 1
  return begin
}

/** How many entries a job may have recorded with this one: those up to the end of a call or to the start of another, the block, or its stretch. */
export function countsAt(order: readonly Entry[], from: number): ReadonlySet<number> {
  const block = blockAt(order, from)
  const entries = order.slice(from, from + block)
  const end = entries.findIndex(({ kind, type }) => kind === 'agent' && type !== 'start')
  const next = entries.findIndex(({ kind, type }, index) => index > 0 && kind === 'agent' && type === 'start')
  return new Set([Math.max(1, end + 1), Math.max(1, next), block, stretchAt(order, from)])
}

/** How many entries a job recorded with this one in one go. */
export function blockAt(order: readonly Entry[], from: number): number {
  let end = from + 1
  while (end < order.length && !isBegin(order, end)) end += 1
  return end - from
}

/** How many entries of its stretch a job recorded from this one on, before it decided to end. */
function stretchAt(order: readonly Entry[], from: number): number {
  const first = order[from]
  const end = order.findIndex(
    (one, at) => at > from && (one.epoch !== first?.epoch || one.job !== first.job || isEnd(one)),
  )
  return Math.max(1, (end < 0 ? order.length : end) - from)
}

/** Where the stretch begins that this entry stands in. */
export function stretchOf(order: readonly Entry[], at: number): number {
  let begin = at
  while (order[begin - 1]?.job === order[at]?.job && order[begin - 1]?.epoch === order[at]?.epoch) begin -= 1
  return begin
}

/** The first place at which an entry may have been recorded: behind all that its job recorded before. What was brought stays where it is. */
export function earliestOf(order: readonly Entry[], from: number): number {
  const one = order[from]
  if (one === undefined || one.epoch === 0) return from
  return 1 + order.findLastIndex(({ job, epoch }, index) => index < from && job === one.job && epoch !== 0)
}
