/**
 * How passages are ranked: by words with BM25, and by several rankings joined. Pure, in one order of operations on IEEE doubles, with
 * logarithms of JavaScript: every store has the same order.
 */

/** What a search sees of its bases together: how many passages, and how many words these have. */
export interface SeenPassages {
  readonly passages: number
  readonly words: number
}

/** How often a word stands in a passage that the search sees, and how many words the passage has. */
export interface Posting {
  readonly passage: number
  readonly count: number
  readonly length: number
}

/** Postings of one word as columns, since a search reads many: the first `length` of each count. */
export interface PostingColumns {
  length: number
  passages: Float64Array
  counts: Float64Array
  lengths: Float64Array
}

/** Columns without a posting. */
export function emptyColumns(): PostingColumns {
  return { length: 0, passages: new Float64Array(64), counts: new Float64Array(64), lengths: new Float64Array(64) }
}

/** Adds a posting to columns. */
export function addPosting(columns: PostingColumns, passage: number, [count, length]: readonly [number, number]): void {
  if (columns.length === columns.passages.length) roomIn(columns, columns.length + 1)
  const at = columns.length
  columns.passages[at] = passage
  columns.counts[at] = count
  columns.lengths[at] = length
  columns.length = at + 1
}

/** Makes room for so many postings. */
export function roomIn(columns: PostingColumns, size: number): void {
  if (size <= columns.passages.length) return
  for (const name of ['passages', 'counts', 'lengths'] as const) {
    const wider = new Float64Array(Math.max(size, columns.passages.length * (name === 'passages' ? 2 : 1)))
    wider.set(columns[name].subarray(0, columns.length))
    columns[name] = wider
  }
}

/** Scores of passages: a table of numbers, several times as fast as a map where there are many. */
export interface Scores {
  readonly size: number
  add(passage: number, gain: number): void
  /** 0 for none. */
  get(passage: number): number
  /** In any order. */
  each(take: (passage: number, score: number) => void): void
}

const free = -1

/** How many scores a table has room for at first, at most. */
const mostExpected = 262_144

/** No scores yet. There is room for about as many as are expected. */
export function createScores(expected = 0): Scores {
  let bits = Math.max(10, Math.ceil(Math.log2(2 * Math.min(expected, mostExpected) + 2)))
  let size = 0
  let keys = new Float64Array(1 << bits).fill(free)
  let values = new Float64Array(1 << bits)
  const slotOf = (passage: number) => {
    // Passages of one form stand beside each other, as postings do: forms are numbered in the upper bits on PostgreSQL.
    let at = ((passage & 0xfffff) + Math.imul((passage / 0x100000) | 0, 0x9e3779b1)) & (keys.length - 1)
    while (keys[at] !== free && keys[at] !== passage) at = (at + 1) & (keys.length - 1)
    return at
  }
  const grow = () => {
    const [before, scores] = [keys, values]
    bits += 1
    keys = new Float64Array(1 << bits).fill(free)
    values = new Float64Array(1 << bits)
    for (const [index, passage] of before.entries()) {
      if (passage === free) continue
      const at = slotOf(passage)
      keys[at] = passage
      values[at] = scores[index] as number
    }
  }
  return {
    get size() {
      return size
    },
    add(passage, gain) {
      let at = slotOf(passage)
      if (keys[at] === free) {
        size += 1
        if (size * 2 > keys.length) {
          grow()
          at = slotOf(passage)
        }
        keys[at] = passage
      }
      values[at] = (values[at] as number) + gain
    },
    get(passage) {
      const at = slotOf(passage)
      return keys[at] === passage ? (values[at] as number) : 0
    },
    each(take) {
      for (let at = 0; at < keys.length; at += 1) if (keys[at] !== free) take(keys[at] as number, values[at] as number)
    },
  }
}

/** How fast repeated words count less, and how much long passages do. The usual values. */
const saturation = 1.2
const lengthShare = 0.75

/** What a word counts by its rarity: `holders` of the seen passages have it. Above 0, even for a word of every passage. */
export function rarityOf(holders: number, { passages }: SeenPassages): number {
  return Math.log(1 + (passages - holders + 0.5) / (holders + 0.5))
}

/** A word among what a search sees, and which of its postings are meant: all by default. */
interface WordAmong {
  readonly rarity: number
  readonly seen: SeenPassages
  readonly from?: number
  readonly to?: number
}

/**
 * Adds to the scores of passages what one word gives them. The words of a query are added in their order; a part of the postings of a word
 * may be added alone, if `rarity` is that of all.
 */
