/** What a schema of arguments says of names, wherever it says it: through references, combinations and conditions. */
import type { Pausable } from '../identity/pausable.ts'
import { resolved, type Schema } from '../model/json-schema-look.ts'
import { patternOf } from '../model/pattern.ts'

/** Keywords whose schema describes the same value as the schema that has it. */
const sameValueSingle = ['if', 'then', 'else', 'not'] as const
/** Keywords whose list of schemas describes the same value. */
export const sameValueLists = ['allOf', 'anyOf', 'oneOf'] as const

/** Keywords whose schema describes something inside the value. */
export const insideSingle = [
  'additionalProperties',
  'unevaluatedProperties',
  'items',
  'additionalItems',
  'unevaluatedItems',
  'contains',
] as const
/** Keywords whose list of schemas describes something inside the value. */
export const insideLists = ['prefixItems', 'items'] as const
/** Keywords whose schemas describe something inside the value, by name. */
export const insideNamed = ['properties', 'patternProperties'] as const

/** The names that a schema has for the arguments themselves. */
interface SchemaNames {
  readonly listed: ReadonlySet<string>
  /** Patterns whose matching names it also describes. */
  readonly patterns: readonly string[]
  /** True if it takes names that it does not list. */
  readonly isOpen: boolean
}

/** A schema that is neither true nor false. */
export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The schemas that describe the same value as `node`, one step away. */
export function sameValueSchemas(root: Schema, node: Schema): readonly Schema[] {
  const found: unknown[] = typeof node['$ref'] === 'string' ? [resolved(root, node['$ref'])] : []
  for (const keyword of sameValueSingle) if (keyword in node) found.push(node[keyword])
  for (const keyword of sameValueLists) if (Array.isArray(node[keyword])) found.push(...(node[keyword] as unknown[]))
  if (isSchema(node['dependentSchemas'])) found.push(...Object.values(node['dependentSchemas']))
  return found.filter(isSchema)
}

/** All schemas that describe the same value as `start`, itself first. Each is visited once, whatever the references. */
function* sameValueWalk(root: Schema, start: Schema): Generator<Schema> {
  const seen = new Set([start])
  for (const node of seen) {
    yield node
    for (const next of sameValueSchemas(root, node)) seen.add(next)
  }
}

const known = new WeakMap<Schema, SchemaNames>()

/** The names of a schema of arguments. Computed once for each schema. */
export function namesOf(schema: Schema): SchemaNames {
  const before = known.get(schema)
  if (before !== undefined) return before
  const listed = new Set<string>()
  const patterns: string[] = []
  for (const { properties, patternProperties } of sameValueWalk(schema, schema)) {
    for (const name of Object.keys(isSchema(properties) ? properties : {})) listed.add(name)
    patterns.push(...Object.keys(isSchema(patternProperties) ? patternProperties : {}))
  }
  const names = {
    listed,
    patterns,
    isOpen: patterns.length > 0 || !isClosed(schema, { root: schema, known: new Map() }),
  }
  known.set(schema, names)
  return names
}

/** What is known of the schemas looked at so far: each once, and false while it is being looked at. */
interface Looking {
  readonly root: Schema
  readonly known: Map<Schema, boolean>
  readonly depth?: number
}

/** A longer chain of references counts as open: the check of the arguments then decides alone. */
const longestChain = 200

/** True if every value that fits has only names that the schema lists. */
function isClosed(node: unknown, { root, known: before, depth = 0 }: Looking): boolean {
  if (!isSchema(node) || depth > longestChain) return false
  const found = before.get(node)
  if (found !== undefined) return found
  before.set(node, false)
  const is = (one: unknown) => isClosed(one, { root, known: before, depth: depth + 1 })
  const { $ref, allOf, properties, additionalProperties } = node
  const choices = [node['anyOf'], node['oneOf']].filter((one) => Array.isArray(one) && one.length > 0) as unknown[][]
  const closed =
    additionalProperties === false ||
    // What says of other names what they hold, takes them. By default the others are a model's mistake.
    (isSchema(properties) && additionalProperties === undefined) ||
    (typeof $ref === 'string' && is(resolved(root, $ref))) ||
    (Array.isArray(allOf) && allOf.some(is)) ||
    choices.some((some) => some.every(is))
  before.set(node, closed)
  return closed
}

