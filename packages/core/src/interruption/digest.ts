/** What an approval is bound to: one tool and exactly these arguments. */
import { createHash } from 'node:crypto'

/** The SHA-256 of a tool's name and arguments in hex; the order of an object's keys says nothing [D11]. */
export function callDigest(tool: string, args: Readonly<Record<string, unknown>>): string {
  return createHash('sha256')
    .update(canonicalJson({ tool, arguments: args }))
    .digest('hex')
}

/** JSON with the keys of every object in order, so that equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (isPlain(inner) ? sorted(inner) : inner)) ?? 'null'
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Without a prototype, so that no name is lost to one. */
function sorted(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const made = Object.create(null) as Record<string, unknown>
  for (const key of Object.keys(value).sort()) made[key] = value[key]
  return made
}
