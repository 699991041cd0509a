/** Values, times and counts in few words. */
import { oneLine } from './width.ts'

/** A duration: `12 ms`, `3.4 s`, `2 m 05 s`. */
export function duration(ms: number): string {
  const whole = Math.max(0, ms)
  if (whole < 1000) return `${Math.round(whole)} ms`
  if (whole < 59_950) return `${(whole / 1000).toFixed(1)} s`
  const seconds = Math.round(whole / 1000)
  return `${Math.floor(seconds / 60)} m ${String(seconds % 60).padStart(2, '0')} s`
}

const ages = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['min', 60_000],
] as const

/** How long ago that was: `now`, `5 min`, `2 hours`, `3 days`. */
export function age(ms: number): string {
  for (const [word, size] of ages) {
    const value = Math.floor(ms / size)
    if (value >= 1) return word === 'min' ? `${value} min` : plural(value, word)
  }
  return 'now'
}

/** A number with thin separators: `12,345`. */
export function count(value: number): string {
  return value.toLocaleString('en-US')
}

/** `1 row`, `2 rows`. */
export function plural(value: number, word: string): string {
  return `${count(value)} ${word}${value === 1 ? '' : 's'}`
}

/** What a tool gave, for one line: rows are counted, a single row is shown. */
export function resultPhrase(result: unknown): string {
  if (result === null || result === undefined) return 'null'
  if (!Array.isArray(result)) return compact(result)
  const rows = result.every((item) => typeof item === 'object' && item !== null)
  if (result.length === 1 && rows) return compact(result[0])
  return rows ? plural(result.length, 'row') : compact(result)
}

/** A value on one line, without the quotes that JSON puts around names. */
export function compact(value: unknown): string {
  if (typeof value === 'string') return oneLine(value)
  if (Array.isArray(value)) return `[${value.map(inner).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(([name, item]) => `${oneLine(name)}: ${inner(item)}`)
    return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
  }
  return String(value)
}

function inner(value: unknown): string {
  return typeof value === 'string' ? quoted(value) : compact(value)
}

/** A text in quotes, on one line. */
export function quoted(text: string): string {
  return oneLine(JSON.stringify(text.replace(/\s+/g, ' ').trim()))
}

/** A tool's arguments: `country: "France", limit: 5`, and `$name` for what was bound out of the model's sight. */
export function argumentsPhrase(given: unknown, bound: readonly string[]): string {
  const fields =
    typeof given === 'object' && given !== null
      ? Object.entries(given).map(([name, item]) => `${oneLine(name)}: ${inner(item)}`)
      : []
  return [...fields, ...bound.map((name) => `$${oneLine(name)}`)].join(', ')
}

/** That something waits, and for whom. */
export function waitsPhrase(addressee: string | null): string {
  return `waits for an answer${addressee === null ? '' : ` from ${oneLine(addressee)}`}`
}
