/** One check of a value: what it may still cost, what was found wrong, and what was made once for its schema. */
import { countWork } from '../identity/turn.ts'
import { type Pattern, patternOf } from './pattern.ts'

/** A JSON Schema that is an object. */
export type Schema = Readonly<Record<string, unknown>>

/** A value at its place. Its path is spelled only where something is wrong with it. */
export interface At {
  readonly value: unknown
  /** Its name or index in the value around it; empty at the top. */
  readonly key: string | number
  readonly above: At | null
}

/** A check of one keyword. */
export type Keyword = (look: Look, schema: Schema, at: At) => boolean

/** What one check may cost. One unit is about 0.1 µs, and one keyword against one value costs about 1, so a check ends within some 20 ms. */
const costLimit = 250_000
const mostIssues = 10

/** So deep may schemas refer to each other, and values nest, in one check. */
const deepest = 400

/** From so many members on, the names of an object are kept for the rest of a check. */
const manyNames = 500

/** What a search for an expression costs before its first character. */
const searchCost = 50

/** What one check works with. */
export interface Look {
  /** Starts a check; what is wrong will stand in the list. */
  begin(): readonly string[]
  /** Ends it: why nothing can be said of the value; null if something can. */
  end(): string | null
  /** Whether it gave up. */
  isOver(): boolean
  /** Adds to the cost of this check; false once it is over the limit. */
  pay(cost: number): boolean
  /** Goes one schema deeper, for this cost; false if that is too deep or too dear. Each success is followed by `leave`. */
  enter(cost: number): boolean
  leave(): void
  /** Gives up: the result is unknown, and no further keyword is examined. */
  giveUp(why: string): true
  /** Whether nothing is noted now, so that words need not be found. */
  isQuiet(): boolean
  /** Notes what is wrong; words that take time to find are found only where they are noted. */
  wrong(at: At, what: string | (() => string)): false
  /** Notes nothing of what `run` finds wrong. */
  quietly(run: () => boolean): boolean
  /** Another schema against another value. */
  check(schema: unknown, at: At): boolean
  /** The checks of a schema for values of a type, in the order of its keywords: found once. */
  rulesOf(schema: Schema, kind: string): readonly Keyword[]
  /** The names of an object's members: listed once in a check where there are many. */
  namesOf(value: object): readonly string[]
  /** Where `#/$defs/…` leads; undefined for nowhere. */
  resolve(ref: string): unknown
  /** Whether an expression is found in a text; true where nothing can be said. */
  matches(source: string, text: string): boolean
  /** The same text for the same JSON value: made once where one value is compared many times in a row. */
  keyOf(value: unknown): string
  /** Whether a list of JSON values has this one; read once for the `owner` of the list. */
  includes(owner: object, list: readonly unknown[], value: unknown): boolean
}

/** What a look is handed, because keywords and schemas refer to each other. */
interface Checks {
  check(look: Look, schema: unknown, at: At): boolean
  /** The check of a keyword for values of a type; undefined for one that says nothing of them. */
  keywordOf(keyword: string, kind: string): Keyword | undefined
}

/** Makes the look of one schema. */
export function lookUp(root: Schema, { check, keywordOf }: Checks): Look {
  const { patternFor, valuesOf, ...schemas } = knownOnce(root, keywordOf)
  /** Emptied after each check, since it holds what was checked. */
  const names = new Map<object, readonly string[]>()
  let issues: string[] = []
  let left = 0
  let quiet = 0
  let depth = 0
  let unknown: string | null = null
  let keyed: { readonly value: unknown; readonly key: string } | null = null
  const look: Look = {
    ...schemas,
    end() {
      countWork(costLimit - left)
      names.clear()
      keyed = null
      return unknown
    },
    isOver: () => unknown !== null,
    isQuiet: () => quiet > 0,
    begin() {
      issues = []
      left = costLimit
      quiet = 0
      depth = 0
      unknown = null
      return issues
    },
    pay(cost) {
      left -= cost
      if (left < 0) look.giveUp('its schema and its size make it too much work')
      return unknown === null
    },
    enter(cost) {
      if (depth > deepest) look.giveUp('it nests or refers to itself too deep')
      if (!look.pay(cost)) return false
      depth += 1
      return true
    },
    leave() {
      depth -= 1
    },
    giveUp(why) {
      unknown ??= `the value cannot be checked: ${why}`
      return true
    },
    wrong(at, what) {
      if (quiet === 0 && issues.length < mostIssues)
        issues.push(`${placeOf(at)}: ${typeof what === 'string' ? what : what()}`)
      return false
    },
    quietly(run) {
      quiet += 1
      const fits = run()
      quiet -= 1
      return fits
    },
    check: (schema, at) => check(look, schema, at),
    namesOf(value) {
      const known = names.get(value)
      if (known !== undefined) return known
      const found = Object.keys(value)
      look.pay(found.length)
      if (found.length > manyNames) names.set(value, found)
      return found
    },
    matches(source, text) {
      const pattern = patternFor(source)
      if (typeof pattern === 'string') return look.giveUp(pattern)
      return !look.pay(searchCost + pattern.cost(text)) || pattern.test(text)
    },
    keyOf(value) {
      if (keyed !== null && keyed.value === value) return keyed.key
      const key = sameKey(value, look)
      keyed = { value, key }
      return key
    },
    includes: (owner, list, value) => valuesOf(owner, list).has(value, look),
  }
  return look
}

