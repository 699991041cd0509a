/** Postings as stores keep them: the words of a passage with their counts, and many postings of one word packed into bytes. */
import { type Posting, type PostingColumns, roomIn } from '../knowledge/ranking.ts'

/** The distinct words of a passage with their counts, as they are stored, and how many words it has. `words` are joined by spaces. */
export function countedWords(words: string): { readonly words: string; readonly length: number } {
  if (words === '') return { words: '', length: 0 }
  const counts = new Map<string, number>()
  let length = 0
  for (const word of words.split(' ')) {
    counts.set(word, (counts.get(word) ?? 0) + 1)
    length += 1
  }
  return { words: Array.from(counts, ([word, count]) => (count === 1 ? word : `${word} ${count}`)).join('\n'), length }
}

/** The words and counts of `countedWords`. */
export function* readCounts(words: string): Generator<readonly [word: string, count: number]> {
  if (words === '') return
  for (const line of words.split('\n')) {
    const space = line.indexOf(' ')
    yield space < 0 ? [line, 1] : [line.slice(0, space), Number(line.slice(space + 1))]
  }
}

/** The postings that were packed, in the order of their passages. `first` is that of the first. */
export function unpacked(first: number, data: Uint8Array): Posting[] {
  const postings: Posting[] = []
  eachPacked(first, data, (passage, count, length) => postings.push({ passage, count, length }))
  return postings
}

/** Adds postings that were packed to columns; null keeps all. */
export function unpackInto(
  columns: PostingColumns,
  first: number,
  { data, isKept }: { readonly data: Uint8Array; readonly isKept: ((passage: number) => boolean) | null },
): void {
  // A posting has three bytes at least.
  roomIn(columns, columns.length + Math.ceil(data.length / 3))
  const { passages, counts, lengths } = columns
  let end = columns.length
  eachPacked(first, data, (passage, count, length) => {
    if (isKept !== null && !isKept(passage)) return
    passages[end] = passage
    counts[end] = count
    lengths[end] = length
    end += 1
  })
  columns.length = end
}

function eachPacked(
  first: number,
  data: Uint8Array,
  take: (passage: number, count: number, length: number) => void,
): void {
  let passage = first
  let count = 0
  // Each posting has three numbers, in groups of seven bits, the lowest first.
  let field = 0
  let value = 0
  let factor = 1
  for (let at = 0; at < data.length; at += 1) {
    const byte = data[at] as number
    value += (byte & 0x7f) * factor
    if (byte >= 0x80) {
      factor *= 0x80
      continue
    }
    if (field === 0) passage += value
    else if (field === 1) count = value
    else take(passage, count, value)
    field = field === 2 ? 0 : field + 1
    value = 0
    factor = 1
  }
}

/** Packs postings, which are in the order of their passages. The first one is not among the bytes. */
export function packed(postings: readonly Posting[]): Uint8Array {
  const bytes: number[] = []
  const put = (given: number) => {
    let value = given
    for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes.push((value % 0x80) + 0x80)
    bytes.push(value)
  }
  let before = postings[0]?.passage ?? 0
  for (const { passage, count, length } of postings) {
    put(passage - before)
    put(count)
    put(length)
    before = passage
  }
  return new Uint8Array(bytes)
}
