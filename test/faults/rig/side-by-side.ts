/** Several places at once for one row: each has a store, servers and a client of its own, and what they come to is added up. */
import { type Lane, openLane } from './lane.ts'
import type { RowResult } from './row.ts'

/** One place at work. */
export interface Place<Trial> {
  play(trial: Trial): Promise<void>
  finish(): Promise<RowResult>
}

/** How the work of a row is shared out. */
interface Sharing<Trial> {
  readonly places: number
  readonly trials: readonly Trial[]
  /** Begins to work somewhere. Places open one after the other: what starts all at once takes the processor from what is at work. */
  readonly open: (lane: Lane) => Promise<Place<Trial>>
}

/** Shares trials out among places, more to whoever is done sooner. The first place is the lane itself. */
export async function sideBySide<Trial>(lane: Lane, { places, trials, open }: Sharing<Trial>): Promise<RowResult> {
  const queue = trials.values() // one iterator for all: nothing is played twice
  let opening: Promise<unknown> = Promise.resolve()
  const playAt = async (own: Lane): Promise<RowResult> => {
    const opened = opening.then(() => open(own))
    opening = opened.catch(() => {})
    const place = await opened
    for (const trial of queue) await place.play(trial)
    return place.finish()
  }
  const results = await Promise.all(
    Array.from({ length: Math.min(places, trials.length) }, async (_, index) => {
      if (index === 0) return playAt(lane)
      const own = await openLane(lane.name)
      return playAt(own).finally(() => own.close())
    }),
  )
  return results.reduce(sumOf)
}

/** What two parts of a row come to together. */
export function sumOf(one: RowResult, other: RowResult): RowResult {
  const counts: Record<string, number> = { ...one.counts }
  for (const [name, count] of Object.entries(other.counts)) counts[name] = count + (counts[name] ?? 0)
  const peaks: Record<string, number> = { ...one.peaks }
  for (const [name, peak] of Object.entries(other.peaks ?? {})) peaks[name] = Math.max(peak, peaks[name] ?? 0)
  return {
    trials: one.trials + other.trials,
    intended: one.intended + other.intended,
    fired: one.fired + other.fired,
    violations: [...one.violations, ...other.violations],
    recoveriesMs: [...one.recoveriesMs, ...other.recoveriesMs],
    counts,
    peaks,
  }
}
