/** Finds blocks by words, ranked as passages of knowledge are. Nothing of it is stored: an erased text stands in no index. */
import type { Pausable } from '../identity/pausable.ts'
import {
  addPosting,
  addWord,
  compareKeys,
  createScores,
  emptyColumns,
  type PostingColumns,
  rarityOf,
} from '../knowledge/ranking.ts'
import { queryWordsOf, wordsOf } from '../knowledge/words.ts'
import type { BlockRow } from './records.ts'

/** The most blocks that one search finds. */
const mostRecalled = 10

/** How many characters of a query count. */
const longestQuery = 10_000

/** The best blocks by the words of their keys and texts, best first; equal ones by key. In pieces. */
export function* recalled(blocks: readonly BlockRow[], query: string): Pausable<readonly BlockRow[]> {
  const words = queryWordsOf(query.slice(0, longestQuery), 'en')
  if (words.length === 0 || blocks.length === 0) return []
  const wanted = new Set(words)
  const postings = new Map<string, PostingColumns>(words.map((word) => [word, emptyColumns()]))
  let length = 0
  for (const [passage, block] of blocks.entries()) {
    const own = wordsOf(`${block.key} ${block.text}`, 'en')
    length += own.length
    for (const [word, count] of countsOf(own, wanted))
      addPosting(postings.get(word) as PostingColumns, passage, [count, own.length])
    yield
  }
  const seen = { passages: blocks.length, words: length }
  const scores = createScores(blocks.length)
  for (const word of words) {
    const found = postings.get(word) as PostingColumns
    if (found.length > 0) addWord(scores, found, { rarity: rarityOf(found.length, seen), seen })
  }
  const scored: { readonly block: BlockRow; readonly score: number }[] = []
  scores.each((index, score) => scored.push({ block: blocks[index] as BlockRow, score }))
  scored.sort((one, other) => other.score - one.score || compareKeys(one.block.key, other.block.key))
  return scored.slice(0, mostRecalled).map(({ block }) => block)
}

function countsOf(words: readonly string[], wanted: ReadonlySet<string>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) if (wanted.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}
