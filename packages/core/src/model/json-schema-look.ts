/** One check of a value: what it may still cost, what was found wrong, and what was made once for its schema. */
import { type Pattern, patternOf } from './pattern.ts'

/** A JSON Schema that is an object. */
export type Schema = Readonly<Record<string, unknown>>

/** A value at its place. */
export interface At {
  readonly value: unknown
  readonly path: string
  readonly depth: number
}

/** A check of one keyword. */
export type Keyword = (look: Look, schema: Schema, at: At) => boolean

/** What one check may cost: a few tens of milliseconds at most. One keyword against one value costs about 1. */
const costLimit = 200_000
const mostIssues = 10

/** What one check works with. */
export interface Look {
  /** Why nothing can be said of the value; null so far. */
  unknown(): string | null
  /** Starts a check; what is wrong will stand in the list. */
  begin(): readonly string[]
  /** Adds to the cost of this check; false once it is over the limit. */
  pay(cost: number): boolean
  /** Gives up: the result is unknown, and no further keyword is examined. */
  giveUp(why: string): true
  /** Whether nothing is noted now, so that words need not be found. */
  isQuiet(): boolean
  /** Notes what is wrong. */
  wrong(at: At, what: string): false
  /** Notes nothing of what `run` finds wrong. */
  quietly(run: () => boolean): boolean
  /** Another schema against another value. */
  check(schema: unknown, at: At): boolean
  /** Where `#/$defs/…` leads; undefined for nowhere. */
  resolve(ref: string): unknown
  /** Whether an expression is found in a text; true where nothing can be said. */
  matches(source: string, text: string): boolean
  /** Whether a list of JSON values has this one; read once for the `owner` of the list. */
  includes(owner: object, list: readonly unknown[], value: unknown): boolean
}

/** Makes the look of one schema; `check` is handed in because keywords and schemas refer to each other. */
export function lookUp(root: Schema, check: (look: Look, schema: unknown, at: At) => boolean): Look {
  const patterns = new Map<string, Pattern | string>()
  const lists = new Map<object, ReadonlySet<string>>()
  let issues: string[] = []
  let left = 0
  let quiet = 0
  let unknown: string | null = null
  const look: Look = {
    unknown: () => unknown,
    isQuiet: () => quiet > 0,
    begin() {
      issues = []
      left = costLimit
      quiet = 0
      unknown = null
      return issues
    },
    pay(cost) {
      left -= cost
      if (left < 0) look.giveUp('its schema and its size make it too much work')
      return unknown === null
    },
    giveUp(why) {
      unknown ??= `the value cannot be checked: ${why}`
      return true
    },
    wrong({ path }, what) {
      if (quiet === 0 && issues.length < mostIssues)
        issues.push(`${path === '' ? 'the value' : `\`${path}\``}: ${what}`)
      return false
    },
    quietly(run) {
      quiet += 1
      const fits = run()
      quiet -= 1
      return fits
    },
    check: (schema, at) => check(look, schema, at),
    resolve: (ref) => resolved(root, ref),
    matches(source, text) {
      const pattern = patterns.get(source) ?? patternOf(source)
      patterns.set(source, pattern)
      if (typeof pattern === 'string') return look.giveUp(pattern)
      return !look.pay(1 + pattern.cost(text)) || pattern.test(text)
    },
    includes(owner, list, value) {
      const known = lists.get(owner) ?? new Set(list.map((one) => sameKey(one, null)))
      lists.set(owner, known)
      return known.has(sameKey(value, look))
    },
  }
  return look
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
  if (typeof value !== 'object' || value === null) {
    const text = JSON.stringify(value) ?? 'undefined'
    look?.pay(1 + (text.length >> 4))
    return text
  }
  if (look?.pay(1) === false) return ''
  if (Array.isArray(value)) return `[${value.map((one) => sameKey(one, look)).join(',')}]`
  const keys = Object.keys(value).sort()
  look?.pay(keys.length)
  return `{${keys.map((key) => `${JSON.stringify(key)}:${sameKey((value as Schema)[key], look)}`).join(',')}}`
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
