/** A query source over one SQLite file, read by a child process, because only a kill can stop a running statement [D16]. */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { namedRows } from '../query-rows.ts'
import { placeholderNames, placeOfWord, readQueryText, SQLITE_LEXIS } from '../query-text.ts'
import { QUERY_LIMITS, reasonOf } from '../source.ts'
import type { BoundQuery, QueryCheck, QueryFailure, QueryResult, QuerySource, QueryValue } from '../source.ts'
import type {
  SqliteInput,
  SqliteMessage,
  SqliteProcessSettings,
  SqliteReply,
  SqliteRequest,
} from './sqlite-source-process.ts'

/** The file, and limits other than {@link QUERY_LIMITS}. A relative path is resolved once, here. */
export interface SqliteSourceOptions {
  readonly file: string
  readonly timeoutMs?: number
  readonly maxRows?: number
  readonly maxBytes?: number
}

type Answer = SqliteReply | QueryFailure

interface Waiting {
  readonly question: SqliteRequest
  readonly settle: (answer: Answer) => void
}

/** The state of one source. The head of the queue is the request that its child is answering, or is being started for. */
interface State {
  readonly settings: SqliteProcessSettings
  readonly queue: Waiting[]
  /** Every child that may still exist, including killed ones. */
  readonly living: Map<ChildProcess, Promise<void>>
  child: ChildProcess | undefined
  isReady: boolean
  isClosed: boolean
  /** The time limit of the head of the queue, or the idle limit if the queue is empty. */
  timer: NodeJS.Timeout | undefined
}

const MAX_WAITING = 100
const START_LIMIT_MS = 30_000
const IDLE_MS = 60_000
const CHILD_MEMORY_MB = 128
const KEPT_ENVIRONMENT = ['SystemRoot', 'TZ']

const CLOSED = failure('failed', 'The source is closed.')
const ABORTED = failure('aborted', 'The query was stopped.')
const BUSY = failure('failed', `The source is busy: ${MAX_WAITING} queries wait already.`)

/**
 * Creates a source; nothing is opened yet. The child starts with the first query, ends after an idle minute, and never
 * keeps the process alive. Queries are answered in order; the time limit counts from a query's own turn. Lists are bound as
 * JSON text, for `in (select value from json_each($ids))`; booleans as 0 and 1. Integers beyond 2^53 are returned as text,
 * blobs as base64.
 */
export function createSqliteSource(options: SqliteSourceOptions): QuerySource {
  const { timeoutMs, maxRows, maxBytes } = { ...QUERY_LIMITS, ...options }
  const state: State = {
    settings: { file: resolve(options.file), timeoutMs, maxRows, maxBytes },
    queue: [],
    living: new Map(),
    child: undefined,
    isReady: false,
    isClosed: false,
    timer: undefined,
  }
  return {
    kind: 'sqlite',
    check: (sql) => check(sql, state),
    run: (query, { signal }) => run(query, state, signal),
    close: () => close(state),
  }
}

async function check(sql: string, state: State): Promise<QueryCheck> {
  const text = readQueryText(sql, SQLITE_LEXIS)
  const [mistake] = text.mistakes
  if (mistake !== undefined) return { ok: false, ...mistake }
  const answer = await ask({ kind: 'check', statement: text.statement, bindings: [] }, state)
  const placeholders = placeholderNames(text)
  if ('ok' in answer) return { ok: false, problem: 'unavailable', detail: answer.detail, placeholders }
  if (answer.kind === 'rows') return { ok: true, placeholders }
  const { problem, detail } = answer
  if (problem === 'unavailable') return { ok: false, problem, detail, placeholders }
  const word = /^near "(.+)": |^no such \w+: (?:\w+\.)?(\S+)|`(.+)`/.exec(detail)
  const place = placeOfWord(sql, word?.[1] ?? word?.[2] ?? word?.[3] ?? '', SQLITE_LEXIS)
  return { ok: false, problem: problem === 'denied' ? 'not-read-only' : 'invalid', detail, ...place }
}

async function run(query: BoundQuery, state: State, signal: AbortSignal): Promise<QueryResult> {
  const text = readQueryText(query.sql, SQLITE_LEXIS)
  const [mistake] = text.mistakes
  if (mistake !== undefined) return failure(reasonOf(mistake), mistake.detail)
  const bindings: [string, SqliteInput][] = []
  for (const name of placeholderNames(text)) {
    const value = query.bindings.get(name)
    if (value === undefined) return failure('unbound', `\`$${name}\` has no value; NULL must be given as null.`)
    const input = toInput(value)
    if (input === undefined) return failure('unfit', `\`$${name}\` must be finite numbers and well-formed text.`)
    bindings.push([name, input])
  }
  const answer = await ask({ kind: 'run', statement: text.statement, bindings }, state, signal)
  if ('ok' in answer) return answer
  if (answer.kind === 'problem') return failure(answer.problem === 'denied' ? 'not-read-only' : 'failed', answer.detail)
  const { columns, truncated } = answer
  return { ok: true, rows: namedRows(columns, answer.rows), truncated }
}

