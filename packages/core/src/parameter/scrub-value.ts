/** Scrubs a value of JSON: its texts, its numbers and its keys. */
import { type Pausable, runWithoutPause } from '../identity/pausable.ts'

/** A value with every hidden value in its texts, numbers and keys replaced. */
export function scrubbedValue(value: unknown, scrub: (text: string) => string): unknown {
  return runWithoutPause(scrubbingValue(value, scrub))
}

/** The same in pieces, for a value that may be long. */
export function* scrubbingValue(value: unknown, scrub: (text: string) => string): Pausable<unknown> {
  yield
  if (typeof value === 'string') return scrub(value)
  if (typeof value === 'number' || typeof value === 'boolean') {
    const clean = scrub(String(value))
    return clean === String(value) ? value : clean
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value) items.push(yield* scrubbingValue(item, scrub))
    return items
  }
  const entries: [string, unknown][] = []
  for (const [key, one] of Object.entries(value)) entries.push([scrub(key), yield* scrubbingValue(one, scrub)])
  return Object.fromEntries(entries)
}
