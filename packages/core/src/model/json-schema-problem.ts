/** Whether a JSON Schema can be checked at all: asked when it is saved, so that no run meets one that cannot. */
import { isNumberAsText, numberAsText } from '@witan/protocol/digits'
import { isPatternOf } from './format.ts'
import { resolved, type Schema } from './json-schema-look.ts'
import type { Pausable } from '../identity/pausable.ts'
import { type PatternAllowance, patternAllowance, patternOf } from './pattern.ts'

/** What is wrong with a schema: `path` leads from it to the part, empty for itself. */
interface SchemaProblem {
  readonly path: string
  readonly reason: string
}

const types = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

/** Keywords whose value is one schema, a list of schemas, or schemas by name. */
const single = [
  'additionalProperties',
  'propertyNames',
  'items',
  'additionalItems',
  'contains',
  'not',
  'if',
  'then',
  'else',
]
const lists = ['prefixItems', 'items', 'allOf', 'anyOf', 'oneOf']
const named = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']
/** Keywords whose value is a number. */
const limits = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  ...['Length', 'Items', 'Properties', 'Contains'].flatMap((what) => [`min${what}`, `max${what}`]),
]
const unsupported = ['unevaluatedItems', 'unevaluatedProperties', 'dependencies', '$dynamicRef', '$recursiveRef']

/** What the patterns of one schema may weigh together, since the first check after a start compiles them all. */
const mostWeight = 8000

/** The number of parts that are listed between two pauses. */
const atOnce = 500

/** How many schemas the arguments of one agent may still have: its tools are made of them in one turn. */
export interface SchemaAllowance {
  left: number
}

/** The schemas that the queries and actions of an agent may have together, those within others included. */
const mostSchemas = 10_000

/** The allowance of one agent. */
export function schemaAllowance(): SchemaAllowance {
  return { left: mostSchemas }
}

/**
 * The first thing that is wrong; null for a schema that can be checked. `patterns` is what is left for the patterns of a whole request,
 * `schemas` what is left for the arguments of an agent; unlimited if absent.
 */
export function* schemaProblem(
  schema: Schema,
  patterns: PatternAllowance = patternAllowance(),
  schemas: SchemaAllowance = { left: Number.POSITIVE_INFINITY },
): Pausable<SchemaProblem | null> {
  const weighed = new Set<string>()
  let weight = 0
  const open: (readonly [path: string, schema: unknown])[] = [['', schema]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    yield
    const [path, part] = next
    schemas.left -= 1
    if (schemas.left < 0)
      return { path: '', reason: `queries and actions have at most ${mostSchemas} schemas in all, each property one` }
    if (typeof part === 'boolean') continue
    if (!isSchema(part)) return { path, reason: 'a schema is an object, true or false' }
    for (const pattern of patternsIn(part)) {
      if (weighed.has(pattern)) continue
      weighed.add(pattern)
      const reason = patterns.count(pattern)
      const made = reason ?? patternOf(pattern)
      if (typeof made === 'string') return { path, reason: made }
      weight += made.weight
      if (weight > mostWeight)
        return { path, reason: 'its patterns take too long to compile: they are too long or repeat too much' }
      yield
    }
    const reason = problemOf(part, schema)
    if (reason !== null) return { path, reason }
    for (const [key, inner] of partsOf(part)) {
      open.push([path === '' ? key : `${path}.${key}`, inner])
      if (open.length % atOnce === 0) yield
    }
  }
  return null
}

function patternsIn({ pattern, format, patternProperties }: Schema): readonly string[] {
  const names = isSchema(patternProperties) ? Object.keys(patternProperties) : []
  return typeof pattern === 'string' && !isPatternOf(format, pattern) ? [pattern, ...names] : names
}

function problemOf(part: Schema, root: Schema): string | null {
  const { type, $ref, pattern, required } = part
  const unknown = [type].flat().find((one) => one !== undefined && !types.has(one as string))
  if (unknown !== undefined) return `Unsupported type: ${String(unknown).slice(0, 80)}`
  const other = unsupported.find((keyword) => part[keyword] !== undefined)
  if (other !== undefined) return `\`${other}\` is not supported`
  if (pattern !== undefined && typeof pattern !== 'string') return '`pattern` is text'
  if (required !== undefined && typeof required !== 'boolean' && !Array.isArray(required))
    return '`required` is a list of names'
  if (part['enum'] !== undefined && !Array.isArray(part['enum'])) return '`enum` is a list of values'
  const long = limits.find((keyword) => isNumberAsText(part[keyword]))
  if (long !== undefined) return `\`${long}\` is ${numberAsText}: leave it out, or write one up to 9007199254740991`
  for (const keyword of named)
    if (keyword !== 'properties' && part[keyword] !== undefined && !isSchema(part[keyword]))
      return `\`${keyword}\` is an object of schemas`
  for (const keyword of ['prefixItems', 'allOf', 'anyOf', 'oneOf'])
    if (part[keyword] !== undefined && !Array.isArray(part[keyword])) return `\`${keyword}\` is a list of schemas`
  return $ref === undefined ? null : refProblem(root, $ref)
}

function refProblem(root: Schema, ref: unknown): string | null {
  if (typeof ref !== 'string' || !ref.startsWith('#')) return 'only a local `$ref` (#/…) is supported'
  return resolved(root, ref) === undefined ? `Reference not found: ${ref.slice(0, 80)}` : null
}

function* partsOf(part: Schema): Generator<readonly [key: string, schema: unknown]> {
  for (const keyword of single)
    if (part[keyword] !== undefined && !Array.isArray(part[keyword])) yield [keyword, part[keyword]]
  for (const keyword of lists) {
    const list = part[keyword]
    if (Array.isArray(list)) for (const [index, one] of list.entries()) yield [`${keyword}.${index}`, one]
  }
  for (const keyword of named) {
    const schemas = part[keyword]
    if (isSchema(schemas)) for (const name of Object.keys(schemas)) yield [`${keyword}.${name}`, schemas[name]]
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
