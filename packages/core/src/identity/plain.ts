/** Turns a value of the host program into plain JSON: a copy that nobody else can change. */
import type { Pausable } from './pausable.ts'

/** How much of a value is copied. */
interface PlainLimits {
  /** In characters of its JSON; an escaped character counts once. */
  readonly characters: number
  /** In values that are looked at. */
  readonly values: number
  /** Refuses `NaN` and infinite numbers, which JSON otherwise writes as null. */
  readonly isStrict?: true
  /** Of a strict copy: the key of the value below which nothing may be left out. */
  readonly whole?: string
}

/** The copy of a value. */
export interface PlainCopy {
  /** Objects, lists, texts, numbers, booleans and null; undefined for what JSON leaves out. */
  readonly value: unknown
  /** False beyond the limits. Up to the limit of characters, the JSON of the copy is then that of the value. */
  readonly isWhole: boolean
  /** The length of its JSON is not less, and not more than six times as much. */
  readonly characters: number
  /** How deep it nests. */
  readonly depth: number
}

/** The error for a value that JSON cannot hold. */
export class NotPlain extends Error {
  /** Where in the value. */
  readonly path: string
  readonly isCircle: boolean

  constructor(why: string, { path, isCircle }: { readonly path: string; readonly isCircle: boolean }) {
    super(why)
    this.name = 'NotPlain'
    this.path = path
    this.isCircle = isCircle
  }
}

/** Values between two pauses: looking at them takes less than a millisecond. */
const pieceValues = 2_000

/**
 * Copies a value as `JSON.stringify` reads it. Each getter and each `toJSON` is called once. The copy ends once it is longer than the limits
 * allow, so that a long value costs only what is kept of it. Throws `NotPlain`, and what a getter or a `toJSON` throws.
 */
export function* plainCopy(value: unknown, limits: PlainLimits): Pausable<PlainCopy> {
  const walk: Walk = { limits, levels: [], above: new Set(), characters: 0, values: 0, depth: 0 }
  const to: unknown[] = []
  copyValue(walk, value, { key: '', to, at: 0 })
  for (let level = walk.levels.at(-1); level !== undefined && !isFull(walk); level = walk.levels.at(-1)) {
    if (walk.values % pieceValues === 0) yield
    copyNext(walk, level)
  }
  return { value: to[0], isWhole: !isFull(walk), characters: walk.characters, depth: walk.depth }
}

/** The state of a copy. The open levels are a list, so that any depth is possible. */
interface Walk {
  readonly limits: PlainLimits
  readonly levels: Level[]
  /** What the open levels copy. */
  readonly above: Set<object>
  characters: number
  values: number
  depth: number
}

/** An object or a list whose items are being copied. */
interface Level {
  readonly of: object
  /** Null for a list. */
  readonly keys: readonly string[] | null
  readonly length: number
  readonly to: object
  at: number
  isEmpty: boolean
}

/** Where the copy of a value goes, and the key that its `toJSON` gets. */
interface Spot {
  readonly key: string
  readonly to: object
  readonly at: string | number
}

function isFull({ characters, values, limits }: Walk): boolean {
  return characters > limits.characters || values > limits.values
}

/** Copies the next item of the innermost level, or leaves that level. */
function copyNext(walk: Walk, level: Level): void {
  const { of, keys, to } = level
  const at = level.at++
  if (!(at < level.length)) {
    walk.levels.pop()
    walk.above.delete(of)
    walk.characters += 1
  } else if (keys === null) copyValue(walk, (of as readonly unknown[])[at], { key: String(at), to, at })
  else {
    const key = keys[at] as string
    copyValue(walk, (of as Readonly<Record<string, unknown>>)[key], { key, to, at: key })
  }
}

/** Copies one value to its spot; an object or a list begins a level. */
function copyValue(walk: Walk, given: unknown, spot: Spot): void {
  walk.values += 1
  const read = written(given, spot.key)
  const isLeftOut = read === undefined || typeof read === 'function' || typeof read === 'symbol'
  if (isLeftOut && (walk.levels.length === 0 || !Array.isArray(spot.to))) {
    if (walk.limits.whole !== undefined && walk.levels[0]?.keys?.[walk.levels[0].at - 1] === walk.limits.whole)
      throw refusal(walk, 'there is no value')
    return
  }
  const at = named(walk, spot)
  put(spot.to, at, isLeftOut ? scalar(walk, null) : copyOf(walk, read))
}

