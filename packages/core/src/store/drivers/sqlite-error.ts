/** Converts SQLite's errors to errors of the store. */
import { type ErrorOptions, isWitanError, WitanError } from '@witan/protocol'

const busy = 5
const locked = 6

/** The primary result code of SQLite, or null for any other error. */
function resultCode(error: unknown): number | null {
  const code = (error as { errcode?: unknown } | null)?.errcode
  return typeof code === 'number' ? code & 0xff : null
}

/** Whether another process holds the file. */
export function isHeldElsewhere(error: unknown): boolean {
  const code = resultCode(error)
  return code === busy || code === locked
}

/** The store failed in use: nothing of the group is stored, and a retry may succeed. */
export function unavailable(error: unknown): WitanError {
  if (isWitanError(error)) return error
  const hint = 'Look at the free space and the health of the disk under the store, then try again.'
  return new WitanError('STORE_UNAVAILABLE', `The store failed: ${textOf(error)}.`, options(error, hint))
}

/** The file could not be opened. */
export function unreachable(file: string, error: unknown): WitanError {
  const hint = 'Give a path in a folder that this process may write.'
  const { details, ...rest } = options(error, hint)
  const detail = `The store file \`${file}\` cannot be opened: ${textOf(error)}.`
  return new WitanError('STORE_UNREACHABLE', detail, { ...rest, details: { ...details, file } })
}

function options(error: unknown, hint: string): ErrorOptions {
  const code = resultCode(error)
  return { hint, cause: error, details: code === null ? {} : { sqliteCode: code } }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\.$/, '') : String(error)
}
