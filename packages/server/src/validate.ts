/** Checks a value against a schema; messages name the path and never the value. */
import { nearest } from '@witan/core/tooling'
import { type ErrorCode, WitanError } from '@witan/protocol'
import { conversationRequestSchema, markChecked, runRequestSchema } from '@witan/protocol/schemas'
import { z } from 'zod'

/** How messages name the value (`body`, `query`); the error code, by the first issue's path, unless a key is unknown. */
interface ValidateOptions {
  readonly what: string
  readonly code: ErrorCode | ((path: string) => ErrorCode)
}

const MAX_ISSUES = 5

/** The value with defaults filled in. Throws `UNKNOWN_KEY` with the nearest known key, else `options.code` with at most five issues. */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  options: ValidateOptions,
): z.output<Schema> {
  refusePrototypeKey(value, options)
  const parsed = schema.safeParse(value)
  if (parsed.success) return markChecked(schema, parsed.data)
  const issues = parsed.error.issues
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys')
  if (unknown !== undefined) throw unknownKey(schema, unknown, options)
  const path = pathText(issues[0]?.path ?? [])
  const detail = issues.slice(0, MAX_ISSUES).map((issue) => issueText(issue, options.what))
  const more = issues.length > MAX_ISSUES ? ` (${issues.length - MAX_ISSUES} more)` : ''
  const hint = `Correct the ${options.what} and send it again; /api/v1/openapi.json has its schema.`
  const code = typeof options.code === 'string' ? options.code : options.code(path)
  throw new WitanError(code, `${detail.join(' ')}${more}`, path === '' ? { hint } : { path, hint })
}

/** A schema would silently drop a key named `__proto__`; near the top of a body it is refused like any unknown key. */
function refusePrototypeKey(value: unknown, options: ValidateOptions): void {
  if (!isRecord(value)) return
  for (const [place, inner] of [['', value] as const, ...Object.entries(value)]) {
    if (!isRecord(inner) || !Object.hasOwn(inner, '__proto__')) continue
    const path = place === '' ? '__proto__' : `${shorten(place)}.__proto__`
    throw new WitanError('UNKNOWN_KEY', `\`${path}\` is not a known key of the ${options.what}.`, {
      path,
      hint: 'Remove it.',
    })
  }
}

/** `subAgents.0.description`; empty for the whole value. */
function pathText(path: readonly PropertyKey[]): string {
  return path.map((step) => shorten(String(step))).join('.')
}

function unknownKey(schema: z.ZodType, issue: z.core.$ZodIssueUnrecognizedKeys, options: ValidateOptions): WitanError {
  const key = issue.keys[0] ?? ''
  const path = pathText([...issue.path, key])
  const place = issue.path.length === 0 ? `the ${options.what}` : `\`${pathText(issue.path)}\``
  const known = knownKeys(schema, issue.path)
  const near = key.length > 100 ? null : nearest(key, known)
  const nearby = near === null ? '' : `, nearest is \`${near}\``
  const home = issue.path.length === 0 ? homeOf(schema, key) : null
  if (home !== null)
    return new WitanError('UNKNOWN_KEY', `\`${key}\` is not a known key of ${place}.`, { path, hint: home })
  const list = known.length === 0 ? 'Remove it.' : `Known: ${known.join(', ')}.`
  const hint = near === null ? list : `Did you mean \`${near}\`?`
  return new WitanError('UNKNOWN_KEY', `\`${shorten(key)}\` is not a known key of ${place}${nearby}.`, { path, hint })
}

/** The request that takes the key, if the neighbour of this one does: what begins a conversation is no setting of a run, and the reverse. */
function homeOf(schema: z.ZodType, key: string): string | null {
  if (schema === conversationRequestSchema && Object.hasOwn(runRequestSchema.shape, key))
    return `\`${key}\` belongs to a run: leave out \`prompt\` here, and send both to POST /api/v1/conversations/{id}/runs.`
  if (schema === runRequestSchema && Object.hasOwn(conversationRequestSchema.shape, key))
    return `\`${key}\` belongs to the start of the conversation: send it to POST /api/v1/conversations.`
  return null
}

function issueText(issue: z.core.$ZodIssue, what: string): string {
  const place = issue.path.length === 0 ? `The ${what}` : `\`${pathText(issue.path)}\``
  return `${place} ${expectation(issue)}.`
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.expected === 'nonoptional') return 'is missing'
      return `${/received undefined/.test(issue.message) ? 'is missing: it ' : ''}must be ${kindText(issue.expected)}`
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
    case 'too_small':
      return `must be ${sizeText(issue.origin, 'at least', issue.minimum)}`
    case 'too_big':
      return `must be ${sizeText(issue.origin, 'at most', issue.maximum)}`
    case 'invalid_format':
      if (!issue.message.startsWith('Invalid')) return issue.message
      return issue.pattern === undefined ? `must be a valid ${issue.format}` : `must match ${issue.pattern}`
    case 'invalid_union':
      return issue.message === 'Invalid input' ? 'is not valid' : `is not valid: ${issue.message}`
    case 'custom':
      return issue.message
    default:
      return 'is not valid'
  }
}

function kindText(kind: string): string {
  if (kind === 'record' || kind === 'object') return 'an object'
  if (kind === 'int') return 'an integer'
  return `${/^[aeio]/.test(kind) ? 'an' : 'a'} ${kind}`
}

function sizeText(origin: string, bound: string, size: number | bigint): string {
  if (origin === 'string') return `${bound} ${size} characters long`
  return origin === 'array' ? `a list of ${bound} ${size}` : `${bound} ${size}`
}

/** The keys that the schema knows at a path, read from its JSON Schema; empty where it does not say. */
function knownKeys(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: unknown = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  for (const step of path) at = typeof step === 'number' ? items(at) : property(at, String(step))
  return alternatives(at).flatMap((one) => (isRecord(one.properties) ? Object.keys(one.properties) : []))
}

function items(schema: unknown): unknown {
  return alternatives(schema).find((one) => one.items !== undefined)?.items
}

function property(schema: unknown, name: string): unknown {
  for (const one of alternatives(schema)) {
    if (isRecord(one.properties) && Object.hasOwn(one.properties, name)) return one.properties[name]
    if (isRecord(one.additionalProperties)) return one.additionalProperties
  }
  return undefined
}

function alternatives(schema: unknown): Record<string, unknown>[] {
  if (!isRecord(schema)) return []
  const either = schema.anyOf ?? schema.oneOf
  return Array.isArray(either) ? either.flatMap(alternatives) : [schema]
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shorten(key: string): string {
  return key.length > 100 ? `${key.slice(0, 100)}…` : key
}
