/** What is said between the process and its thread of knowledge. */
import { isWitanError, WitanError } from '@witan/protocol'
import { unavailable } from '../sqlite-error.ts'
import type { SqliteSettings } from '../sqlite-file.ts'
import type { MethodName } from './methods.ts'

/** How the thread opens its file. */
export type ThreadSettings = Omit<SqliteSettings, 'now'>

/** To the thread: a part of what a later call needs, or the call itself; or the end. */
export type ToThread =
  | { readonly id: number; readonly part: unknown }
  | { readonly id: number; readonly method: MethodName; readonly argument: unknown }
  | 'close'

/** From the thread: that it works on something, a result, an error; or that its file could not be opened. */
export type FromThread =
  | 'working'
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number | 'open'; readonly error: SentError }

/** An error as data: a thread cannot send its own class. */
interface SentError {
  readonly code: string
  readonly message: string
  readonly hint: string | null
  readonly details: Readonly<Record<string, unknown>>
}

/** An error to send. */
export function sentError(error: unknown): SentError {
  const { code, message, hint, details } = isWitanError(error) ? error : unavailable(error)
  return { code, message, hint, details: details as SentError['details'] }
}

/** The error that was sent. */
export function receivedError({ code, message, hint, details }: SentError): WitanError {
  return new WitanError(code as WitanError['code'], message, { ...(hint === null ? {} : { hint }), details })
}