/** What `toJSON` makes of a value, and what a wrapper of a text, a number or a boolean holds. */
function written(given: unknown, key: string): unknown {
  if ((typeof given !== 'object' || given === null) && typeof given !== 'bigint') return given
  const { toJSON } = given as { readonly toJSON?: unknown }
  const isOwn = typeof toJSON === 'function'
  const value = !isOwn
    ? given
    : toJSON === bufferJson
      ? { type: 'Buffer', data: new ByteList(given as Buffer) }
      : toJSON.call(given, key)
  if (value instanceof Number) return Number(value)
  if (value instanceof String) return String(value)
  return value instanceof Boolean || value instanceof BigInt ? value.valueOf() : value
}

const bufferJson: unknown = Buffer.prototype.toJSON

/** Bytes that are copied as a list of numbers. */
class ByteList {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}

/** Counts the comma and the key before an item. */
function named(walk: Walk, { at }: Spot): string | number {
  const level = walk.levels.at(-1)
  if (level?.isEmpty === false) walk.characters += 1
  if (level !== undefined) level.isEmpty = false
  return typeof at === 'string' ? text(walk, at, 3) : at
}

function copyOf(walk: Walk, value: unknown): unknown {
  return typeof value === 'object' && value !== null ? opened(walk, value) : scalar(walk, value)
}

function scalar(walk: Walk, value: unknown): unknown {
  if (typeof value === 'string') return text(walk, value, 2)
  if (typeof value === 'bigint') throw refusal(walk, 'Do not know how to serialize a BigInt')
  if (typeof value !== 'number') {
    walk.characters += 4
    return value
  }
  if (!Number.isFinite(value) && walk.limits.isStrict === true) throw refusal(walk, 'it is no finite number')
  const kept = Number.isFinite(value) ? value + 0 : null
  walk.characters += String(kept).length
  return kept
}

/** A text, cut where it is longer than all that is kept. `besides` characters of JSON stand around it. */
function text(walk: Walk, whole: string, besides: number): string {
  const { characters } = walk.limits
  walk.characters += whole.length + besides
  return whole.length > characters ? whole.slice(0, characters + 2) : whole
}

/** Begins the copy of an object or a list. */
function opened(walk: Walk, given: object): object {
  const of = given instanceof ByteList ? given.bytes : given
  if (walk.above.has(of)) throw refusal(walk, 'it refers to itself', true)
  const isList = of !== given || Array.isArray(of)
  const to = isList ? [] : {}
  walk.characters += 1
  const keys = isList ? null : keysOf(walk, of)
  const length = keys === null ? (of as readonly unknown[]).length : keys.length
  walk.levels.push({ of, keys, length, to, at: 0, isEmpty: true })
  walk.above.add(of)
  walk.depth = Math.max(walk.depth, walk.levels.length)
  return to
}

/** The keys of an object. Of a typed array those that can be kept: an item has six characters at least, its key included. */
function keysOf({ limits, characters }: Walk, of: object): readonly string[] {
  const most = 2 + Math.max(0, limits.characters - characters) / 6
  const { length = 0, subarray } = of as { readonly length?: number; subarray?(from: number, to: number): object }
  const isLong = ArrayBuffer.isView(of) && length > most && subarray !== undefined
  return Object.keys(isLong ? subarray.call(of, 0, most) : of)
}

function put(to: object, at: string | number, value: unknown): void {
  if (at !== '__proto__') (to as Record<string | number, unknown>)[at] = value
  else Object.defineProperty(to, at, { value, enumerable: true, configurable: true, writable: true })
}

function refusal({ levels }: Walk, why: string, isCircle = false): NotPlain {
  const path = levels.map(({ keys, at }) => (keys === null ? at - 1 : keys[at - 1])).join('.')
  return new NotPlain(why, { path, isCircle })
}
