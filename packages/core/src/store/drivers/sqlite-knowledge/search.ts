/** Searches, in the thread of knowledge. */
import {
  addPosting,
  addWord,
  bestScores,
  createScores,
  emptyColumns,
  nearness,
  type PostingColumns,
  productOf,
  rankedOfEach,
  rarityOf,
  type Scores,
  type SeenPassages,
} from '../../../knowledge/ranking.ts'
import type { KnowledgeRecords, KnowledgeScope, PassagePlace, PassageRow } from '../../../knowledge/records.ts'
import { documentSql, groupSql, postingSql } from '../../sql/knowledge.ts'
import { aboutOf, type DocumentAbout } from './documents.ts'
import { type SeenBase, seenBases } from './groups.ts'
import type { Knowledge } from './open.ts'
import { unpackInto } from '../../postings.ts'

type WordSearch = Parameters<KnowledgeRecords['rankByWords']>[0]
type NearSearch = Parameters<KnowledgeRecords['rankByNearness']>[0]

/** The best passages by words. */
export function rankByWords(knowledge: Knowledge, { database, scopes, words, limit }: WordSearch): PassagePlace[] {
  const bases = seenBases(knowledge, database, scopes)
  const seen = seenPassages(knowledge, bases)
  if (seen.passages === 0) return []
  const scores = bases.map(() => createScores(seen.passages))
  const postings = bases.map(emptyColumns)
  const lists = bases.map(({ groups }) => (groups === null ? null : JSON.stringify([...groups])))
  for (const word of new Set(words)) {
    for (const [index, base] of bases.entries())
      readPostings(knowledge, base, { word, list: lists[index] ?? null, into: postings[index] as PostingColumns })
    const holders = postings.reduce((sum, { length }) => sum + length, 0)
    const by = { rarity: rarityOf(holders, seen), seen }
    for (const [index, of] of postings.entries()) addWord(scores[index] as Scores, of, by)
  }
  return placesOf(knowledge, scores, { scopes, limit })
}

function seenPassages({ get }: Knowledge, bases: readonly SeenBase[]): SeenPassages {
  let [passages, words] = [0, 0]
  for (const { base, groups } of bases) {
    const rows =
      groups === null ? [get(groupSql.count, base)] : Array.from(groups, (group) => get(groupSql.read, group))
    for (const row of rows) {
      passages += (row?.passages as number | undefined) ?? 0
      words += (row?.words as number | undefined) ?? 0
    }
  }
  return { passages, words }
}

/** Reads the postings of a word in place of those of the word before. `list`: the groups as JSON. What the search does not see is not touched. */
function readPostings(
  knowledge: Knowledge,
  { base, groups }: SeenBase,
  {
    word,
    list,
    into: postings,
  }: { readonly word: string; readonly list: string | null; readonly into: PostingColumns },
): void {
  const { tuples, isHidden, fresh } = knowledge
  postings.length = 0
  const found = new Set<number>()
  for (const posting of fresh.of({ base, word }, groups)) {
    if (isHidden(posting.passage)) continue
    found.add(posting.passage)
    addPosting(postings, posting.passage, [posting.count, posting.length])
  }
  const isKept = (passage: number) => !isHidden(passage) && !(found.size > 0 && found.has(passage))
  const rows = list === null ? tuples(postingSql.ofWord, base, word) : tuples(postingSql.ofGroups, base, word, list)
  for (const [first, data] of rows as unknown as readonly (readonly [number, Uint8Array])[]) {
    // What was being packed when a process was killed stands in both.
    unpackInto(postings, first, { data, isKept })
  }
}

/** The nearest passages. */
export function rankByNearness(knowledge: Knowledge, { database, scopes, vector, limit }: NearSearch): PassagePlace[] {
  const square = productOf(vector, vector)
  const all = seenBases(knowledge, database, scopes).map(({ base, groups }) => {
    const scores = createScores()
    for (const { passage, vector: other, square: otherSquare } of knowledge.vectors.of(knowledge, base, groups)) {
      if (other.length !== vector.length || knowledge.isHidden(passage)) continue
      scores.add(passage, nearness(productOf(vector, other), square, otherSquare))
    }
    return scores
  })
  return placesOf(knowledge, all, { scopes, limit })
}

interface Wanted {
  readonly scopes: readonly KnowledgeScope[]
  readonly limit: number
}

/** The places of the best of each base. */
function placesOf({ tuple }: Knowledge, scores: readonly Scores[], { scopes, limit }: Wanted) {
  const best = scores.flatMap((of) => bestScores(of, limit))
  const placed = best.map(({ passage, score }) => {
    const row = tuple(documentSql.placeOf, passage) as unknown as readonly [string, string, number]
    return [score, { base: row[0], document: row[1], place: row[2] }] as const
  })
  return [
    ...rankedOfEach(
      placed,
      scopes.map(({ base }) => base),
      limit,
    ),
  ]
}

/** These passages, as far as they are there and their scope sees them. */
export function readPassages(
  knowledge: Knowledge,
  at: { readonly database: string; readonly scopes: readonly KnowledgeScope[] },
  places: readonly PassagePlace[],
): PassageRow[] {
  const seen = new Map(seenBases(knowledge, at.database, at.scopes).map(({ base, groups }) => [base, groups]))
  return places.flatMap((of): readonly PassageRow[] => {
    const base = knowledge.baseOf(at.database, of.base)
    const groups = base === null ? undefined : seen.get(base)
    if (base === null || groups === undefined) return []
    const row = knowledge.get(documentSql.read, base, of.document)
    if (row === null || of.place >= (row.passages as number) || groups?.has(row.grp as number) === false) return []
    const passage = knowledge.get(documentSql.readPassage, (row.form as number) + of.place)
    if (passage === null) return []
    const [heading, text] = JSON.parse(passage.data as string) as readonly [string, string]
    const { title, uri }: DocumentAbout = aboutOf(row)
    const { base: id, document, place } = of
    return [{ base: id, document, place, title, uri, digest: row.digest as string, heading, text }]
  })
}
