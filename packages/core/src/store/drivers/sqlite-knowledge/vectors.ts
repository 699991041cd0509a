/** The vectors of groups, kept in memory between searches while they fit. A search reads those of the groups that it sees, and of no others. */
import { productOf } from '../../../knowledge/ranking.ts'
import { groupSql, vectorSql } from '../../sql/knowledge.ts'
import type { Statements } from '../sqlite-file.ts'

/** A vector of a passage, and the square of its length. */
interface PassageVector {
  readonly passage: number
  readonly vector: Int8Array
  readonly square: number
}

/** How many bytes of vectors are kept. A group with more is read again for each search. */
const mostBytes = 64_000_000

/** The vectors of groups. */
export interface VectorCache {
  /** All vectors of these groups of a base, null for all, hidden ones among them. They are read to their end before the next call. */
  of(statements: Statements, base: number, groups: ReadonlySet<number> | null): Iterable<PassageVector>
  /** The vectors of a group of a base have changed. Bases have numbers of their own for ever, groups have not. */
  changed(base: number, group: number): void
}

/** What an entry costs beside its vector. */
const entryBytes = 200

interface Kept {
  readonly vectors: readonly PassageVector[]
  readonly bytes: number
}

/** Nothing is kept yet. The group that was read longest ago goes first. */
export function createVectorCache(): VectorCache {
  const kept = new Map<string, Kept>()
  let sum = 0
  const forget = (key: string) => {
    sum -= kept.get(key)?.bytes ?? 0
    kept.delete(key)
  }
  const keep = (key: string, one: Kept) => {
    forget(key)
    kept.set(key, one)
    sum += one.bytes
    for (const other of kept.keys()) {
      if (sum <= mostBytes) return
      forget(other)
    }
  }
  function* ofGroup(statements: Statements, base: number, group: number) {
    const key = `${base} ${group}`
    const known = kept.get(key)
    if (known !== undefined) {
      kept.delete(key)
      kept.set(key, known)
      yield* known.vectors
      return
    }
    const vectors: PassageVector[] = []
    let bytes = entryBytes
    for (const row of statements.each(vectorSql.list, base, group)) {
      const one = vectorOf(row as unknown as readonly [number, Uint8Array])
      bytes += one.vector.byteLength + entryBytes
      if (bytes <= mostBytes) vectors.push(one)
      else vectors.length = 0
      yield one
    }
    if (bytes <= mostBytes) keep(key, { vectors, bytes })
  }
  return {
    *of(statements, base, groups) {
      const seen = groups ?? statements.tuples(groupSql.listOf, base).map(([group]) => group as number)
      for (const group of seen) yield* ofGroup(statements, base, group)
    },
    changed: (base, group) => forget(`${base} ${group}`),
  }
}

function vectorOf([passage, blob]: readonly [number, Uint8Array]): PassageVector {
  const vector = new Int8Array(blob.buffer, blob.byteOffset, blob.byteLength)
  return { passage, vector, square: productOf(vector, vector) }
}
