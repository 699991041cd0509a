/** The ids of spans. They are computed from the log, so that everybody who reads it gets the same [P16]. */
import { hash } from 'node:crypto'

/** The id of a span: 16 hexadecimal digits. `of` is the id of a call, or the seq of a model's reply. */
export function spanIdOf(database: string, of: string | number): string {
  return hash('sha256', `${database}\n${of}`, 'hex').slice(0, 16)
}
