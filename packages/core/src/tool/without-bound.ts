/** The schema that a model reads: without the names that are bound for its tool, wherever the tool's own schema has them. */
import { resolved } from '../model/json-schema-look.ts'
import type { JsonSchema } from './schema.ts'
import {
  directNames,
  insideLists,
  insideNamed,
  insideSingle,
  isSchema,
  matchesName,
  sameValueLists,
  sameValueSchemas,
} from './schema-names.ts'

/**
 * The schema without its bound names, which the model must neither see nor supply [P5]. What depends on a bound value is loosened:
 * the tool's own schema checks the complete arguments later. Returns the same schema if it mentions none of the names.
 */
export function withoutBound(schema: JsonSchema, bound: ReadonlySet<string>): JsonSchema {
  if (bound.size === 0 || !mentions(schema, bound)) return schema
  const on: Rewriting = {
    root: schema,
    bound,
    touched: touchedSchemas(schema, bound),
    keys: new Map(),
    taken: new Set(),
    open: [],
  }
  const made = { ...rewriteArguments(schema, on) }
  const definitions: Record<string, unknown> = {}
  for (const { key, node, isInside } of on.open)
    definitions[key] = isInside ? rewriteInside(node, on) : rewriteArguments(node as JsonSchema, on)
  const whole = on.open.length === 0 ? made : { ...made, $defs: definitions }
  return JSON.stringify(whole) === JSON.stringify(schema) ? schema : Object.freeze(whole)
}

interface Rewriting {
  readonly root: JsonSchema
  readonly bound: ReadonlySet<string>
  /** The schemas of the arguments that say something of a bound name, themselves or through others. */
  readonly touched: ReadonlySet<JsonSchema>
  /** The definition made for a target: one of the arguments and one of a value inside them. */
  readonly keys: Map<unknown, { arguments?: string; inside?: string }>
  readonly taken: Set<string>
  /** Grows while it is processed. */
  readonly open: { readonly key: string; readonly node: unknown; readonly isInside: boolean }[]
}

/** Whether a bound name or a text with one stands anywhere in a schema, as a key or as text. */
function mentions(schema: JsonSchema, bound: ReadonlySet<string>): boolean {
  const isMentioned = (text: string) => {
    for (const name of bound) if (text.includes(name)) return true
    return false
  }
  const seen = new Set<object>([schema])
  for (const one of seen)
    for (const [key, value] of Object.entries(one)) {
      if (isMentioned(key) || (typeof value === 'string' && isMentioned(value))) return true
      if (key === 'patternProperties' && isSchema(value))
        for (const pattern of Object.keys(value)) for (const name of bound) if (matchesName(pattern, name)) return true
      if (typeof value === 'object' && value !== null) seen.add(value)
    }
  return false
}

/** One walk over what describes the arguments, then back from each schema that names a bound one to those that use it. */
function touchedSchemas(root: JsonSchema, bound: ReadonlySet<string>): ReadonlySet<JsonSchema> {
  const users = new Map<JsonSchema, JsonSchema[]>([[root, []]])
  for (const [node] of users)
    for (const next of sameValueSchemas(root, node)) {
      const known = users.get(next)
      if (known === undefined) users.set(next, [node])
      else known.push(node)
    }
  const touched = new Set([...users.keys()].filter((node) => namesBound(node, bound)))
  for (const node of touched) for (const user of users.get(node) ?? []) touched.add(user)
  return touched
}

function namesBound(node: JsonSchema, bound: ReadonlySet<string>): boolean {
  if (directNames(node).some((name) => bound.has(name))) return true
  const { patternProperties } = node
  return isSchema(patternProperties) && Object.keys(patternProperties).some((pattern) => takesBound(pattern, bound))
}

function takesBound(pattern: string, bound: ReadonlySet<string>): boolean {
  return [...bound].some((name) => pattern.includes(name) || matchesName(pattern, name))
}

/** A schema of the arguments themselves. */
function rewriteArguments(node: JsonSchema, on: Rewriting): JsonSchema {
  const made: Record<string, unknown> = {}
  const also: unknown[] = []
  const isTouched = (value: unknown) => isSchema(value) && on.touched.has(value)
  const part = (value: unknown) => (isSchema(value) ? rewriteArguments(value, on) : value)
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword === '$defs' || keyword === 'definitions') continue
    if (keyword === '$ref') made['$ref'] = refTo(value, { isInside: false }, on)
    else if (keyword === 'oneOf' && Array.isArray(value) && value.some(isTouched))
      also.push({ anyOf: value.map(part) }) // Without their bound names two of them may fit.
    else if (sameValueLists.some((one) => one === keyword) && Array.isArray(value)) made[keyword] = value.map(part)
    else if (keyword === 'not') {
      if (!isTouched(value)) made['not'] = part(value)
    } else if (keyword === 'if' || keyword === 'then' || keyword === 'else') {
      if (!isTouched(node['if'])) made[keyword] = part(value)
      else if (keyword === 'if') also.push({ anyOf: [part(node['then'] ?? {}), part(node['else'] ?? {})] })
    } else if (keyword === 'dependentSchemas' && isSchema(value))
      for (const [name, one] of Object.entries(value)) {
        if (on.bound.has(name)) also.push(part(one))
        else made[keyword] = { ...(made[keyword] as object | undefined), [name]: part(one) }
      }
    else Object.assign(made, rewriteNames(keyword, { value, node }, on))
  }
  const needed = requiredOf(node, on.bound)
  if (needed !== null) made['required'] = needed
  if (also.length > 0) made['allOf'] = [...((made['allOf'] as unknown[] | undefined) ?? []), ...also]
  return made
}

