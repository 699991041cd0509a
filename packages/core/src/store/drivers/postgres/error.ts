/** What goes wrong with a server: which errors pass, which tell of a bug or a full disk, and what is said of them. */
import { isWitanError, WitanError } from '@witan/protocol'

/** An error that PostgreSQL itself reported; `pg` gives these fields. */
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

/** Shut down, starting up, too many connections, idle too long inside a transaction, or a standby that was the primary. */
const lostStates = new Set(['57P01', '57P02', '57P03', '57P05', '25P03', '25P04', '53300', '25006'])

/** Two that met: serialization, deadlock, a key that somebody made meanwhile, a lock that was held too long, a cancelled statement. */
const conflictStates = new Set(['40001', '40P01', '23505', '55P03', '57014'])

/** `lost`: the connection is gone, and what was under way may have happened. `conflict`: nothing happened, try again. */
export type Trouble = 'lost' | 'conflict' | 'fatal'

/** What kind of trouble an error is. */
export function troubleOf(error: unknown): Trouble {
  const state = sqlState(error)
  if (state === null) return error instanceof TypeError || error instanceof RangeError ? 'fatal' : 'lost'
  if (state.startsWith('08') || lostStates.has(state)) return 'lost'
  return conflictStates.has(state) ? 'conflict' : 'fatal'
}

/** Whether a reply did not come in time, which is how `pg` tells it. */
export function isSilence(error: unknown): boolean {
  return sqlState(error) === null && (error as { message?: unknown } | null)?.message === 'Query read timeout'
}

/** The store broke while it was in use. Never says what was to be stored: the server's own details would. */
export function unavailable(error: unknown): WitanError {
  if (isWitanError(error)) return error
  const hint =
    troubleOf(error) === 'lost'
      ? 'Look whether the PostgreSQL server runs and can be reached, then try again.'
      : "Look into the PostgreSQL server's log, at its free space and at the rights of the roles."
  const state = sqlState(error)
  const detail = `PostgreSQL failed: ${textOf(error)}.`
  // What was sent to a server that fell silent may still get there, after its sender was told.
  const outcome = troubleOf(error) === 'lost' ? { outcome: 'unknown' } : {}
  const details = state === null ? outcome : { sqlState: state, ...outcome }
  const told = new WitanError('STORE_UNAVAILABLE', detail, { hint, cause: new Error(textOf(error)), details })
  if (troubleOf(error) === 'lost') away.add(told)
  return told
}

/** The same where an earlier attempt may have been stored after all: nobody may try what was to be stored in another way. */
export function inDoubt(error: unknown): WitanError {
  const told = unavailable(error)
  if (isServerAway(told)) return told
  const { message, hint, cause } = told
  const details = { ...told.details, outcome: 'unknown' }
  const doubtful = new WitanError('STORE_UNAVAILABLE', message, { hint: hint ?? '', cause, details })
  away.add(doubtful)
  return doubtful
}

const away = new WeakSet<object>()

/** Whether an error was thrown because the server is away, so that other work would fail alike; or because of a doubt. */
export function isServerAway(error: unknown): boolean {
  return typeof error === 'object' && error !== null && away.has(error)
}

/** The error in words. Of a data error only its class, since the server quotes values there. */
export function textOf(error: unknown): string {
  const state = sqlState(error)
  if (state?.startsWith('22') || state?.startsWith('23')) return `a value was refused (SQLSTATE ${state})`
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  const text = typeof message === 'string' && message !== '' ? message : typeof code === 'string' ? code : String(error)
  return text.replace(/\.$/, '')
}
