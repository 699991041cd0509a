/** Scrubs a value of JSON: its texts, its numbers and its keys. */

/** A value with every hidden value in its texts, numbers and keys replaced. */
export function scrubbedValue(value: unknown, scrub: (text: string) => string): unknown {
  if (typeof value === 'string') return scrub(value)
  if (typeof value === 'number' || typeof value === 'boolean') {
    const clean = scrub(String(value))
    return clean === String(value) ? value : clean
  }
  if (Array.isArray(value)) return value.map((item) => scrubbedValue(item, scrub))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [scrub(key), scrubbedValue(one, scrub)]))
}
