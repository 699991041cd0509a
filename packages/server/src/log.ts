/** The server's diagnostic log: one JSON line for each entry, on standard error. Never tokens, bodies or query strings. */
import { shownJson } from '@witan/protocol/shown'

/** From silent to verbose. */
export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof logLevels)[number]

/** Writes one line if the log has its level, with hidden characters as escapes, so that a terminal can show it. `error` in the fields is written with its stack. */
export type Log = (
  level: Exclude<LogLevel, 'silent'>,
  message: string,
  fields?: Readonly<Record<string, unknown>>,
) => void

/** A log that keeps entries up to `level`; `write` is standard error unless given. */
export function createLog(level: LogLevel, write: (line: string) => void = (line) => process.stderr.write(line)): Log {
  const kept = logLevels.indexOf(level)
  return (entryLevel, message, fields = {}) => {
    if (logLevels.indexOf(entryLevel) > kept) return
    const { error, ...rest } = fields
    const stack =
      error instanceof Error ? (error.stack ?? error.message) : error === undefined ? undefined : String(error)
    const at = new Date().toISOString()
    const entry = { at, level: entryLevel, message, ...rest, ...(stack === undefined ? {} : { error: stack }) }
    write(`${shownJson(entry)}\n`)
  }
}