/** Undefined for a value that SQLite would change silently: NaN would become NULL, a lone surrogate U+FFFD. */
function toInput(value: QueryValue): SqliteInput | undefined {
  if (typeof value === 'object' && value !== null) {
    return value.every((item) => toInput(item) !== undefined) ? JSON.stringify(value) : undefined
  }
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return value === null || value.isWellFormed() ? value : undefined
}

function failure(reason: QueryFailure['reason'], detail: string): QueryFailure {
  return { ok: false, reason, detail }
}

/** Sends the request to the child after all earlier requests. Never rejects. */
function ask(question: SqliteRequest, state: State, signal?: AbortSignal): Promise<Answer> {
  if (state.isClosed) return Promise.resolve(CLOSED)
  if (signal?.aborted) return Promise.resolve(ABORTED)
  if (state.queue.length >= MAX_WAITING) return Promise.resolve(BUSY)
  return new Promise((answered) => {
    const abort = () => drop(state, waiting, ABORTED)
    const settle = (answer: Answer) => {
      signal?.removeEventListener('abort', abort)
      answered(answer)
    }
    const waiting = { question, settle }
    signal?.addEventListener('abort', abort)
    state.queue.push(waiting)
    if (state.queue.length === 1) turn(state)
  })
}

async function close(state: State): Promise<void> {
  state.isClosed = true
  kill(state)
  for (const { settle } of state.queue.splice(0)) settle(CLOSED)
  for (const child of state.living.keys()) child.ref() // else this process may end before its children have
  await Promise.all(state.living.values())
}

/** Processes the head of the queue: starts its child, or sends its request. */
function turn(state: State): void {
  clearTimeout(state.timer)
  const [head] = state.queue
  if (head === undefined) state.timer = setTimeout(() => kill(state), IDLE_MS).unref()
  else if (state.child === undefined) start(state, head)
  else if (state.isReady) {
    const { timeoutMs } = state.settings
    limit(state, timeoutMs, failure('timeout', `stopped after ${timeoutMs / 1000} s`))
    state.child.send(head.question)
  }
}

/** The child itself does not keep the process alive. This timer does, so that the last request is still answered. */
function limit(state: State, limitMs: number, late: QueryFailure): void {
  const [head] = state.queue
  state.timer = setTimeout(() => head && drop(state, head, late), limitMs)
}

function start(state: State, head: Waiting): void {
  try {
    const child = startChild(state.settings)
    state.child = child
    state.isReady = false
    child.on('message', (message: SqliteMessage) => receive(state, child, message))
    const gone = untilGone(child).then((how) => lose(state, child, how))
    state.living.set(child, gone)
    limit(state, START_LIMIT_MS, failure('failed', 'The process that reads the database did not start.'))
  } catch (error) {
    drop(state, head, failure('failed', `The process that reads the database cannot start: ${String(error)}`))
  }
}

function receive(state: State, child: ChildProcess, message: SqliteMessage): void {
  if (child !== state.child) return
  if (message === 'ready') state.isReady = true
  else state.queue.shift()?.settle(message)
  turn(state)
}

function lose(state: State, child: ChildProcess, how: string): void {
  state.living.delete(child)
  if (child !== state.child) return
  state.child = undefined
  const detail = `The process that reads the database ended (${how}); a query may take 512 MB of memory, no more.`
  state.queue.shift()?.settle(failure('failed', detail))
  turn(state)
}

/** Removes a request from the queue. If the child is answering it, the child is killed. */
function drop(state: State, waiting: Waiting, answer: QueryFailure): void {
  const index = state.queue.indexOf(waiting)
  if (index < 0) return
  state.queue.splice(index, 1)
  if (index === 0) kill(state)
  waiting.settle(answer)
  if (index === 0) turn(state)
}

function kill(state: State): void {
  clearTimeout(state.timer)
  const { child } = state
  state.child = undefined
  child?.kill('SIGKILL')
}

/** The child gets no environment, no debugger and no file except the channel. */
function startChild(settings: SqliteProcessSettings): ChildProcess {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const script = fileURLToPath(new URL(`./sqlite-source-process.${extension}`, import.meta.url))
  const kept = KEPT_ENVIRONMENT.map((name) => [name, process.env[name]]).filter(([, value]) => value !== undefined)
  const child = fork(script, [JSON.stringify(settings)], {
    env: Object.fromEntries(kept),
    execArgv: [`--max-old-space-size=${CHILD_MEMORY_MB}`],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  child.unref()
  child.channel?.unref()
  return child
}

/** Resolves when the child is gone or never existed. A message that cannot be sent means that the child is ending. */
function untilGone(child: ChildProcess): Promise<string> {
  return new Promise((gone) => {
    child.once('exit', (code, signal) => gone(signal ?? `code ${code}`))
    child.on('error', (error) => {
      if (child.pid === undefined) gone(error.message)
      else child.kill('SIGKILL')
    })
  })
}
