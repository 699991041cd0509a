/** Checks values against JSON Schemas that are data, with bounded work: neither a schema nor a value can block the process. */
import { isNumberAsText, numberAsText } from '@witan/protocol/digits'
import { arrayKeywords, objectKeywords } from './json-schema-parts.ts'
import { type At, type Keyword, jsonTypeOf, kindWords, type Look, lookUp, type Schema } from './json-schema-look.ts'
import { numberKeywords, stringKeywords } from './json-schema-scalars.ts'

/** What a schema says of values, by the standard: a keyword about one type lets values of another type pass. */
interface JsonValidator {
  /** In words what is wrong: where, and what was expected; empty for a value that fits. Values are not echoed. */
  issuesOf(value: unknown): readonly string[]
  /** Whether a value fits; `unknown` where that takes too much work, or the schema says what nothing here understands. */
  fits(value: unknown): boolean | 'unknown'
}

const validators = new WeakMap<object, JsonValidator>()

/** The validator of a schema, made once per schema object. It never throws; `schemaProblem` says whether a schema can be checked. */
export function validatorOf(schema: Schema): JsonValidator {
  const known = validators.get(schema)
  if (known !== undefined) return known
  const look = lookUp(schema, { check, keywordOf })
  const made: JsonValidator = {
    issuesOf(value) {
      const issues = look.begin()
      check(look, schema, { value, key: '', above: null })
      const unknown = look.end()
      return unknown === null ? issues : [unknown]
    },
    fits(value) {
      look.begin()
      const fits = look.quietly(() => check(look, schema, { value, key: '', above: null }))
      return look.end() === null ? fits : 'unknown'
    },
  }
  validators.set(schema, made)
  return made
}

/** Whether a value fits, as far as the work went; what is wrong goes to the issues. */
function check(look: Look, schema: unknown, at: At): boolean {
  if (schema === false) return look.wrong(at, 'nothing is allowed here')
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return true
  const rules = look.rulesOf(schema as Schema, jsonTypeOf(at.value))
  if (!look.enter(1 + rules.length)) return true
  let fits = true
  for (const rule of rules) {
    if (rule(look, schema as Schema, at)) continue
    fits = false
    if (look.isQuiet()) break
  }
  look.leave()
  return fits
}

const byKind: Readonly<Record<string, Readonly<Record<string, Keyword>>>> = {
  array: arrayKeywords,
  object: objectKeywords,
  string: stringKeywords,
  number: numberKeywords,
}

function keywordOf(keyword: string, kind: string): Keyword | undefined {
  if (Object.hasOwn(anyKeywords, keyword)) return anyKeywords[keyword]
  const own = byKind[kind]
  return own !== undefined && Object.hasOwn(own, keyword) ? own[keyword] : undefined
}

/** Keywords about any value. */
const anyKeywords: Readonly<Record<string, Keyword>> = {
  type(look, { type }, at) {
    const kind = jsonTypeOf(at.value)
    if (type === kind) return true
    const types = Array.isArray(type) ? type : [type]
    if (types.some((one) => one === kind || (one === 'integer' && Number.isInteger(at.value)))) return true
    return look.wrong(at, () => {
      const isFraction = kind === 'number' && types.includes('integer')
      return `expected ${types.map(String).join(' or ')}, got ${isFraction ? 'a fraction' : gotWords(at.value)}`
    })
  },
  enum(look, { enum: allowed }, at) {
    if (!Array.isArray(allowed) || look.includes(allowed, allowed, at.value)) return true
    return look.wrong(at, () =>
      allowed.length === 0 ? 'nothing is allowed here' : `expected one of ${kindWords(allowed)}`,
    )
  },
  const(look, schema, at) {
    const wanted = [schema['const']]
    return look.includes(schema, wanted, at.value) || look.wrong(at, () => `expected ${kindWords(wanted)}`)
  },
  $ref(look, { $ref }, at) {
    const target = look.resolve(String($ref))
    return target === undefined
      ? look.giveUp(`\`$ref\` leads nowhere: ${String($ref).slice(0, 80)}`)
      : check(look, target, at)
  },
  allOf(look, { allOf }, at) {
    let fits = true
    for (const one of listOf(allOf)) if (!check(look, one, at)) fits = false
    return fits
  },
  anyOf(look, { anyOf }, at) {
    const all = listOf(anyOf)
    if (look.quietly(() => all.some((one) => check(look, one, at)))) return true
    if (look.isQuiet()) return false
    if (all.length === 1) return check(look, all[0], at)
    return look.wrong(at, () => `fits none of the ${all.length} alternatives${typesOf(all, at.value)}`)
  },
  oneOf(look, { oneOf }, at) {
    let count = 0
    look.quietly(() => {
      for (const one of listOf(oneOf)) if (count < 2 && check(look, one, at)) count += 1
      return true
    })
    if (count === 1) return true
    return look.wrong(at, count === 0 ? 'fits none of the alternatives' : 'fits more than one of the alternatives')
  },
  not(look, { not }, at) {
    return !look.quietly(() => check(look, not, at)) || look.wrong(at, 'is of a shape that is excluded')
  },
  if(look, { if: condition, then, else: otherwise }, at) {
    return check(look, look.quietly(() => check(look, condition, at)) ? then : otherwise, at)
  },
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Names the alternatives if all are plain types, because nothing else says what to write. */
function typesOf(all: readonly unknown[], value: unknown): string {
  const types = all.map((one) => (one as { type?: unknown } | null)?.type)
  return types.every((type) => typeof type === 'string')
    ? `: expected ${[...new Set(types)].join(' or ')}, got ${gotWords(value)}`
    : ''
}

function gotWords(value: unknown): string {
  return isNumberAsText(value) ? numberAsText : jsonTypeOf(value)
}
