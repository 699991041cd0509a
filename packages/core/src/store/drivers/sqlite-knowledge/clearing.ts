/** Clears what is hidden and what deleted bases leave behind: many documents at once, in short transactions. */
import { documentSql, droppedSql, postingSql, vectorSql } from '../../sql/knowledge.ts'
import { readCounts } from '../../postings.ts'
import type { Knowledge } from './open.ts'
import { removePostings } from './postings.ts'

/** How many forms and passages are cleared together, and how much of it one transaction does: a few milliseconds. */
const most = { forms: 100, passages: 200, words: 300, pieces: 20 }

interface Range {
  readonly first: number
  readonly last: number
  readonly form: number
  readonly base: number
  readonly grp: number
  /** 1 if the base was deleted: its index goes as a whole. */
  readonly dropped: number
}

/** Passages of one form that are cleared together. */
interface Part {
  readonly range: Range
  readonly passages: readonly (readonly [number: number, words: string])[]
  /** The number behind the last of them. */
  readonly end: number
}

/** Clears everything that is hidden when a step begins; the steps of writes may stand in between. */
export function* clearing(knowledge: Knowledge): Generator<void, void> {
  for (;;) {
    const ranges = knowledge.all(documentSql.firstHidden, most.forms) as unknown as readonly Range[]
    if (ranges.length === 0) break
    yield* clearRanges(knowledge, ranges)
  }
  for (let row = knowledge.tuple(droppedSql.first); row !== null; row = knowledge.tuple(droppedSql.first)) {
    const base = row[0] as number
    for (const sql of [droppedSql.postings, droppedSql.vectors])
      while (knowledge.transaction(() => knowledge.tuples(sql, base)).length > 0) yield
    knowledge.transaction(() => knowledge.run(droppedSql.forget, base))
  }
}

function* clearRanges(knowledge: Knowledge, ranges: readonly Range[]): Generator<void, void> {
  const { tuple, run } = knowledge
  for (const { form } of ranges)
    for (;;) {
      const pieces = tuple(documentSql.countBlocks, form)?.[0] as number
      if (pieces === 0) break
      knowledge.transaction(() => run(documentSql.deleteBlocks, form, pieces - most.pieces, pieces))
      yield
    }
  const parts = partsOf(knowledge, ranges)
  yield* clearWords(knowledge, parts)
  knowledge.transaction(() => {
    for (const { range, end } of parts) {
      const { first, last, form, base, grp } = range
      run(vectorSql.delete, base, grp, first, end - 1)
      run(documentSql.deletePassages, first, end - 1)
      if (end <= last) run(documentSql.shrinkHidden, end, first)
      else {
        run(documentSql.show, first)
        run(postingSql.dropFresh, form)
      }
      knowledge.vectors.changed(base, grp)
    }
    knowledge.hiddenChanged()
  })
  yield
}

function partsOf({ tuples }: Knowledge, ranges: readonly Range[]): Part[] {
  const parts: Part[] = []
  let left = most.passages
  for (const range of ranges) {
    if (left <= 0) break
    const rows = tuples(documentSql.passages, range.first, range.last, left) as unknown as Part['passages']
    const isWhole = rows.length < left
    parts.push({ range, passages: rows, end: isWhole ? range.last + 1 : (rows.at(-1)?.[0] ?? 0) + 1 })
    left -= rows.length
  }
  return parts
}

/** Removes passages from the index, word by word. */
function* clearWords(knowledge: Knowledge, parts: readonly Part[]): Generator<void, void> {
  const places = new Map<string, Set<number>>()
  for (const { range, passages } of parts)
    for (const [number, words] of range.dropped === 1 ? [] : passages)
      for (const [word] of readCounts(words)) {
        const key = `${range.base} ${range.grp} ${word}`
        const known = places.get(key)
        if (known === undefined) places.set(key, new Set([number]))
        else known.add(number)
      }
  const all = [...places].sort(([one], [other]) => (one < other ? -1 : 1))
  for (let from = 0; from < all.length; from += most.words) {
    knowledge.transaction(() => {
      for (const [key, passages] of all.slice(from, from + most.words)) {
        const [base, group, word = ''] = key.split(' ')
        const place = { base: Number(base), group: Number(group), word }
        removePostings(knowledge, place, passages)
        knowledge.fresh.remove(place, passages)
      }
    })
    yield
  }
}
