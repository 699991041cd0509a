/** Sorts long lists in short pieces of work. */
import type { Pausable } from './pausable.ts'

/** Items that are sorted, or merged, between two pauses. */
const pieceItems = 1_000

/** The items in order; those of equal rank stay as they are. */
export function* sorted<Item>(list: readonly Item[], compare: (one: Item, other: Item) => number): Pausable<Item[]> {
  let runs: Item[][] = []
  for (let from = 0; from < list.length; from += pieceItems) {
    runs.push(list.slice(from, from + pieceItems).sort(compare))
    yield
  }
  while (runs.length > 1) {
    const merged: Item[][] = []
    for (let at = 0; at < runs.length; at += 2)
      merged.push(yield* together(runs[at] ?? [], runs[at + 1] ?? [], compare))
    runs = merged
  }
  return runs[0] ?? []
}

function* together<Item>(
  one: readonly Item[],
  other: readonly Item[],
  compare: (one: Item, other: Item) => number,
): Pausable<Item[]> {
  const all: Item[] = []
  for (let [at, next] = [0, 0]; at < one.length || next < other.length; ) {
    const takesOne = next === other.length || (at < one.length && compare(one[at] as Item, other[next] as Item) <= 0)
    all.push((takesOne ? one[at++] : other[next++]) as Item)
    if (all.length % pieceItems === 0) yield
  }
  return all
}
