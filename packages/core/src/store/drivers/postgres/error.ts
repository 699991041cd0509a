/** Classifies server errors: which are temporary, which mean a bug or a full disk, and their messages. */
import { isWitanError, WitanError } from '@witan/protocol'

/** An error that PostgreSQL itself reported, with the fields that `pg` sets. */
interface ServerError {
  readonly code: string
  readonly severity: string
  readonly message: string
}

/** The SQLSTATE of an error that the server reported, or null for any other. */
export function sqlState(error: unknown): string | null {
  const { code, severity } = (error ?? {}) as Partial<ServerError>
  return typeof code === 'string' && typeof severity === 'string' ? code : null
}

/** The server cannot be written: it is a standby, or is set to read only. */
export class NotWritable extends Error {}

/** What to do about it; undefined if that is not why. */
export function hintAtServer(error: unknown): string | undefined {
  if (error instanceof NotWritable || sqlState(error) === '25006')
    return 'Give the address of the primary, or those of all servers, of which the primary is used: `postgres://a:5432,b:5432/database`.'
  if (['26000', '42P05'].includes(sqlState(error) ?? ''))
    return 'A pooler gives each transaction another session: set `store.listenUrl` to an address that leads to the server itself, or `pool_mode = session` in the pooler.'
  return undefined
}

/** Shut down, starting up, too many connections, idle too long inside a transaction, or a standby that was the primary. */
const lostStates = new Set(['57P01', '57P02', '57P03', '57P05', '25P03', '25P04', '53300', '25006'])

/** Conflicts: serialization, deadlock, a key created meanwhile, a lock held too long, a cancelled statement. */
const conflictStates = new Set(['40001', '40P01', '23505', '55P03', '57014'])

/** `lost`: the connection was lost, and pending work may have happened. `conflict`: nothing happened, try again. */
type Trouble = 'lost' | 'conflict' | 'fatal'

/** The kind of an error. */
export function troubleOf(error: unknown): Trouble {
  const state = sqlState(error)
  if (state === null) return error instanceof TypeError || error instanceof RangeError ? 'fatal' : 'lost'
  if (state.startsWith('08') || lostStates.has(state)) return 'lost'
  return conflictStates.has(state) ? 'conflict' : 'fatal'
}

/** Whether `pg` reports that a reply did not come in time. */
export function isSilence(error: unknown): boolean {
  return sqlState(error) === null && (error as { message?: unknown } | null)?.message === 'Query read timeout'
}

/** The store failed in use. The message never contains stored values, which the server's details would. */
export function unavailable(error: unknown): WitanError {
  if (isWitanError(error)) return error
  const hint =
    hintAtServer(error) ??
    (troubleOf(error) === 'lost'
      ? 'Check that the PostgreSQL server runs and is reachable, then try again.'
      : "Check the PostgreSQL server's log, its free disk space and the rights of the roles.")
  const state = sqlState(error)
  const detail = `PostgreSQL failed: ${textOf(error)}.`
  // Statements sent to a silent server may still arrive after the caller got this error.
  const outcome = troubleOf(error) === 'lost' ? { outcome: 'unknown' } : {}
  const details = state === null ? outcome : { sqlState: state, ...outcome }
  const reported = new WitanError('STORE_UNAVAILABLE', detail, { hint, cause: new Error(textOf(error)), details })
  if (troubleOf(error) === 'lost') away.add(reported)
  return reported
}

/** This program is too old for the schema, at its start or at work. */
export function schemaTooNew(at: {
  readonly schema: string
  readonly has: string
  readonly known: number
}): WitanError {
  const detail = `The schema \`${at.schema}\` has ${at.has}, and this program knows ${at.known}.`
  const hint = 'Start the newer version of Witan, or use another schema.'
  const error = new WitanError('SCHEMA_TOO_NEW', detail, { hint })
  away.add(error)
  return error
}

/** The same if an earlier attempt may have been stored: the caller must not store it in another way. */
export function inDoubt(error: unknown): WitanError {
  const reported = unavailable(error)
  if (isServerAway(reported)) return reported
  const { message, hint, cause } = reported
  const details = { ...reported.details, outcome: 'unknown' }
  const doubtful = new WitanError('STORE_UNAVAILABLE', message, { hint: hint ?? '', cause, details })
  away.add(doubtful)
  return doubtful
}

const away = new WeakSet<object>()

/** Whether an error means that the server cannot be used, so that other work would fail too, or that a commit is in doubt. */
export function isServerAway(error: unknown): boolean {
  return typeof error === 'object' && error !== null && away.has(error)
}

/** The error as text. A data error gives only its class, because the server quotes values in it. */
export function textOf(error: unknown): string {
  const state = sqlState(error)
  if (state?.startsWith('22') || state?.startsWith('23')) return `a value was refused (SQLSTATE ${state})`
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  const text = typeof message === 'string' && message !== '' ? message : typeof code === 'string' ? code : String(error)
  return text.replace(/\.$/, '')
}
