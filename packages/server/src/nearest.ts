/** The known name that a mistyped one most likely meant. */

const MAX_NAME_LENGTH = 64

/** The nearest of `known`, or null where none is near: two letters may differ, in long names a third of them. */
export function nearest(name: string, known: readonly string[]): string | null {
  if (name.length > MAX_NAME_LENGTH) return null
  const limit = Math.min(name.length - 1, Math.max(2, Math.floor(name.length / 3)))
  let best: { name: string; distance: number } | null = null
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance <= limit && (best === null || distance < best.distance)) best = { name: candidate, distance }
  }
  return best?.name ?? null
}

/** What to do about an unknown name: the nearest known one, or all of them. */
export function suggest(name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  if (near !== null) return `Did you mean \`${near}\`?`
  return known.length === 0 ? 'Remove it.' : `Known: ${known.join(', ')}.`
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