export function addWord(
  scores: Scores,
  { passages, counts, lengths, length: size }: PostingColumns,
  { rarity, seen, from = 0, to = size }: WordAmong,
): void {
  const average = seen.words / seen.passages
  for (let at = from; at < Math.min(to, size); at += 1) {
    const [count, length] = [counts[at] as number, lengths[at] as number]
    const weight = saturation * (1 - lengthShare + (lengthShare * length) / average)
    const gain = (rarity * (count * (saturation + 1))) / (count + weight)
    scores.add(passages[at] as number, gain)
  }
}

/** The scores that are among the best, and all that equal the last of them: places decide on these. */
export function bestScores(
  scores: Scores,
  limit: number,
): readonly { readonly passage: number; readonly score: number }[] {
  const least = leastOfBest(scores, limit)
  const best: { readonly passage: number; readonly score: number }[] = []
  scores.each((passage, score) => {
    if (score >= least) best.push({ passage, score })
  })
  return best
}

/** The lowest of the highest scores. */
function leastOfBest(scores: Scores, limit: number): number {
  const best: number[] = [] // the lowest first
  scores.each((_, value) => {
    if (best.length >= limit && !(value > (best[0] ?? Number.POSITIVE_INFINITY))) return
    let at = best.length
    while (at > 0 && (best[at - 1] as number) > value) at -= 1
    best.splice(at, 0, value)
    if (best.length > limit) best.shift()
  })
  return best[0] ?? Number.POSITIVE_INFINITY
}

/** The place of a passage. */
interface Place {
  readonly base: string
  readonly document: string
  readonly place: number
}

/** The best by score, best first. Equal ones stand by the order of these bases, then by key in the order of UTF-8, then by place. */
export function ranked<Ranked extends Place>(
  scored: readonly (readonly [score: number, of: Ranked])[],
  bases: readonly string[],
  limit: number,
): readonly Ranked[] {
  const orderOf = ({ base }: Place) => bases.indexOf(base)
  return scored
    .toSorted(
      ([one, a], [other, b]) =>
        other - one || orderOf(a) - orderOf(b) || compareKeys(a.document, b.document) || a.place - b.place,
    )
    .slice(0, limit)
    .map(([, of]) => of)
}

/** The best of each base, all of them ranked together. */
export function rankedOfEach<Ranked extends Place>(
  scored: readonly (readonly [score: number, of: Ranked])[],
  bases: readonly string[],
  limit: number,
): readonly Ranked[] {
  const left = new Map<string, number>()
  return ranked(scored, bases, scored.length).filter(({ base }) => {
    const taken = left.get(base) ?? 0
    left.set(base, taken + 1)
    return taken < limit
  })
}

/** Compares texts in the order of UTF-8, which is that of code points; JavaScript's own order differs above U+D7FF. */
export function compareKeys(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at += 1) {
    const [a, b] = [one.charCodeAt(at), other.charCodeAt(at)]
    if (a !== b) return isSurrogate(a) === isSurrogate(b) ? a - b : isSurrogate(a) ? 1 : -1
  }
  return one.length - other.length
}

function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff
}

/** How little the first ranks differ, for joined rankings. The usual value. */
const rankDamping = 60

/** Joins rankings by reciprocal rank: each gives a passage `1 / (60 + rank)`, counted from 1. Equal ones as in `ranked`. */
export function joinRanks<Ranked extends Place>(
  lists: readonly (readonly Ranked[])[],
  bases: readonly string[],
  limit: number,
): readonly Ranked[] {
  const joined = new Map<string, readonly [number, Ranked]>()
  for (const list of lists)
    for (const [index, of] of list.entries()) {
      const id = JSON.stringify([of.base, of.document, of.place])
      const known = joined.get(id)
      joined.set(id, [(known?.[0] ?? 0) + 1 / (rankDamping + index + 1), known?.[1] ?? of])
    }
  return ranked([...joined.values()], bases, limit)
}

/** The sum of the products of two vectors of the same length: whole numbers, so exact. A vector with itself gives the square of its length. */
export function productOf(one: Int8Array, other: Int8Array): number {
  let product = 0
  for (let at = 0; at < one.length; at += 1) product += (one[at] as number) * (other[at] as number)
  return product
}

/** How near two vectors are: the cosine of their angle, from their product and the squares of their lengths; 0 with a vector of zeros. */
export function nearness(product: number, square: number, otherSquare: number): number {
  return product === 0 ? 0 : product / Math.sqrt(square * otherSquare)
}
