/** Finds where two JSON values first differ. */

/** The path of the first difference, such as `body.text`; null if both are equal. The order of keys does not count. */
export function firstDifference(one: unknown, other: unknown, path = ''): string | null {
  if (one === other) return null
  if (!isObject(one) || !isObject(other) || Array.isArray(one) !== Array.isArray(other)) return path
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const found = firstDifference(one[key], other[key], path === '' ? key : `${path}.${key}`)
    if (found !== null) return found
  }
  return null
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
