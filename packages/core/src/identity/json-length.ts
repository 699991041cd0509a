/** A quick estimate of how long a value is as JSON. */

/** About how many characters the JSON of a value has. Texts count with their length, so its time does not grow with theirs. */
export function jsonLength(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 5
  let length = 2
  if (Array.isArray(value)) for (const one of value) length += jsonLength(one) + 1
  else for (const name in value) length += name.length + 4 + jsonLength((value as Record<string, unknown>)[name])
  return length
}
