/** A query source over a PostgreSQL database that uses read-only transactions [D16, Rb42]. */
import { WitanError } from '@witan/protocol'
import type { Pool } from 'pg'
import { POSTGRES_LEXIS, placeOfWord, readQueryText } from '../query-text.ts'
import { QUERY_LIMITS, reasonOf } from '../source.ts'
import type { BoundQuery, QueryCheck, QueryFailure, QueryMistake, QueryResult, QuerySource } from '../source.ts'
import { explain, failure, late, unreached } from './postgres-source-error.ts'
import { judge, type Learnt, read } from './postgres-source-read.ts'
import {
  beginSession,
  cut,
  releaseSession,
  MAX_CONNECTIONS,
  openPool,
  type PostgresSettings,
  type Session,
} from './postgres-source-session.ts'
import { findEffect, type PostgresText, postgresText } from './postgres-source-text.ts'

/** The database, limits other than {@link QUERY_LIMITS}, and the time limit for opening a connection: 5 seconds. */
export interface PostgresSourceOptions {
  /** `postgres://user:password@host:5432/database`. The `PG…` variables supply missing parts. No error contains it. */
  readonly url: string
  readonly timeoutMs?: number
  readonly maxRows?: number
  readonly maxBytes?: number
  readonly connectTimeoutMs?: number
}

interface State {
  readonly settings: PostgresSettings
  readonly learnt: Learnt
  readonly closing: AbortController
  /** Queries that wait for a connection, first come, first served. */
  readonly waiting: (() => void)[]
  /** Statements being cancelled, and connections being returned. */
  readonly ending: Set<Promise<void>>
  pool: Promise<Pool> | undefined
  running: number
  /** Set briefly after a connection failed, so that ten checks do not wait ten times. */
  outOfReach: QueryFailure | undefined
}

const MAX_WAITING = 100
const CONNECT_LIMIT_MS = 5_000
/** Added to each time limit: the server or the driver should stop at the limit; if neither does, the query ends this much later. */
const GRACE_MS = 500
const OUT_OF_REACH_MS = 5_000

const CLOSED = failure('failed', 'The source is closed.')
const ABORTED = failure('aborted', 'The query was stopped.')
const BUSY = failure('failed', `The source is busy: ${MAX_WAITING} queries wait already.`)
const UNREACHED = failure('failed', 'The database cannot be reached: no connection in time.')

/**
 * Creates a source; nothing is opened yet. Queries open up to 4 connections on demand. These close after 30 idle seconds
 * and do not keep the process alive. Lists are bound as arrays, for `= any($ids)`, and as JSON text if JSON is expected.
 * `check` examines the text without the database, and also asks the database if it can be reached. Throws `CONFIG_INVALID`
 * if the URL is not a PostgreSQL URL.
 */
export function createPostgresSource(options: PostgresSourceOptions): QuerySource {
  if (!/^postgres(?:ql)?:\/\//.test(options.url) || !URL.canParse(options.url)) {
    const hint = 'A special character in the password is written as `%` and two digits.'
    throw new WitanError(
      'CONFIG_INVALID',
      'A source of PostgreSQL needs a URL `postgres://user:password@host:port/database`.',
      { hint },
    )
  }
  const { url, timeoutMs, maxRows, maxBytes, connectTimeoutMs = CONNECT_LIMIT_MS } = { ...QUERY_LIMITS, ...options }
  const state: State = {
    settings: { url, timeoutMs, maxRows, maxBytes, connectTimeoutMs },
    learnt: { parameters: new Map(), lists: new Map() },
    closing: new AbortController(),
    waiting: [],
    ending: new Set(),
    pool: undefined,
    running: 0,
    outOfReach: undefined,
  }
  return {
    kind: 'postgres',
    check: (sql) => check(sql, state),
    run: (query, { signal }) => run(query, state, signal),
    close: () => close(state),
  }
}

/** The query in PostgreSQL's form, or the first mistake that its text alone shows. */
function understand(sql: string): PostgresText | QueryMistake {
  const text = readQueryText(sql, POSTGRES_LEXIS)
  return text.mistakes[0] ?? findEffect(sql) ?? postgresText(sql, text)
}

async function check(sql: string, state: State): Promise<QueryCheck> {
  const text = understand(sql)
  if ('problem' in text) return { ok: false, ...text }
  const { names: placeholders } = text
  const unavailable = ({ detail }: QueryFailure): QueryCheck => ({
    ...{ ok: false, problem: 'unavailable', detail, placeholders },
  })
  if (state.outOfReach !== undefined) return unavailable(state.outOfReach)
  const end = await inSession(state, state.closing.signal, (session) => judge(session, text))
  if ('value' in end) return { ok: true, placeholders }
  if ('stopped' in end) return unavailable(end.stopped)
  const { failure: found, isVerdict, position, word } = explain(end.error, placeholders, state.settings.timeoutMs)
  if (!isVerdict) return unavailable(found)
  const place = position === undefined ? placeOfWord(sql, word ?? '', POSTGRES_LEXIS) : text.placeOf(position)
  return {
    ok: false,
    problem: found.reason === 'not-read-only' ? 'not-read-only' : 'invalid',
    detail: found.detail,
    ...place,
  }
}

