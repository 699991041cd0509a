/** Opens an SQLite file of ours: exclusively, marked, configured and with its schema; and keeps its prepared statements. */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { isWitanError, WitanError } from '@witan/protocol'
import { boundedRows, type ReadBound } from '../../identity/row-page.ts'
import { isHeldElsewhere, unreachable } from './sqlite-error.ts'
import { nameHolder, readHolder } from './sqlite-lock.ts'
import type { Row, Tuple } from './sqlite-rows.ts'

/** How a file is opened. `synchronous: 'full'` survives a power cut, `'normal'` only the end of the process. */
export interface SqliteSettings {
  readonly file: string
  readonly synchronous: 'full' | 'normal'
  readonly now: () => number
}

/** What a file of ours holds. `migrate` runs once the file is ours alone, and brings any earlier version up to date. */
export interface FileSchema {
  /** The mark of such files. */
  readonly applicationId: number
  readonly version: number
  migrate(db: DatabaseSync): void
}

/** Statements of a file, each prepared once. */
export interface Statements {
  /** The first row. */
  get(sql: string, ...values: SQLInputValue[]): Row | null
  all(sql: string, ...values: SQLInputValue[]): readonly Row[]
  /** Like `all`, up to a bound. */
  some(bound: ReadBound | undefined, sql: string, ...values: SQLInputValue[]): readonly Row[]
  /** Like `get` and `all`, with columns by position. */
  tuple(sql: string, ...values: SQLInputValue[]): Tuple | null
  tuples(sql: string, ...values: SQLInputValue[]): readonly Tuple[]
  /** Like `tuples`, one after another. */
  each(sql: string, ...values: SQLInputValue[]): Iterable<Tuple>
  /** Like `tuples`, up to a bound. */
  someTuples(bound: ReadBound | undefined, sql: string, ...values: SQLInputValue[]): readonly Tuple[]
  /** Only inside a transaction. */
  run(sql: string, ...values: SQLInputValue[]): void
}

/** How many pages the write-ahead log may have before a commit moves them into the database file. */
export const pagesOfLog = 2_000
/** A database that no file holds. */
export const inMemory = ':memory:'
const tries = 5

/** Opens the file. Throws `STORE_LOCKED` with the holder's process id, `SCHEMA_TOO_NEW`, or `STORE_UNREACHABLE` for any other reason. */
export async function openFile(settings: SqliteSettings, schema: FileSchema): Promise<DatabaseSync> {
  const { file } = settings
  for (let attempt = 1; ; attempt += 1) {
    try {
      return openOnce(settings, schema)
    } catch (error) {
      if (isWitanError(error)) throw error
      if (!isHeldElsewhere(error)) throw unreachable(file, error)
      if (attempt === tries) throw heldError(file, error)
    }
    await sleep(20 + (process.pid % 30)) // two processes that start at once must not collide repeatedly
  }
}

function openOnce(settings: SqliteSettings, schema: FileSchema): DatabaseSync {
  const { file } = settings
  if (file !== inMemory) {
    mkdirSync(dirname(file), { recursive: true })
    if (!existsSync(file)) createPrivately(file)
  }
  const db = new DatabaseSync(file)
  try {
    configure(db, settings, schema)
    migrate(db, schema)
    if (file !== inMemory) nameHolder(file, { pid: process.pid, startedAt: new Date(settings.now()).toISOString() })
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Creates the file readable for its owner only. Never opens an existing file: closing it would drop this process's locks. */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error
  }
}

/** Run by `exec`, because a prepared pragma acts when it is prepared. The page size must come first and affects new files only. */
function configure(db: DatabaseSync, settings: SqliteSettings, schema: FileSchema): void {
  db.exec('pragma page_size = 2048')
  db.exec('pragma locking_mode = exclusive')
  assertOurs(db, settings.file, schema)
  db.exec('pragma journal_mode = wal')
  db.exec(`pragma synchronous = ${settings.synchronous}`)
  db.exec(`pragma wal_autocheckpoint = ${pagesOfLog}`)
  db.exec('pragma journal_size_limit = 16777216')
  db.exec('pragma cache_size = -16384')
  db.exec('pragma temp_store = memory')
}

