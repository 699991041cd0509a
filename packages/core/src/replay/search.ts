/** Looks for the plan under which a replay comes to the same log. */
import type { Plan } from './plan.ts'

/** A replay under one plan. */
export interface Attempt {
  /** The number of entries that are there again. */
  readonly entries: number
  readonly isSame: boolean
  /** The plans with one assumption more, the likely ones first. */
  readonly others: Iterator<Plan, void, void>
}

/**
 * Plays again, at most `most` times, with one assumption more than the replay that got furthest. One that gets no further than the replay whose
 * plan it extends is dropped. Once all plans of a replay are tried, the search goes on from the one that got second furthest, and so on:
 * what got further may have assumed something wrong. Returns the replay with the most entries.
 */
export async function search<One extends Attempt>(
  first: One,
  { play, most }: { play(plan: Plan): Promise<One>; readonly most: number },
): Promise<One> {
  // What else a replay holds, such as its store, is kept only of the best.
  const open: Pick<Attempt, 'entries' | 'others'>[] = [{ entries: first.entries, others: first.others }]
  let best = first
  for (let left = most; left > 0 && !best.isSame; ) {
    const from = open.at(-1)
    if (from === undefined) break
    const next = from.others.next()
    if (next.done === true) {
      open.pop()
      continue
    }
    left -= 1
    const one = await play(next.value)
    if (one.isSame || one.entries > best.entries) best = one
    if (one.entries > from.entries) open.push({ entries: one.entries, others: one.others })
    open.sort((a, b) => a.entries - b.entries)
  }
  return best
}
