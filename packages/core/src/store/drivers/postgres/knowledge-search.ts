/** Searches by words on PostgreSQL: packed postings are read, and ranked here as every store ranks them. */
import {
  addPosting,
  addWord,
  bestScores,
  createScores,
  emptyColumns,
  type PostingColumns,
  rankedOfEach,
  rarityOf,
  type Scores,
  type SeenPassages,
} from '../../../knowledge/ranking.ts'
import { pause } from '../../../identity/turn.ts'
import {
  comparedValues,
  type KnowledgeRecords,
  type KnowledgeScope,
  type PassagePlace,
  type PassageRow,
} from '../../../knowledge/records.ts'
import { unpackInto } from '../../postings.ts'
import { searchSql, seenGroups } from '../../sql/postgres/knowledge.ts'
import type { Transaction } from './connection.ts'
import { valueDigest } from './knowledge-forms.ts'
import { passageNumber, passagePlace } from './knowledge-index.ts'
import type { PostgresSession } from './session.ts'
import type { Row, Statement } from './statements.ts'
import { stored } from './text.ts'

/** What a search sees of a base. */
export interface SeenBase {
  readonly base: string
  /** The groups with their versions. */
  readonly groups: ReadonlyMap<number, number>
  readonly isWhole: boolean
  readonly seen: SeenPassages
}

/** Reads in one snapshot, in several round trips. */
export function reading<Result>(
  session: PostgresSession,
  database: string,
  work: (send: Transaction['send']) => Promise<Result>,
): Promise<Result> {
  return session.transaction(database, ({ send }) => work(send), { snapshot: true, pool: 'read' })
}

/** What scopes see, each base once. A base that two scopes name is seen as far as one of them sees it. */
export async function seenBases(
  send: Transaction['send'],
  database: string,
  scopes: readonly KnowledgeScope[],
): Promise<SeenBase[]> {
  const results = await send(scopes.map((scope) => seenQuery(database, scope)))
  const bases = new Map<string, SeenBase>()
  for (const [index, { base, filter }] of scopes.entries()) {
    const row = results[index]?.[0]
    const found = { base, groups: groupsOf(row), isWhole: filter.length === 0, seen: row as unknown as SeenPassages }
    const known = bases.get(base)
    if (known === undefined || found.isWhole) bases.set(base, found)
    else if (!known.isWhole) bases.set(base, await united(send, database, [known, found]))
  }
  return [...bases.values()]
}

function seenQuery(database: string, { base, filter }: KnowledgeScope): Statement {
  const values = filter.flatMap((one) => [
    one.name,
    one.values.flatMap((value) => comparedValues(value).map(valueDigest)),
  ])
  return [seenGroups(filter.length), database, base, ...values]
}

function groupsOf(row: Row | undefined): Map<number, number> {
  const text = (row?.groups as string | null) ?? ''
  const pairs = text === '' ? [] : text.split(',').map((pair) => pair.split(' ').map(Number))
  return new Map(pairs as unknown as readonly (readonly [number, number])[])
}

async function united(send: Transaction['send'], database: string, [one, other]: readonly [SeenBase, SeenBase]) {
  const groups = new Map([...one.groups, ...other.groups])
  const sum = `select coalesce(sum(passages), 0)::bigint as passages, coalesce(sum(words), 0)::bigint as words
from {s}.knowledge_groups where database = $1 and base = $2 and number = any($3)`
  const [[row] = []] = await send([[sum, database, one.base, [...groups.keys()]]])
  return { base: one.base, groups, isWhole: false, seen: row as unknown as SeenPassages }
}

/** The best passages by words. */
export function rankByWords(
  session: PostgresSession,
  search: Parameters<KnowledgeRecords['rankByWords']>[0],
): Promise<readonly PassagePlace[]> {
  const { scopes, limit } = search
  const database = stored(search.database)
  const words = [...new Set(search.words)]
  return reading(session, database, async (send) => {
    const bases = await seenBases(send, database, scopes)
    const seen = bases.reduce(
      (sum, one) => ({ passages: sum.passages + one.seen.passages, words: sum.words + one.seen.words }),
      { passages: 0, words: 0 },
    )
    if (seen.passages === 0 || words.length === 0) return []
    const results = await send(bases.flatMap((base) => postingQueries(database, base, words)))
    const gathered: ReadonlyMap<string, PostingColumns>[] = []
    for (let at = 0; at < results.length; at += 3) gathered.push(await gather(words, results.slice(at, at + 3)))
    const scores = gathered.map(() => createScores(seen.passages))
    for (const word of words) {
      const holders = gathered.reduce((sum, of) => sum + (of.get(word)?.length ?? 0), 0)
      const by = { rarity: rarityOf(holders, seen), seen }
      for (const [index, of] of gathered.entries()) {
        const all = of.get(word) ?? emptyColumns()
        for (let from = 0; from < all.length; from += postingsAtOnce) {
          await pause()
          addWord(scores[index] as Scores, all, { ...by, from, to: from + postingsAtOnce })
        }
      }
    }
    return placesOf(send, scores, { database, scopes, limit })
  })
}

