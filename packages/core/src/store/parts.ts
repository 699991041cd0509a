/** Cuts lists into parts that are quick to copy. */

/** About how many characters, and how many things, a part holds: it is copied within a millisecond. */
const most = { characters: 200_000, things: 300 }

/** Lists in parts of a bounded length; a longer thing is alone. */
export function* partsOf<Item>(items: Iterable<Item>, lengthOf: (item: Item) => number): Generator<Item[]> {
  let part: Item[] = []
  let characters = 0
  for (const item of items) {
    const length = lengthOf(item)
    if (part.length > 0 && (characters + length > most.characters || part.length >= most.things)) {
      yield part
      part = []
      characters = 0
    }
    part.push(item)
    characters += length
  }
  if (part.length > 0) yield part
}
