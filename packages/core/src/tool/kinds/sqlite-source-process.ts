/** The child process of a SQLite query source: opens one file read-only, and answers one query at a time. */
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { constants, DatabaseSync } from 'node:sqlite'
import type { SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { distinctNames, rowTaker } from '../query-rows.ts'

/** The settings of the child, as JSON in its only argument. */
export interface SqliteProcessSettings {
  readonly file: string
  readonly timeoutMs: number
  readonly maxRows: number
  readonly maxBytes: number
}

/** A value ready for SQLite: lists are JSON text, and booleans are 0 or 1. */
export type SqliteInput = string | number | null

/** One request to the child; `statement` is a single statement with nothing around it. */
export interface SqliteRequest {
  readonly kind: 'check' | 'run'
  readonly statement: string
  readonly bindings: readonly (readonly [name: string, value: SqliteInput])[]
}

/** The child's reply: rows as lists in the order of `columns`, or a problem. `denied` means that the query would write. */
export type SqliteReply =
  | {
      readonly kind: 'rows'
      readonly columns: readonly string[]
      readonly rows: readonly (readonly unknown[])[]
      readonly truncated: boolean
    }
  | {
      readonly kind: 'problem'
      readonly problem: 'denied' | 'invalid' | 'unavailable'
      readonly detail: string
    }

/** What the child sends: `ready` once, then one reply per request. */
export type SqliteMessage = 'ready' | SqliteReply

const WATCH_GRACE_MS = 500
const WATCH_PULSE_MS = 50
const MAX_MEMORY_BYTES = 512 * 1024 * 1024
const DENIED_FUNCTIONS = new Set(['load_extension', 'readfile', 'writefile', 'edit', 'fts3_tokenizer'])
const SQLITE_ERROR = 1
const SQLITE_AUTH = 23

interface OpenFile {
  readonly database: DatabaseSync
  readonly identity: string
}

const settings = readSettings()
const pulse = isMainThread ? new Int32Array(new SharedArrayBuffer(4)) : (workerData as Int32Array)
let open: OpenFile | undefined
let denied = ''

if (isMainThread) serve()
else watch()

function readSettings(): SqliteProcessSettings {
  return JSON.parse(process.argv[2] ?? '{}') as SqliteProcessSettings
}

function serve(): void {
  process.on('disconnect', () => process.exit())
  process.on('SIGINT', () => undefined) // an interrupt at the terminal is the parent's to handle; its end ends this process
  process.on('message', (request: SqliteRequest) => {
    Atomics.add(pulse, 0, 1)
    Atomics.notify(pulse, 0)
    const reply = answer(request)
    Atomics.add(pulse, 0, 1)
    Atomics.notify(pulse, 0)
    process.send?.(reply satisfies SqliteMessage)
  })
  process.send?.('ready' satisfies SqliteMessage)
  new Worker(new URL(import.meta.url), { workerData: pulse, argv: process.argv.slice(2) }).unref()
}

/**
 * Runs beside the database, in a thread of its own. A running statement blocks the main thread, which then cannot notice
 * that the parent is gone or measure its memory. The pulse is odd while a request is being answered.
 */
function watch(): void {
  for (;;) {
    const seen = Atomics.load(pulse, 0)
    if (seen % 2 === 0) {
      Atomics.wait(pulse, 0, seen)
      continue
    }
    let pulsesLeft = (settings.timeoutMs + WATCH_GRACE_MS) / WATCH_PULSE_MS
    while (Atomics.wait(pulse, 0, seen, WATCH_PULSE_MS) === 'timed-out') {
      pulsesLeft -= 1
      if (pulsesLeft < 0 || process.memoryUsage.rss() > MAX_MEMORY_BYTES) process.kill(process.pid, 'SIGKILL')
    }
  }
}

function answer({ kind, statement, bindings }: SqliteRequest): SqliteReply {
  denied = ''
  try {
    const prepared = prepare(statement)
    if (kind === 'check') return { kind: 'rows', columns: [], rows: [], truncated: false }
    return { kind: 'rows', ...collect(prepared, bindings) }
  } catch (error) {
    return { kind: 'problem', ...explain(error) }
  }
}

function prepare(statement: string): StatementSync {
  const prepared = database().prepare(statement)
  if (prepared.sourceSQL !== statement) {
    denied = 'Only one SELECT is allowed; the database found a second statement.'
    throw new Error(denied)
  }
  prepared.setReadBigInts(true)
  prepared.setReturnArrays(true)
  prepared.setAllowBareNamedParameters(false)
  return prepared
}

/** The open file; reopened if another file has replaced it. */
function database(): DatabaseSync {
  const { dev, ino } = statSync(settings.file, { bigint: true })
  const identity = `${dev}:${ino}`
  if (open?.identity !== identity) {
    close()
    open = { database: openReadOnly(), identity }
  }
  return open.database
}

function close(): void {
  open?.database.close()
  open = undefined
}

function openReadOnly(): DatabaseSync {
  const database = new DatabaseSync(settings.file, {
    readOnly: true,
    allowExtension: false,
    defensive: true,
    enableDoubleQuotedStringLiterals: false,
    timeout: settings.timeoutMs,
  })
  database.exec('pragma query_only = on; pragma trusted_schema = off; pragma temp_store = memory')
  database.setAuthorizer(authorize)
  return database
}

/**
 * Allows reads only. Full-text tables use the pragma `data_version` on every read, so it is the one allowed pragma. The
 * tables `pragma_…` are refused by name, since SQLite itself would check only when they run.
 */
function authorize(action: number, first: string | null, second: string | null): number {
  const allowed =
    action === constants.SQLITE_SELECT ||
    action === constants.SQLITE_RECURSIVE ||
    (action === constants.SQLITE_READ && !first?.toLowerCase().startsWith('pragma_')) ||
    (action === constants.SQLITE_FUNCTION && !DENIED_FUNCTIONS.has(second?.toLowerCase() ?? '')) ||
    (action === constants.SQLITE_PRAGMA && first === 'data_version' && second === null)
  if (allowed) return constants.SQLITE_OK
  if (action === constants.SQLITE_FUNCTION) denied = `The function \`${second}\` is not allowed in a query.`
  else if (action === constants.SQLITE_PRAGMA || action === constants.SQLITE_READ)
    denied = `A query may only read; the pragma \`${first}\` is not allowed.`
  else denied = `A query may only read; this one would change ${first === null ? 'something' : `\`${first}\``}.`
  return constants.SQLITE_DENY
}

function collect(statement: StatementSync, bindings: SqliteRequest['bindings']) {
  const names: Record<string, SQLInputValue> = Object.create(null)
  for (const [name, value] of bindings) names[`$${name}`] = isWhole(value) ? BigInt(String(value)) : value
  const columns = distinctNames(statement.columns().map((column) => column.name))
  const rows: unknown[][] = []
  const taker = rowTaker(columns, settings, (cells) => rows.push(cells))
  // With setReturnArrays(true) a row is a list; the types do not know that.
  for (const row of statement.iterate(names) as Iterable<unknown> as Iterable<SQLOutputValue[]>) {
    if (!taker.take(row.map(plain))) return { columns, rows, truncated: true }
  }
  return { columns, rows, truncated: false }
}

/** Whether it is an integer for SQLite; its digits in JSON are what counts. */
function isWhole(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(value as number) < 2 ** 63
}

/** A value as JSON carries it: integers beyond 2^53 and infinities as text, bytes as base64. */
function plain(value: SQLOutputValue): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
  return value
}

function explain(error: unknown): { problem: 'denied' | 'invalid' | 'unavailable'; detail: string } {
  if (denied !== '') return { problem: 'denied', detail: denied }
  const { message = String(error), errcode, syscall, code } = error as Partial<Record<string, string | number>>
  if (errcode === SQLITE_AUTH) return { problem: 'denied', detail: String(message) }
  const isFileFault = syscall !== undefined || open === undefined
  if (!isFileFault && (errcode === undefined || errcode === SQLITE_ERROR)) {
    return { problem: 'invalid', detail: String(message) }
  }
  close()
  const reason = code === 'ENOENT' ? 'it does not exist' : syscall !== undefined ? code : message
  return {
    problem: 'unavailable',
    detail: `The database file \`${basename(settings.file)}\` cannot be read: ${reason}.`,
  }
}
