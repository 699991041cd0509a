/** The keywords of JSON Schema about objects and arrays. */
import { type At, clip, type Keyword, jsonTypeOf, type Look, type Schema, sameKey } from './json-schema-look.ts'

function within(above: At, key: string | number, value: unknown): At {
  return { value, key, above }
}

function records(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {}
}

/** Every member of an object against the schema that `schemaOf` has for its name. */
function members(look: Look, at: At, schemaOf: (name: string) => unknown): boolean {
  let fits = true
  for (const name of look.namesOf(at.value as Schema)) {
    if (!look.pay(1)) return true
    const schema = schemaOf(name)
    if (schema !== undefined && !look.check(schema, within(at, name, (at.value as Schema)[name]))) fits = false
  }
  return fits
}

/** Keywords about objects. */
export const objectKeywords: Readonly<Record<string, Keyword>> = {
  properties(look, { properties }, at) {
    const known = records(properties)
    return members(look, at, (name) => (Object.hasOwn(known, name) ? known[name] : undefined))
  },
  required(look, { required, properties }, at) {
    let fits = true
    for (const name of namesIn(required)) {
      if (!look.pay(1)) return true
      if (Object.hasOwn(at.value as Schema, name)) continue
      fits = look.wrong(within(at, name, undefined), () => {
        const { type } = records(records(properties)[name])
        return `expected ${typeof type === 'string' ? type : 'a value'}, got ${jsonTypeOf(undefined)}`
      })
    }
    return fits
  },
  patternProperties(look, { patternProperties }, at) {
    let fits = true
    for (const [pattern, schema] of Object.entries(records(patternProperties)))
      if (!members(look, at, (name) => (look.matches(pattern, name) ? schema : undefined))) fits = false
    return fits
  },
  additionalProperties(look, schema, at) {
    const { additionalProperties, properties, patternProperties } = schema
    const known = records(properties)
    const patterns = Object.keys(records(patternProperties))
    const isListed = (name: string) =>
      Object.hasOwn(known, name) || patterns.some((pattern) => look.matches(pattern, name))
    if (additionalProperties !== false)
      return members(look, at, (name) => (isListed(name) ? undefined : additionalProperties))
    const others = look.namesOf(at.value as Schema).filter((name) => look.pay(1) && !isListed(name))
    if (others.length === 0 || look.isOver()) return true
    return look.wrong(at, () => {
      const list = others.slice(0, 5).map((name) => JSON.stringify(clip(name)))
      return `Unrecognized key${others.length === 1 ? '' : 's'}: ${list.join(', ')}`
    })
  },
  propertyNames(look, { propertyNames }, at) {
    let fits = true
    for (const name of look.namesOf(at.value as Schema))
      if (!look.check(propertyNames, within(at, name, name))) fits = false
    return fits
  },
  minProperties(look, { minProperties }, at) {
    return amount(look, at, {
      count: look.namesOf(at.value as Schema).length,
      least: minProperties,
      what: 'properties',
    })
  },
  maxProperties(look, { maxProperties }, at) {
    return amount(look, at, { count: look.namesOf(at.value as Schema).length, most: maxProperties, what: 'properties' })
  },
  dependentRequired(look, { dependentRequired }, at) {
    let fits = true
    for (const [name, others] of Object.entries(records(dependentRequired)))
      for (const other of Object.hasOwn(at.value as Schema, name) ? namesIn(others) : [])
        if (look.pay(1) && !Object.hasOwn(at.value as Schema, other))
          fits = look.wrong(within(at, other, undefined), `is required beside \`${clip(name)}\``)
    return fits
  },
  dependentSchemas(look, { dependentSchemas }, at) {
    let fits = true
    for (const [name, schema] of Object.entries(records(dependentSchemas)))
      if (Object.hasOwn(at.value as Schema, name) && !look.check(schema, at)) fits = false
    return fits
  },
}

interface Amount {
  readonly count: number
  readonly least?: unknown
  readonly most?: unknown
  readonly what: string
}

function amount(look: Look, at: At, { count, least, most, what }: Amount): boolean {
  const kind = jsonTypeOf(at.value)
  if (typeof least === 'number' && count < least) return look.wrong(at, `expected ${kind} to have >=${least} ${what}`)
  if (typeof most === 'number' && count > most) return look.wrong(at, `expected ${kind} to have <=${most} ${what}`)
  return true
}

/** The items from an index on, each against one schema. */
function items(look: Look, at: At, { schema, from }: { readonly schema: unknown; readonly from: number }): boolean {
  let fits = true
  for (const [index, item] of (at.value as readonly unknown[]).entries()) {
    if (!look.pay(1)) return true
    if (index >= from && !look.check(schema, within(at, index, item))) fits = false
  }
  return fits
}

/** The first items, each against its own schema. */
function places(look: Look, schemas: readonly unknown[], at: At): boolean {
  let fits = true
  for (const [index, item] of (at.value as readonly unknown[]).slice(0, schemas.length).entries())
    if (!look.check(schemas[index], within(at, index, item))) fits = false
  return fits
}

/** Keywords about arrays. A list under `items`, with `additionalItems` beside it, is how draft 7 writes `prefixItems`. */
export const arrayKeywords: Readonly<Record<string, Keyword>> = {
  prefixItems: (look, { prefixItems }, at) => !Array.isArray(prefixItems) || places(look, prefixItems, at),
  items(look, { items: schema, prefixItems }, at) {
    if (Array.isArray(schema)) return places(look, schema, at)
    return items(look, at, { schema, from: Array.isArray(prefixItems) ? prefixItems.length : 0 })
  },
  additionalItems(look, { additionalItems, items: first }, at) {
    return !Array.isArray(first) || items(look, at, { schema: additionalItems, from: first.length })
  },
  minItems(look, { minItems }, at) {
    return amount(look, at, { count: (at.value as readonly unknown[]).length, least: minItems, what: 'items' })
  },
  maxItems(look, { maxItems }, at) {
    return amount(look, at, { count: (at.value as readonly unknown[]).length, most: maxItems, what: 'items' })
  },
  uniqueItems(look, { uniqueItems }, at) {
    if (uniqueItems !== true) return true
    const seen = new Map<string, number>()
    for (const [index, item] of (at.value as readonly unknown[]).entries()) {
      const key = sameKey(item, look)
      if (look.isOver()) return true
      const first = seen.get(key)
      if (first !== undefined) return look.wrong(at, `items must be unique: ${index} is the same as ${first}`)
      seen.set(key, index)
    }
    return true
  },
  contains(look, { contains, minContains = 1, maxContains = Number.POSITIVE_INFINITY }, at) {
    let count = 0
    look.quietly(() => {
      for (const item of at.value as readonly unknown[])
        if (look.pay(1) && look.check(contains, { ...at, value: item })) count += 1
      return true
    })
    if (count >= Number(minContains) && count <= Number(maxContains)) return true
    return look.wrong(at, `has ${count} items of the shape that it must contain`)
  },
}

function namesIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
