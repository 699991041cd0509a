/** The vectors of bases, kept in memory between searches while they fit. */
import { productOf } from '../../../knowledge/ranking.ts'
import { vectorSql } from '../../sql/knowledge.ts'
import type { Statements } from '../sqlite-file.ts'

/** A vector of a passage, and the square of its length. */
interface PassageVector {
  readonly passage: number
  readonly group: number
  readonly vector: Int8Array
  readonly square: number
}

/** How many bytes of vectors are kept. A base with more is read again for each search. */
const mostBytes = 64_000_000

/** The vectors of bases. */
export interface VectorCache {
  /** All vectors of a base, hidden ones among them. They are read to their end before the next call. */
  of(statements: Statements, base: number): Iterable<PassageVector>
  /** The vectors of a base have changed. */
  changed(base: number): void
}

/** What an entry costs beside its vector. */
const entryBytes = 200

/** Nothing is kept yet. The base that was read longest ago goes first. */
export function createVectorCache(): VectorCache {
  const kept = new Map<number, { readonly vectors: readonly PassageVector[]; readonly bytes: number }>()
  const keep = (base: number, vectors: readonly PassageVector[], bytes: number) => {
    let sum = bytes
    for (const one of kept.values()) sum += one.bytes
    for (const [other, one] of kept) {
      if (sum <= mostBytes) break
      kept.delete(other)
      sum -= one.bytes
    }
    kept.set(base, { vectors, bytes })
  }
  return {
    *of(statements, base) {
      const known = kept.get(base)
      if (known !== undefined) {
        kept.delete(base)
        kept.set(base, known)
        yield* known.vectors
        return
      }
      const vectors: PassageVector[] = []
      let bytes = 0
      for (const row of statements.each(vectorSql.list, base)) {
        const one = vectorOf(row as unknown as readonly [number, number, Uint8Array])
        bytes += one.vector.byteLength + entryBytes
        if (bytes <= mostBytes) vectors.push(one)
        else vectors.length = 0
        yield one
      }
      if (bytes <= mostBytes) keep(base, vectors, bytes)
    },
    changed(base) {
      kept.delete(base)
    },
  }
}

function vectorOf([passage, group, blob]: readonly [number, number, Uint8Array]): PassageVector {
  const vector = new Int8Array(blob.buffer, blob.byteOffset, blob.byteLength)
  return { passage, group, vector, square: productOf(vector, vector) }
}
