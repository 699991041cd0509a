/** Searches by nearness on PostgreSQL: vectors are kept by group while they fit, and scanned here. */
import { createScores, nearness, productOf, type Scores } from '../../../knowledge/ranking.ts'
import { pause } from '../../../identity/turn.ts'
import type { KnowledgeRecords, PassagePlace } from '../../../knowledge/records.ts'
import { searchSql } from '../../sql/postgres/knowledge.ts'
import type { Transaction } from './connection.ts'
import { passageNumber } from './knowledge-index.ts'
import { placesOf, reading, type SeenBase, seenBases } from './knowledge-search.ts'
import type { PostgresSession } from './session.ts'
import type { Row } from './statements.ts'
import { stored } from './text.ts'

interface PassageVector {
  readonly passage: number
  readonly vector: Int8Array
  readonly square: number
}

interface Kept {
  readonly version: number
  readonly vectors: PassageVector[]
  bytes: number
}

/** How many bytes of vectors are kept, and what an entry costs beside its vector. */
const [mostBytes, entryBytes] = [64_000_000, 200]
/** How many vectors are read at once. */
const rowsAtOnce = 1_000

/** Vectors of groups, by their number and version: a group of another version has changed. */
interface VectorCache {
  get(database: string, group: number, version: number): readonly PassageVector[] | undefined
  put(database: string, group: number, kept: Kept): void
}

/** Nothing is kept yet. The group that was read longest ago goes first. */
export function createVectorCache(): VectorCache {
  const kept = new Map<string, Kept>()
  let bytes = 0
  const forget = (key: string) => {
    bytes -= kept.get(key)?.bytes ?? 0
    kept.delete(key)
  }
  return {
    get(database, group, version) {
      const key = `${group} ${database}`
      const known = kept.get(key)
      if (known === undefined || known.version !== version) return undefined
      kept.delete(key)
      kept.set(key, known)
      return known.vectors
    },
    put(database, group, one) {
      const key = `${group} ${database}`
      forget(key)
      if (one.bytes > mostBytes) return
      kept.set(key, one)
      bytes += one.bytes
      for (const other of kept.keys()) {
        if (bytes <= mostBytes) break
        forget(other)
      }
    },
  }
}

/** The nearest passages. */
export function rankByNearness(
  session: PostgresSession,
  cache: VectorCache,
  { scopes, limit, vector, ...search }: Parameters<KnowledgeRecords['rankByNearness']>[0],
): Promise<readonly PassagePlace[]> {
  const database = stored(search.database)
  const square = productOf(vector, vector)
  return reading(session, database, async (send) => {
    const all: Scores[] = []
    const score = async (scores: Scores, vectors: readonly PassageVector[]) => {
      for (const one of vectors) {
        await pause()
        if (one.vector.length !== vector.length) continue
        scores.add(one.passage, nearness(productOf(vector, one.vector), square, one.square))
      }
    }
    for (const base of await seenBases(send, database, scopes)) {
      const scores = createScores()
      all.push(scores)
      const missing = new Map<number, number>()
      for (const [group, version] of base.groups) {
        const known = cache.get(database, group, version)
        if (known === undefined) missing.set(group, version)
        else await score(scores, known)
      }
      for await (const vectors of read(send, { database, cache, ...base, groups: missing }))
        await score(scores, vectors)
    }
    return placesOf(send, all, { database, scopes, limit })
  })
}

interface Reading extends Pick<SeenBase, 'base' | 'groups'> {
  readonly database: string
  readonly cache: VectorCache
}

/** Reads the vectors of groups a part at a time, and keeps them. */
async function* read(send: Transaction['send'], { database, base, groups, cache }: Reading) {
  const fresh = new Map(
    Array.from(groups, ([group, version]): [number, Kept] => [group, { version, vectors: [], bytes: 0 }]),
  )
  const numbers = [...groups.keys()]
  let last: readonly [number, number, number] = [0, -1, -1]
  for (let isMore = numbers.length > 0; isMore; ) {
    const [rows = []] = await send([[searchSql.vectors, database, base, numbers, ...last, rowsAtOnce]])
    isMore = rows.length === rowsAtOnce
    const part = rows.map((row) => {
      const one = vectorOf(row)
      const kept = fresh.get(row.grp as number)
      if (kept !== undefined) {
        kept.bytes += one.vector.byteLength + entryBytes
        if (kept.bytes <= mostBytes) kept.vectors.push(one)
        else kept.vectors.length = 0
      }
      return one
    })
    const end = rows.at(-1)
    if (end !== undefined) last = [end.grp as number, end.form as number, end.place as number]
    yield part
  }
  for (const [group, kept] of fresh) cache.put(database, group, kept)
}

function vectorOf(row: Row): PassageVector {
  const bytes = row.vector as Uint8Array
  const vector = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength).slice()
  return { passage: passageNumber(row.form as number, row.place as number), vector, square: productOf(vector, vector) }
}