async function run({ sql, bindings }: BoundQuery, state: State, signal: AbortSignal): Promise<QueryResult> {
  const text = understand(sql)
  if ('problem' in text) return failure(reasonOf(text), text.detail)
  const missing = text.names.find((name) => bindings.get(name) === undefined)
  if (missing !== undefined) return failure('unbound', `\`$${missing}\` has no value; NULL must be given as null.`)
  const end = await inSession(state, signal, (session) => read(session, { text, bindings }, state.learnt))
  if ('value' in end) return { ok: true, ...end.value }
  return 'stopped' in end ? end.stopped : explain(end.error, text.names, state.settings.timeoutMs).failure
}

/** How work on a connection ended: done, failed, or stopped from outside. */
type End<T> = { readonly value: T } | { readonly error: unknown } | { readonly stopped: QueryFailure }

/** Works in a read-only transaction when it is its turn, within the time limits. Never rejects. */
async function inSession<T>(
  state: State,
  signal: AbortSignal,
  work: (session: Session) => Promise<T>,
): Promise<End<T>> {
  const refused = await takeTurn(state, signal)
  if (refused !== undefined) return { stopped: refused }
  const { connectTimeoutMs, timeoutMs } = state.settings
  const opening = open(state)
  const opened = await firstOf(opening, { state, signal, limitMs: connectTimeoutMs + GRACE_MS, late: UNREACHED })
  if (!('value' in opened)) {
    leave(
      state,
      opening.then(releaseSession, () => undefined),
    )
    if (!('error' in opened)) return opened
    rememberUnreached(state, unreached(opened.error))
    return { stopped: unreached(opened.error) }
  }
  const session = opened.value
  const end = await firstOf(work(session), { state, signal, limitMs: timeoutMs + GRACE_MS, late: late(timeoutMs) })
  leave(state, 'stopped' in end ? cut(session) : releaseSession(session))
  return end
}

async function open(state: State): Promise<Session> {
  state.pool ??= openPool(state.settings)
  return await beginSession(await state.pool, state.settings)
}

/** Waits for a free connection; returns a failure if the query may not or must not wait any longer. */
function takeTurn(state: State, signal: AbortSignal): Promise<QueryFailure | undefined> {
  if (state.closing.signal.aborted) return Promise.resolve(CLOSED)
  if (signal.aborted) return Promise.resolve(ABORTED)
  if (state.running < MAX_CONNECTIONS) {
    state.running += 1
    return Promise.resolve(undefined)
  }
  if (state.waiting.length >= MAX_WAITING) return Promise.resolve(BUSY)
  return new Promise((resolve) => {
    const settle = (answer: QueryFailure | undefined) => {
      for (const stop of [signal, state.closing.signal]) stop.removeEventListener('abort', drop)
      resolve(answer)
    }
    const go = () => settle(undefined)
    const drop = () => {
      state.waiting.splice(state.waiting.indexOf(go), 1)
      settle(state.closing.signal.aborted ? CLOSED : ABORTED)
    }
    state.waiting.push(go)
    for (const stop of [signal, state.closing.signal]) stop.addEventListener('abort', drop)
  })
}

/** Passes the turn on when the connection is free again. The query's caller does not wait for that. */
function leave(state: State, ending: Promise<void>): void {
  const ended = ending.finally(() => {
    state.ending.delete(ended)
    const next = state.waiting.shift()
    if (next === undefined) state.running -= 1
    else next()
  })
  state.ending.add(ended)
}

interface Stops {
  readonly state: State
  readonly signal: AbortSignal
  readonly limitMs: number
  readonly late: QueryFailure
}

/** The end of the work, or of its time limit, whichever comes first. */
function firstOf<T>(work: Promise<T>, { state, signal, limitMs, late }: Stops): Promise<End<T>> {
  const stops = [signal, state.closing.signal]
  return new Promise((resolve) => {
    const settle = (end: End<T>) => {
      clearTimeout(timer)
      for (const stop of stops) stop.removeEventListener('abort', abort)
      resolve(end)
    }
    const abort = () => settle({ stopped: state.closing.signal.aborted ? CLOSED : ABORTED })
    const timer = setTimeout(() => settle({ stopped: late }), limitMs)
    for (const stop of stops) stop.addEventListener('abort', abort)
    if (stops.some((stop) => stop.aborted)) abort()
    work.then(
      (value) => settle({ value }),
      (error: unknown) => settle({ error }),
    )
  })
}

function rememberUnreached(state: State, found: QueryFailure): void {
  if (state.outOfReach === undefined) setTimeout(() => (state.outOfReach = undefined), OUT_OF_REACH_MS).unref()
  state.outOfReach = found
}

async function close(state: State): Promise<void> {
  state.closing.abort()
  await Promise.all(state.ending)
  const pool = await state.pool?.catch(() => undefined)
  if (pool !== undefined && !pool.ended) await pool.end()
}