/** The required names without the bound ones, and with those that a bound one requires beside it. */
function requiredOf({ required, dependentRequired }: JsonSchema, bound: ReadonlySet<string>): readonly string[] | null {
  const beside = Object.entries(isSchema(dependentRequired) ? dependentRequired : {})
  const needed = beside.flatMap(([name, others]) => (bound.has(name) && Array.isArray(others) ? others : []))
  if (!Array.isArray(required) && needed.length === 0) return null
  const all = new Set([...(Array.isArray(required) ? required : []), ...needed])
  return [...all].filter((name) => !bound.has(name))
}

/** The keywords about names, and about whole values of the arguments. */
function rewriteNames(
  keyword: string,
  { value, node }: { readonly value: unknown; readonly node: JsonSchema },
  on: Rewriting,
): Record<string, unknown> {
  const { bound } = on
  switch (keyword) {
    case 'required':
      return {}
    case 'properties':
      return { properties: isSchema(value) ? rewriteEach(value, (name) => !bound.has(name), on) : value }
    case 'patternProperties':
      return isSchema(value) ? { [keyword]: rewriteEach(value, (name) => !takesName(name, bound), on) } : {}
    case 'dependentRequired': {
      const kept = Object.entries(isSchema(value) ? value : {}).filter(([name]) => !bound.has(name))
      const without = ([name, others]: readonly [string, unknown]) =>
        [name, Array.isArray(others) ? others.filter((one) => !bound.has(one)) : others] as const
      return kept.length === 0 ? {} : { dependentRequired: Object.fromEntries(kept.map(without)) }
    }
    case 'propertyNames':
      return isSchema(value) ? rewritePropertyNames(value, bound) : { propertyNames: value }
    case 'minProperties':
      return { minProperties: Math.max(0, Number(value) - (on.touched.has(node) ? bound.size : 0)) }
    case 'discriminator': {
      const name = isSchema(value) ? value['propertyName'] : undefined
      return typeof name === 'string' && !bound.has(name) ? { discriminator: { propertyName: name } } : {}
    }
    case 'const':
    case 'default':
      return { [keyword]: withoutKeys(value, bound) }
    case 'enum':
    case 'examples':
      return { [keyword]: Array.isArray(value) ? value.map((one) => withoutKeys(one, bound)) : value }
    default:
      return { [keyword]: rewriteKeyword(keyword, value, on) }
  }
}

/** A pattern goes if its text shows a bound name. One that only matches it says nothing of it to a model. */
function takesName(pattern: string, bound: ReadonlySet<string>): boolean {
  return [...bound].some((name) => pattern.includes(name))
}

function rewritePropertyNames(value: JsonSchema, bound: ReadonlySet<string>): Record<string, unknown> {
  const { enum: some, const: only } = value
  if (typeof only === 'string' && bound.has(only)) return { propertyNames: false }
  if (
    JSON.stringify({ ...value, enum: undefined })
      .split('"')
      .some((text) => takesName(text, bound))
  )
    return {}
  if (!Array.isArray(some)) return { propertyNames: value }
  const kept = some.filter((one) => !bound.has(one))
  return { propertyNames: kept.length === 0 ? false : { ...value, enum: kept } }
}

function withoutKeys(value: unknown, bound: ReadonlySet<string>): unknown {
  if (!isSchema(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => !bound.has(name)))
}

function rewriteEach(schemas: JsonSchema, isKept: (name: string) => boolean, on: Rewriting): object {
  const kept = Object.entries(schemas).filter(([name]) => isKept(name))
  return Object.fromEntries(kept.map(([name, one]) => [name, rewriteInside(one, on)]))
}

/** A schema inside the value of an argument: unchanged, except that its references lead to the definitions of the result. */
function rewriteInside(node: unknown, on: Rewriting): unknown {
  if (!isSchema(node)) return node
  const made: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword === '$defs' || keyword === 'definitions') continue
    made[keyword] = keyword === '$ref' ? refTo(value, { isInside: true }, on) : rewriteKeyword(keyword, value, on)
  }
  return made
}

const singles: ReadonlySet<string> = new Set([...insideSingle, 'propertyNames', 'not', 'if', 'then', 'else'])
const lists: ReadonlySet<string> = new Set([...insideLists, ...sameValueLists])
const named: ReadonlySet<string> = new Set([...insideNamed, 'dependentSchemas'])

function rewriteKeyword(keyword: string, value: unknown, on: Rewriting): unknown {
  if (lists.has(keyword) && Array.isArray(value)) return value.map((one) => rewriteInside(one, on))
  if (named.has(keyword) && isSchema(value)) return rewriteEach(value, () => true, on)
  return singles.has(keyword) ? rewriteInside(value, on) : value
}

/** The reference to the definition that the result has for a target: each is made once. */
function refTo(ref: unknown, { isInside }: { readonly isInside: boolean }, on: Rewriting): unknown {
  const node = typeof ref === 'string' ? resolved(on.root, ref) : undefined
  if (node === undefined || (!isInside && node === on.root)) return ref
  const keys = on.keys.get(node) ?? {}
  on.keys.set(node, keys)
  const use = isInside || !isSchema(node) ? 'inside' : 'arguments'
  const known = keys[use]
  if (known !== undefined) return `#/$defs/${known}`
  const last = String(ref).split('/').at(-1) ?? ''
  const isPlain = /^[\w.-]+$/.test(last) && !takesName(last, on.bound)
  const key = isPlain && !on.taken.has(last) ? last : `definition-${on.open.length + 1}`
  on.taken.add(key)
  keys[use] = key
  on.open.push({ key, node, isInside: use === 'inside' })
  return `#/$defs/${key}`
}
