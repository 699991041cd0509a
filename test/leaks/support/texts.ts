/** Turns whatever a reader got into the text that is searched: every string, key and number in it, as they are. */

/** All strings of a value, each on its own line; what JSON would escape stands unescaped. */
export function textOf(value: unknown): string {
  const lines: string[] = []
  collect(value, lines, new Set())
  return lines.join('\n')
}

function collect(value: unknown, lines: string[], seen: Set<object>): void {
  if (typeof value !== 'object' || value === null) {
    if (value !== undefined) lines.push(String(value))
    return
  }
  if (seen.has(value)) return
  seen.add(value)
  if (value instanceof Error)
    collect({ ...value, message: value.message, stack: value.stack, cause: value.cause }, lines, seen)
  if (value instanceof Map) return collect([...value], lines, seen)
  for (const [key, inner] of Object.entries(value)) {
    lines.push(key)
    collect(inner, lines, seen)
  }
}