const mostAlternatives = 50

/**
 * The sets of names that the alternatives of a schema list, with those outside the alternatives. The first 50; an alternative within
 * an alternative counts as part of it.
 */
export function alternativesOf(schema: Schema): readonly ReadonlySet<string>[] {
  const listedFrom = (node: Schema) =>
    [...sameValueWalk(schema, node)].flatMap((one) => Object.keys(isSchema(one['properties']) ? one['properties'] : {}))
  const outside: string[] = []
  const choices: Schema[] = []
  const seen = new Set([schema])
  for (const node of seen) {
    outside.push(...Object.keys(isSchema(node['properties']) ? node['properties'] : {}))
    const { anyOf: any, oneOf: one, ...rest } = node
    choices.push(...[any, one].flatMap((some) => (Array.isArray(some) ? some.filter(isSchema) : [])))
    for (const next of sameValueSchemas(schema, rest)) seen.add(next)
  }
  return choices.slice(0, mostAlternatives).map((choice) => new Set([...outside, ...listedFrom(choice)]))
}

/** Whether a schema of arguments describes the argument of that name. */
export function describesName(schema: Schema, name: string): boolean {
  const { listed, patterns } = namesOf(schema)
  return listed.has(name) || patterns.some((pattern) => matchesName(pattern, name))
}

/** Whether a pattern of names takes this one. A pattern that cannot be read takes none. */
export function matchesName(pattern: string, name: string): boolean {
  const read = patternOf(pattern)
  return typeof read !== 'string' && read.test(name)
}

/**
 * The names of `wanted` that stand inside the values of arguments, with the path of the first occurrence each. Only arguments
 * themselves are bound, so a model would read such a name and write its value.
 */
export function* namesInside(schema: Schema, wanted: ReadonlySet<string>): Pausable<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  if (wanted.size === 0) return found
  const seen = new Map<Schema, string>()
  let looked = 0
  const isPause = () => ++looked % atOnce === 0
  for (const node of sameValueWalk(schema, schema)) {
    if (isPause()) yield
    for (const [path, inner] of insideSchemas(node, wanted)) {
      if (!seen.has(inner)) seen.set(inner, path)
      if (isPause()) yield
    }
  }
  for (const [node, path] of seen) {
    if (isPause()) yield
    for (const name of directNames(node)) if (wanted.has(name) && !found.has(name)) found.set(name, `${path}.${name}`)
    for (const next of sameValueSchemas(schema, node)) if (!seen.has(next)) seen.set(next, path)
    for (const [key, inner] of insideSchemas(node, none)) {
      if (!seen.has(inner)) seen.set(inner, `${path}.${key}`)
      if (isPause()) yield
    }
  }
  return found
}

/** So many schemas are looked at between two pauses. */
const atOnce = 200

const none: ReadonlySet<string> = new Set()

/** The schemas inside the value of `node`, without those of the properties `except`. */
function* insideSchemas(node: Schema, except: ReadonlySet<string>): Generator<readonly [string, Schema]> {
  for (const keyword of insideNamed) {
    const named = node[keyword]
    if (!isSchema(named)) continue
    for (const name of Object.keys(named)) {
      const one = named[name]
      if (!except.has(name) && isSchema(one)) yield [name, one]
    }
  }
  for (const keyword of insideSingle) {
    const one = node[keyword]
    if (isSchema(one)) yield [keyword, one]
  }
  for (const keyword of insideLists) {
    const list = node[keyword]
    if (Array.isArray(list)) for (const one of list) if (isSchema(one)) yield [keyword, one]
  }
}

/** The names that one schema itself has: listed, required, or in a dependency. */
export function directNames(node: Schema): readonly string[] {
  const { properties, required, dependentRequired, dependentSchemas, propertyNames } = node
  const dependent = isSchema(dependentRequired) ? dependentRequired : {}
  const { enum: some, const: only } = isSchema(propertyNames) ? propertyNames : {}
  return [
    ...Object.keys(isSchema(properties) ? properties : {}),
    ...(Array.isArray(required) ? required : []),
    ...Object.keys(dependent),
    ...Object.values(dependent).flat(),
    ...Object.keys(isSchema(dependentSchemas) ? dependentSchemas : {}),
    ...(Array.isArray(some) ? some : []),
    only,
  ].filter((name) => typeof name === 'string')
}
