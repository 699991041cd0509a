/** JSON in one form (RFC 8785), so that a signature over it can be checked by anybody. */

/** The JSON of a value in its one form. What JSON cannot hold is left out, as `JSON.stringify` does. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((one) => canonicalJson(one ?? null)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  // The order of UTF-16 code units, which is that of `sort`.
  const members = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([name, one]) => `${JSON.stringify(name)}:${canonicalJson(one)}`).join(',')}}`
}

/** The text of an A2A card that its signatures sign: without them, and without empty values (A2A §8.4.1). */
export function canonicalCard(card: object): string {
  const { signatures: _, ...rest } = card as { readonly signatures?: unknown }
  return canonicalJson(filled(rest) ?? {})
}

/** The value without what is empty in it; undefined if nothing is left. */
function filled(value: unknown): unknown {
  if (value === '' || value === null || value === undefined) return undefined
  if (typeof value !== 'object') return value
  if (Array.isArray(value)) {
    const list = value.map(filled).filter((one) => one !== undefined)
    return list.length === 0 ? undefined : list
  }
  const entries = Object.entries(value).flatMap(([name, one]) => {
    const inner = filled(one)
    return inner === undefined ? [] : [[name, inner] as const]
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}
