/** Display names of agents and people: how models read them, and whom a model means that writes one [T05, C28]. */
import { shownName } from '@witan/protocol/names'

/**
 * Normalises a display name. Two names are the same if only case, width or spaces differ, because people could not tell
 * them apart.
 */
export function sameName(name: string): string {
  return name.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase()
}

/**
 * A display name as models read it: one line, and in quotes if it holds more than words, so that it cannot look like a part of the
 * text around it. Null if there is none, or if the id says the same.
 */
export function displayName({
  id,
  name,
}: {
  readonly id: string
  readonly name?: string | null | undefined
}): string | null {
  const plain = (name ?? '').trim().replace(/\s+/g, ' ')
  if (plain === '' || plain === id) return null
  const shown = shownName(plain)
  return /^[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N} .'’&-]*$/u.test(shown) ? shown : JSON.stringify(shown)
}

/** The most characters of a written name that are compared. */
const longest = 200

/**
 * Those whom a written word may mean: the one with exactly that id, else everybody whom it names if case, width and spaces do not
 * count. `namesOf` gives the names of one of them, its id first.
 */
export function meantBy<One>(
  word: string,
  all: readonly One[],
  namesOf: (one: One) => readonly string[],
): readonly One[] {
  const exact = all.find((one) => namesOf(one)[0] === word)
  if (exact !== undefined) return [exact]
  if (word.length > longest) return []
  const wanted = sameName(word)
  return wanted === '' ? [] : all.filter((one) => namesOf(one).some((name) => sameName(name) === wanted))
}