/** Throws, before anything is changed, if the file belongs to another program or to a newer version. */
function assertOurs(db: DatabaseSync, file: string, { applicationId, version: known }: FileSchema): void {
  const mark = numberOf(db, 'pragma application_id')
  const isEmpty = numberOf(db, 'select count(*) from sqlite_schema') === 0
  if (mark !== applicationId && !isEmpty) throw foreignError(file)
  const version = versionOf(db)
  if (version > known) throw tooNewError(file, { version, known })
}

function migrate(db: DatabaseSync, schema: FileSchema): void {
  db.exec('begin immediate')
  const version = versionOf(db)
  schema.migrate(db)
  if (version < schema.version)
    db.exec(`pragma application_id = ${schema.applicationId}; pragma user_version = ${schema.version}`)
  db.exec('commit')
}

/** The version of the schema; 0 of a new file. */
export function versionOf(db: DatabaseSync): number {
  return numberOf(db, 'pragma user_version')
}

/** The first column of the first row. */
export function numberOf(db: DatabaseSync, sql: string): number {
  return Number(Object.values(db.prepare(sql).get() ?? {})[0])
}

/** The statements of an open file. */
export function statementsOf(db: DatabaseSync): Statements {
  const prepared = preparing((sql) => db.prepare(sql))
  const inOrder = preparing((sql) => {
    const statement = db.prepare(sql)
    statement.setReturnArrays(true)
    return statement
  })
  return {
    get: (sql, ...values) => (prepared(sql).get(...values) as Row | undefined) ?? null,
    all: (sql, ...values) => prepared(sql).all(...values) as Row[],
    some: (bound, sql, ...values) =>
      bound === undefined
        ? (prepared(sql).all(...values) as Row[])
        : boundedRows(prepared(sql).iterate(...values) as Iterable<Row>, bound, (row) => textIn(Object.values(row))),
    tuple: (sql, ...values) => (inOrder(sql).get(...values) as unknown as Tuple | undefined) ?? null,
    tuples: (sql, ...values) => inOrder(sql).all(...values) as unknown as Tuple[],
    each: (sql, ...values) => inOrder(sql).iterate(...values) as unknown as Iterable<Tuple>,
    someTuples: (bound, sql, ...values) =>
      bound === undefined
        ? (inOrder(sql).all(...values) as unknown as Tuple[])
        : boundedRows(inOrder(sql).iterate(...values) as unknown as Iterable<Tuple>, bound, textIn),
    run: (sql, ...values) => {
      // `run` of the driver makes an object of what has changed, which costs a fifth of an insertion and which nobody reads.
      prepared(sql).get(...values)
    },
  }
}

function preparing(prepare: (sql: string) => StatementSync): (sql: string) => StatementSync {
  const statements = new Map<string, StatementSync>()
  return (sql) => {
    const known = statements.get(sql)
    if (known !== undefined) return known
    const statement = prepare(sql)
    statements.set(sql, statement)
    return statement
  }
}

/** How many characters of text a row has. */
export function textIn(values: readonly unknown[]): number {
  let length = 0
  for (const value of values) if (typeof value === 'string') length += value.length
  return length
}

function heldError(file: string, cause: unknown): WitanError {
  const holder = readHolder(file)
  const who = holder === null ? 'another process' : `process ${holder.pid}, since ${holder.startedAt}`
  const hint = 'Stop that process, or give this one a file of its own.'
  const details = { file, pid: holder?.pid ?? null }
  return new WitanError('STORE_LOCKED', `The store file \`${file}\` is in use by ${who}.`, { hint, cause, details })
}

function tooNewError(
  file: string,
  { version, known }: { readonly version: number; readonly known: number },
): WitanError {
  const detail = `The store file \`${file}\` has schema ${version}; this version of Witan knows up to ${known}.`
  const hint = 'Use the newer version, or another file.'
  return new WitanError('SCHEMA_TOO_NEW', detail, { hint, details: { file, version, known } })
}

function foreignError(file: string): WitanError {
  const hint = 'Give the path of a store file, or one that does not exist yet.'
  return new WitanError('STORE_UNREACHABLE', `\`${file}\` is an SQLite file, but not a Witan store.`, {
    hint,
    details: { file },
  })
}
