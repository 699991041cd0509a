/** A quick estimate of how long a value is as JSON. */

/**
 * About how many characters the JSON of a value has, and more than a sixth of its bytes. Texts count with their length, so its time does
 * not grow with theirs. A value longer than `most` is not looked at to its end: then the result is any number above.
 */
export function jsonLength(value: unknown, most = Number.POSITIVE_INFINITY): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 5
  let length = 2
  if (Array.isArray(value)) {
    for (const one of value) {
      length += jsonLength(one, most - length) + 1
      if (length > most) break
    }
    return length
  }
  for (const name in value) {
    length += name.length + 4 + jsonLength((value as Record<string, unknown>)[name], most - length)
    if (length > most) break
  }
  return length
}
