/** The digest that binds an approval to one tool and exactly these arguments. */
import { createHash } from 'node:crypto'

/** The SHA-256 of a tool's name and arguments, in hex. The order of an object's keys does not matter [D11]. */
export function callDigest(tool: string, args: Readonly<Record<string, unknown>>): string {
  return createHash('sha256')
    .update(canonicalJson({ tool, arguments: args }))
    .digest('hex')
}

/** JSON with sorted keys, so that equal values have equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (isPlain(inner) ? sorted(inner) : inner)) ?? 'null'
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Without a prototype, so that a key such as `__proto__` is kept. */
function sorted(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const made = Object.create(null) as Record<string, unknown>
  for (const key of Object.keys(value).sort()) made[key] = value[key]
  return made
}
