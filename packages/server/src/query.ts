/** The query string of a request as values: numbers and booleans where the schema wants them. */
import type { ErrorCode } from '@witan/protocol'
import { z } from 'zod'
import { badRequest } from './route.ts'
import { validate } from './validate.ts'

const kinds = new WeakMap<z.ZodType, Readonly<Record<string, string>>>()

/** Throws for an unknown name, a repeated one, and a value that does not fit; an event id and a limit have codes of their own. */
export function readQuery(schema: z.ZodType, search: URLSearchParams): unknown {
  const types = kindsOf(schema)
  const values: Record<string, unknown> = {}
  for (const [name, text] of search) {
    if (Object.hasOwn(values, name))
      throw badRequest(`\`${name}\` stands twice in the query.`, { path: name, hint: 'Give it once.' })
    Object.defineProperty(values, name, { value: convert(text, types[name]), enumerable: true })
  }
  return validate(schema, values, { what: 'query', code: codeFor })
}

function codeFor(path: string): ErrorCode {
  if (path === 'from') return 'EVENT_ID_INVALID'
  return path === 'limit' ? 'LIMIT_INVALID' : 'RUN_INPUT_INVALID'
}

function convert(text: string, kind: string | undefined): unknown {
  if (kind === 'integer') return /^-?\d{1,15}$/.test(text) ? Number(text) : text
  if (kind === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return text
}

function kindsOf(schema: z.ZodType): Readonly<Record<string, string>> {
  const known = kinds.get(schema)
  if (known !== undefined) return known
  const json: { properties?: Record<string, unknown> } = z.toJSONSchema(schema, { io: 'input' })
  const found: Record<string, string> = Object.create(null)
  for (const [name, property] of Object.entries(json.properties ?? {})) {
    const type = typeof property === 'object' && property !== null && 'type' in property ? property.type : undefined
    if (typeof type === 'string') found[name] = type
  }
  kinds.set(schema, found)
  return found
}
