/** How a command ends: the exit codes and the errors that lead to them. */
import type { ErrorCode } from '@witan/protocol'
import { errorTable, isWitanError } from '@witan/protocol'

/** The exit codes, by what they mean. */
export const exitCodes = { done: 0, failed: 1, usage: 2, waits: 3, configuration: 78 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** The command line itself is wrong: nothing was done. */
export class UsageError extends Error {
  readonly hint: string

  constructor(detail: string, hint: string) {
    super(detail)
    this.name = 'UsageError'
    this.hint = hint
  }
}

/** What stopped a command before its own work: configuration, store, port. Its cause is what is shown. */
export class StartError extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'StartError'
  }
}

const storeCodes: readonly ErrorCode[] = ['CONFIG_INVALID', 'SCHEMA_TOO_NEW', 'STORE_LOCKED', 'STORE_UNREACHABLE']

/** The exit code of an error: a refused input is wrong usage, trouble with configuration or store 78, anything else 1. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return exitCodes.usage
  if (error instanceof StartError) return exitCodes.configuration
  if (!isWitanError(error)) return exitCodes.failed
  if (storeCodes.includes(error.code)) return exitCodes.configuration
  const { status } = errorTable[error.code]
  return status >= 400 && status < 500 && status !== 409 && status !== 412 ? exitCodes.usage : exitCodes.failed
}
