/** The ids of traces and spans. They are computed from the log, so that everybody who reads it gets the same [P16]. */
import { hash } from 'node:crypto'

function digits(text: string, count: number): string {
  return hash('sha256', text, 'hex').slice(0, count)
}

/** The id of a run's trace: 32 hexadecimal digits. */
export function traceIdOf(database: string, run: string): string {
  return digits(`${database}\n${run}`, 32)
}

/** The id of a span: 16 hexadecimal digits. `of` is the id of a call, or the seq of a model's reply. */
export function spanIdOf(database: string, of: string | number): string {
  return digits(`${database}\n${of}`, 16)
}
