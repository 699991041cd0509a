/** Suggests the known name that somebody most likely meant. */

/** The nearest of `known` to `word`, or null if none is near enough to suggest. */
export function nearest(word: string, known: readonly string[]): string | null {
  const wanted = word.toLowerCase()
  let best: string | null = null
  // A word of one or two letters must share at least one letter with the suggestion.
  let least = Math.max(Math.min(2, word.length - 1), Math.floor(word.length / 3)) + 1
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.toLowerCase(), least)
    if (distance < least) {
      least = distance
      best = candidate
    }
  }
  return best
}

/** The edit distance of two words; `enough` if it is at least that. */
function editDistance(a: string, b: string, enough: number): number {
  if (Math.abs(a.length - b.length) >= enough) return enough
  let row = Uint32Array.from({ length: b.length + 1 }, (_, index) => index)
  let next = new Uint32Array(b.length + 1)
  for (let i = 1; i <= a.length; i += 1) {
    next[0] = i
    let fewest = i
    for (let j = 1; j <= b.length; j += 1) {
      const swap = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next[j] = Math.min(swap, (row[j] as number) + 1, (next[j - 1] as number) + 1)
      fewest = Math.min(fewest, next[j] as number)
    }
    // The distance cannot decrease from here.
    if (fewest >= enough) return enough
    const last = row
    row = next
    next = last
  }
  return row[b.length] as number
}
