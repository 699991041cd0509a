/** The ids of spans. They are computed from the log, so that everybody who reads it gets the same [P16]. */
import { hash } from 'node:crypto'
import { traceIdOf } from '../identity/trace.ts'

/** The id of a span: 16 hexadecimal digits. `of` is the id of a call, or the seq of a model's reply. */
export function spanIdOf(database: string, of: string | number): string {
  return hash('sha256', `${database}\n${of}`, 'hex').slice(0, 16)
}

/** The id of the span of a call. The id of a run and that of its trace are digests of the same text. */
export function callSpanIdOf(database: string, { run, call }: { readonly run: string; readonly call: string }): string {
  return call === run ? traceIdOf(database, run).slice(0, 16) : spanIdOf(database, call)
}
