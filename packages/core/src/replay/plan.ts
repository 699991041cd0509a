/** What a replay assumes of what the log does not show: when appends were reported, and which entries were recorded before they were stored. */
import type { Entry } from '@witan/protocol/entries'

/** One set of assumptions. */
export interface Plan {
  /** Appends whose report is held: from the position behind the append to the position that the replay must reach first. */
  readonly holds: ReadonlyMap<number, number>
  /** Entries that were recorded earlier than they were stored: `count` of them, stored from index `from` on, were recorded from index `to` on. */
  readonly moves: readonly (readonly [from: number, to: number, count: number])[]
}

/** The first plan: no report is held, and entries were recorded in the order of the log. */
export const usualPlan: Plan = { holds: new Map(), moves: [] }

/** The entries in the order in which they were recorded. */
export function inOrder(entries: readonly Entry[], { moves }: Plan): readonly Entry[] {
  const order = [...entries]
  for (const [from, to, count] of moves) order.splice(to, 0, ...order.splice(from, count))
  return order
}

/** How many appends before a difference may have been reported later, and over how many entries one may have been recorded earlier. */
const nearby = 8

/**
 * The plans that differ in one assumption near the entry at which a replay stopped: the report of an append before it came later, or it or one
 * behind it was recorded before others that are stored first. The nearest come first.
 */
export function* otherPlans(
  { holds, moves }: Plan,
  { order, at, stored }: { readonly order: readonly Entry[]; readonly at: number; readonly stored: readonly number[] },
): Generator<Plan, void, void> {
  const before = stored.filter((position) => position <= at).slice(-nearby)
  for (const one of before.reverse()) yield { holds: new Map(holds).set(one, at + 1), moves }
  for (let to = at - 1; to >= at - nearby && mayPass(order, at, to); to -= 1)
    if (order[to - 1]?.job !== order[to]?.job)
      for (const count of new Set([1, togetherAt(order, at)])) yield { holds, moves: [...moves, [at, to, count]] }
  for (let from = at + 1; from <= at + nearby; from += 1)
    for (let to = at - 2; to <= at; to += 1)
      if (mayPass(order, from, to)) yield { holds, moves: [...moves, [from, to, 1]] }
}

/** How many entries a job recorded with this one, before it decided to end. */
function togetherAt(order: readonly Entry[], from: number): number {
  const first = order[from]
  const end = order.findIndex(
    (one, at) => at > from && (one.epoch !== first?.epoch || one.job !== first.job || isEnd(one)),
  )
  return Math.max(1, (end < 0 ? order.length : end) - from)
}

function isEnd({ type, kind, place, job }: Entry): boolean {
  return kind === 'agent' && type !== 'start' && place.call === job
}

/** Whether an entry may have been recorded before those from `to` on: what a job records by itself, after all that it recorded before. */
function mayPass(order: readonly Entry[], from: number, to: number): boolean {
  const one = order[from]
  if (one === undefined || to < 0 || one.epoch === 0) return false
  return order.slice(to, from).every(({ job }) => job !== one.job)
}