/** What is found once for a schema, and serves all its checks. */
interface KnownOnce extends Pick<Look, 'rulesOf' | 'resolve'> {
  patternFor(source: string): Pattern | string
  valuesOf(owner: object, list: readonly unknown[]): ValueSet
}

/** Plain maps: a weak one is many times slower to read, and these live as long as their schema anyway. */
function knownOnce(root: Schema, keywordOf: Checks['keywordOf']): KnownOnce {
  const rules = new Map<Schema, Map<string, readonly Keyword[]>>()
  const patterns = new Map<string, Pattern | string>()
  const lists = new Map<object, ValueSet>()
  const targets = new Map<string, unknown>()
  const rulesOf = (schema: Schema, kind: string) =>
    found(
      found(rules, schema, () => new Map<string, readonly Keyword[]>()),
      kind,
      () => Object.keys(schema).flatMap((keyword) => keywordOf(keyword, kind) ?? []),
    )
  return {
    rulesOf,
    resolve: (ref) => found(targets, ref, () => resolved(root, ref)),
    patternFor: (source) => found(patterns, source, () => patternOf(source)),
    valuesOf: (owner, list) => found(lists, owner, () => valueSet(list)),
  }
}

/** The value of a key, made where there is none. */
function found<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined || map.has(key)) return known as Value
  const made = make()
  map.set(key, made)
  return made
}

/** Where a value stands, in words. */
function placeOf(at: At): string {
  const keys: string[] = []
  for (let one = at; one.above !== null; one = one.above) keys.push(clip(String(one.key)))
  return keys.length === 0 ? 'the value' : `\`${keys.reverse().join('.')}\``
}

/** A name as an issue shows it. */
export function clip(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}…` : name
}

/** JSON values that others are looked up in. */
interface ValueSet {
  has(value: unknown, look: Look): boolean
}

/** Plain values are found as they are; of lists and objects the text is made. */
function valueSet(list: readonly unknown[]): ValueSet {
  const plain = new Set(list.filter(isPlain))
  const keys = new Set(list.filter((one) => !isPlain(one)).map((one) => sameKey(one, null)))
  return {
    has(value, look) {
      if (!isPlain(value)) return keys.size > 0 && keys.has(look.keyOf(value))
      if (typeof value === 'string') look.pay(value.length >> 6)
      return plain.has(value)
    },
  }
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}

/** What a `$ref` within a schema leads to; undefined for nowhere. */
export function resolved(root: Schema, ref: string): unknown {
  if (!ref.startsWith('#')) return undefined
  let at: unknown = root
  for (const part of ref.slice(1).split('/').slice(1)) {
    const key = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as Record<string, unknown>)[key]
  }
  return ref === '#' || ref.startsWith('#/') ? at : undefined
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The same text for the same JSON value, whatever the order of keys. What it costs is paid by `look`. */
export function sameKey(value: unknown, look: Look | null): string {
  return JSON.stringify(sorted(value, look)) ?? 'undefined'
}

/** The value with the names of each object in order; itself where they are. */
function sorted(value: unknown, look: Look | null): unknown {
  if (typeof value !== 'object' || value === null) {
    look?.pay(typeof value === 'string' ? 2 + (value.length >> 6) : 2)
    return value
  }
  if (look?.pay(6) === false) return null
  if (Array.isArray(value)) return value.map((one) => sorted(one, look))
  const keys = Object.keys(value)
  const inOrder = keys.every((key, index) => index === 0 || (keys[index - 1] as string) < key)
  let isSame = inOrder
  const made: Record<string, unknown> = {}
  for (const key of inOrder ? keys : keys.sort()) {
    const inner = (value as Schema)[key]
    const one = sorted(inner, look)
    if (one !== inner) isSame = false
    if (key === '__proto__') Object.defineProperty(made, key, { value: one, enumerable: true })
    else made[key] = one
  }
  return isSame ? value : made
}

/** The type of a JSON value, in the words of the standard. */
export function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'undefined'
  return Array.isArray(value) ? 'array' : typeof value
}

/** What a schema allows, for people and models: the first few. */
export function kindWords(allowed: readonly unknown[]): string {
  const words = allowed.slice(0, 20).map((one) => (JSON.stringify(one) ?? '').slice(0, 100))
  return `${words.join('|')}${allowed.length > 20 ? '|…' : ''}`
}
