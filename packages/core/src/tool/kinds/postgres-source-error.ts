/** Errors between a query source and PostgreSQL, described without connection strings or values. */
import type { QueryFailure } from '../source.ts'
import { DECLARE, PREPARE, QueryRefusal } from './postgres-source-read.ts'
import { StatementError } from './postgres-source-session.ts'

/** A failure, and whether the query itself is at fault and would fail again. */
interface Explained {
  readonly failure: QueryFailure
  readonly isVerdict: boolean
  /** The position in the numbered statement, counted from 1, if the server reported it. */
  readonly position?: number
  /** The word at fault, if there is one. */
  readonly word?: string
}

const CONNECTION_TROUBLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'its host name is not known',
  EAI_AGAIN: 'its host name cannot be looked up',
  ENOENT: 'its socket does not exist',
  EACCES: 'its socket may not be opened',
  ETIMEDOUT: 'no connection in time',
  EHOSTUNREACH: 'its host cannot be reached',
  ENETUNREACH: 'its host cannot be reached',
  '28000': 'the user was refused',
  '28P01': 'the user or the password was refused',
  '3D000': 'there is no such database',
  '42501': 'the user may not connect to it',
  '53300': 'it has too many connections',
  '57P01': 'it is shutting down',
  '57P02': 'it was shut down',
  '57P03': 'it is starting or shutting down',
}

/** Creates a failure. */
export function failure(reason: QueryFailure['reason'], detail: string): QueryFailure {
  return { ok: false, reason, detail }
}

/** The failure of a query that exceeded its time limit. */
export function late(timeoutMs: number): QueryFailure {
  return failure('timeout', `stopped after ${timeoutMs / 1000} s`)
}

/** Why no connection could be opened, or why it was lost. */
export function unreached(error: unknown): QueryFailure {
  const { code = '', message = '' } = causeOf(error)
  const other = /timeout/i.test(message)
    ? CONNECTION_TROUBLE['ETIMEDOUT']
    : /SSL|TLS|certificate/i.test(`${message} ${code}`)
      ? 'no trusted encrypted connection could be established'
      : 'the connection was lost'
  return failure('failed', `The database cannot be reached: ${CONNECTION_TROUBLE[code] ?? other}.`)
}

/** Why a query failed after it had a connection. `names` are the names of `$1`, `$2`, … */
export function explain(error: unknown, names: readonly string[], timeoutMs: number): Explained {
  const { code, message = '', position } = causeOf(error)
  if (error instanceof QueryRefusal) {
    const { word } = error
    return { failure: failure(error.reason, error.message), isVerdict: true, ...(word === undefined ? {} : { word }) }
  }
  if (code === undefined || /^(?:08|57P|53)/.test(code)) return { failure: unreached(error), isVerdict: false }
  if (code === '57014') return { failure: late(timeoutMs), isVerdict: false }
  const statement = error instanceof StatementError ? error.statement : ''
  const at = place(statement, position)
  if (code === '25006')
    return { failure: failure('not-read-only', `A query may only read: ${message}.`), isVerdict: true }
  const isOfText = code.startsWith('22') && statement.startsWith(PREPARE)
  if (isOfText || /^(?:42|0A)/.test(code)) {
    const detail = message.replace(/\$(\d+)/g, (mark, digits) => `$${names[Number(digits) - 1] ?? mark.slice(1)}`)
    return { failure: failure('failed', `${detail}.`), isVerdict: true, ...at }
  }
  if (code.startsWith('22') && !statement.startsWith('fetch')) {
    const detail = `A value does not fit the type that the query takes it as (SQLSTATE ${code}).`
    return { failure: failure('unfit', detail), isVerdict: false }
  }
  return { failure: failure('failed', `The database failed on the query (SQLSTATE ${code}).`), isVerdict: false }
}

function place(statement: string, position: string | undefined): { readonly position?: number } {
  const prefix = [PREPARE, DECLARE].find((one) => statement.startsWith(one))
  return position === undefined || prefix === undefined ? {} : { position: Number(position) - prefix.length }
}

function causeOf(error: unknown): { code?: string; message?: string; position?: string } {
  const cause: unknown = error instanceof StatementError ? error.cause : error
  return typeof cause === 'object' && cause !== null ? cause : {}
}
