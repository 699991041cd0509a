/** The open file of knowledge, in its thread: schema, statements, and which passages are hidden. */
import type { DatabaseSync } from 'node:sqlite'
import { documentSql, groupSql, ingestSql, knowledgeMigrations } from '../../sql/knowledge.ts'
import {
  type FileSchema,
  openFile,
  type SqliteSettings,
  type Statements,
  statementsOf,
  versionOf,
} from '../sqlite-file.ts'
import { forgetHolder } from '../sqlite-lock.ts'
import { type Fresh, readFresh } from './fresh.ts'
import { createVectorCache, type VectorCache } from './vectors.ts'

/** The mark of a file of knowledge: `WITK`. */
const schema: FileSchema = { applicationId: 0x5749544b, version: knowledgeMigrations.length, migrate }

/** The open file. */
export interface Knowledge extends Statements {
  readonly db: DatabaseSync
  readonly vectors: VectorCache
  /** Postings that are not packed yet. */
  readonly fresh: Fresh
  /** Runs work in one transaction; inside a group, as a part of it that fails alone. */
  transaction<Result>(work: () => Result): Result
  /** Runs work, whose transactions are committed together. Only one that `isDurable` waits for the disk. If it throws, none is stored. */
  group(isDurable: boolean, work: () => void): void
  /** Unused numbers for so many passages; one at least. */
  takeNumbers(count: number): number
  /** Whether a passage belongs to no form that is found: its own is not complete yet, or out of date. */
  isHidden(passage: number): boolean
  /** What is hidden has changed. */
  hiddenChanged(): void
  /** The number of a base; null if it has nothing. */
  baseOf(database: string, id: string): number | null
  close(): void
}

/** Opens the file. Documents that a process of before held can be claimed at once. */
export async function openKnowledge(settings: SqliteSettings): Promise<Knowledge> {
  const db = await openFile(settings, schema)
  db.exec('pragma secure_delete = on')
  const statements = statementsOf(db)
  let next = statements.tuple(documentSql.nextNumber)?.[0] as number
  let fresh = readFresh(statements)
  let synchronous = settings.synchronous
  let hidden: readonly (readonly [first: number, last: number])[] | null = null
  return {
    db,
    ...statements,
    vectors: createVectorCache(),
    get fresh() {
      return fresh
    },
    transaction(work) {
      const isPart = db.isTransaction
      db.exec(isPart ? 'savepoint part' : 'begin immediate')
      try {
        const result = work()
        db.exec(isPart ? 'release part' : 'commit')
        return result
      } catch (error) {
        hidden = null
        if (db.isTransaction) db.exec(isPart ? 'rollback to part; release part' : 'rollback')
        throw error
      }
    },
    group(isDurable, work) {
      const wanted = isDurable ? settings.synchronous : 'normal'
      if (wanted !== synchronous) db.exec(`pragma synchronous = ${wanted}`)
      synchronous = wanted
      db.exec('begin immediate')
      try {
        work()
        db.exec('commit')
      } catch (error) {
        if (db.isTransaction) db.exec('rollback')
        hidden = null
        fresh = readFresh(statements)
        throw error
      }
    },
    takeNumbers(count) {
      const first = next
      next += Math.max(1, count)
      return first
    },
    isHidden(passage) {
      hidden ??= statements.tuples(documentSql.listHidden) as unknown as readonly (readonly [number, number])[]
      return hidden.length > 0 && isWithin(hidden, passage)
    },
    hiddenChanged() {
      hidden = null
    },
    baseOf: (database, id) => (statements.tuple(groupSql.findBase, database, id)?.[0] as number | undefined) ?? null,
    close() {
      db.exec('pragma wal_checkpoint(truncate)')
      forgetHolder(settings.file)
      db.close()
    },
  }
}

function migrate(db: DatabaseSync): void {
  for (const migration of knowledgeMigrations.slice(versionOf(db))) db.exec(migration)
  db.exec(ingestSql.releaseAll)
  db.exec(ingestSql.dropDrafts)
}

/** Whether one of the ranges, which are in order and apart, has the number. */
function isWithin(ranges: readonly (readonly [first: number, last: number])[], number: number): boolean {
  let [low, high] = [0, ranges.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ranges[middle] as readonly [number, number])[0] <= number) low = middle + 1
    else high = middle
  }
  const range = ranges[low - 1]
  return range !== undefined && number <= range[1]
}