/** How many postings are ranked without a pause. */
const postingsAtOnce = 5_000

function postingQueries(database: string, { base, groups, isWhole }: SeenBase, words: readonly string[]): Statement[] {
  const numbers = isWhole ? null : [...groups.keys()]
  return [
    numbers === null
      ? [searchSql.postings, database, base, words]
      : [searchSql.postingsOf, database, base, words, numbers],
    [searchSql.fresh, database, base, words, numbers],
    [searchSql.hidden, database, base, numbers],
  ]
}

/** The postings of one base, by word. */
async function gather(
  words: readonly string[],
  [packs = [], fresh = [], gone = []]: readonly (readonly Row[])[],
): Promise<ReadonlyMap<string, PostingColumns>> {
  const postings = new Map(words.map((word): [string, PostingColumns] => [word, emptyColumns()]))
  const hidden = new Set(gone.map(({ form }) => form as number))
  const isKept = hidden.size === 0 ? null : (passage: number) => !hidden.has(passagePlace(passage).form)
  for (const { word, first, data } of packs) {
    await pause()
    const list = postings.get(word as string)
    if (list !== undefined) unpackInto(list, first as number, { data: data as Uint8Array, isKept })
  }
  for (const row of fresh) {
    const passage = passageNumber(row.form as number, row.place as number)
    for (const [index, count] of (row.counts as readonly number[]).entries()) {
      const list = postings.get(words[index] as string)
      if (count > 0 && list !== undefined) addPosting(list, passage, [count, row.length as number])
    }
  }
  return postings
}

/** The places of the best of each base by their scores. */
export async function placesOf(
  send: Transaction['send'],
  scores: readonly Scores[],
  {
    database,
    scopes,
    limit,
  }: { readonly database: string; readonly scopes: readonly KnowledgeScope[]; readonly limit: number },
): Promise<readonly PassagePlace[]> {
  const best = scores.flatMap((of) => bestScores(of, limit))
  const forms = [...new Set(best.map(({ passage }) => passagePlace(passage).form))]
  const [rows = []] = await send([[searchSql.keys, database, forms]])
  const documents = new Map(rows.map((row) => [row.form as number, row]))
  const placed = best.flatMap(({ passage, score }) => {
    const { form, place } = passagePlace(passage)
    const row = documents.get(form)
    return row === undefined ? [] : [[score, { base: row.base as string, document: row.key as string, place }] as const]
  })
  return rankedOfEach(
    placed,
    scopes.map(({ base }) => base),
    limit,
  )
}

/** These passages, as far as they are there and their scope sees them. */
export function readPassages(
  session: PostgresSession,
  at: { readonly database: string; readonly scopes: readonly KnowledgeScope[] },
  places: readonly PassagePlace[],
): Promise<readonly PassageRow[]> {
  const database = stored(at.database)
  return reading(session, database, async (send) => {
    const bases = await seenBases(send, database, at.scopes)
    const results = await send(
      bases.map(({ base }): Statement => {
        const own = places.filter((place) => place.base === base)
        return [searchSql.passages, database, base, own.map((one) => stored(one.document)), own.map((one) => one.place)]
      }),
    )
    const found = new Map<string, PassageRow>()
    for (const [index, { base, groups }] of bases.entries())
      for (const row of results[index] ?? [])
        if (groups.has(row.grp as number))
          found.set(nameOf({ base, document: row.key as string, place: row.place as number }), passageOf(base, row))
    return places.flatMap((place) => found.get(nameOf(place)) ?? [])
  })
}

function nameOf({ base, document, place }: PassagePlace): string {
  return JSON.stringify([base, document, place])
}

function passageOf(base: string, row: Row): PassageRow {
  const { title, uri } = JSON.parse(row.about as string) as Pick<PassageRow, 'title' | 'uri'>
  const [heading, text] = JSON.parse(row.data as string) as readonly [string, string]
  const [document, place, digest] = [row.key as string, row.place as number, row.digest as string]
  return { base, document, place, title, uri, digest, heading, text }
}
