/** The ids of traces and spans. They are computed from the log, so that everybody who reads it gets the same [T28, P16]. */
import { hash } from 'node:crypto'

/**
 * The digests that were asked for last. The result, the headers and the spans of a run ask for the same, and the replies of new conversations
 * have the same few numbers.
 */
const known = new Map<string, string>()
const mostKnown = 1_000

/** The trace id of a run: 32 hexadecimal digits. */
export function traceIdOf(database: string, run: string): string {
  return digestOf(`${database}\n${run}`)
}

/** The id of a span: 16 hexadecimal digits. `of` is the id of a call, or the seq of a model's reply. */
export function spanIdOf(database: string, of: string | number): string {
  return digestOf(`${database}\n${of}`).slice(0, 16)
}

function digestOf(text: string): string {
  const found = known.get(text)
  if (found !== undefined) return found
  const digest = hash('sha256', text, 'hex').slice(0, 32)
  if (known.size === mostKnown) known.clear()
  known.set(text, digest)
  return digest
}
