/** Converts values for PostgreSQL, and its results into JSON values. */
import { readJson } from '@witan/protocol/schemas'
import type { QueryScalar, QueryValue } from '../source.ts'

/** A parameter's type, as the server infers it from the parameter's position. */
export interface InferredType {
  readonly isList: boolean
  readonly isJson: boolean
}

/** A list type: the type of its items, and their separator. */
export interface ListType {
  readonly item: number
  readonly delimiter: string
}

/** What is sent to the driver, as text of the inferred type; null is NULL. */
export type PostgresInput = string | number | null | readonly (string | number | null)[]

/** Object identifiers of the types that become something other than text. */
const TYPE = {
  bool: 16,
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  oid: 26,
  json: 114,
  float4: 700,
  float8: 701,
  timestamp: 1114,
  timestamptz: 1184,
  numeric: 1700,
  jsonb: 3802,
} as const

/**
 * Types whose text is returned unchanged: char, name, text, unknown, bpchar, varchar, date, time, interval, timetz, uuid,
 * xml, inet.
 */
const PLAIN_TYPES = [18, 19, 25, 705, 1042, 1043, 1082, 1083, 1186, 1266, 2950, 142, 869]
const KNOWN_TYPES: ReadonlySet<number> = new Set([...Object.values(TYPE), ...PLAIN_TYPES])
const MAX_EXACT_DIGITS = 15

/** True if a type is known without asking the server. */
export function isKnownType(oid: number): boolean {
  return KNOWN_TYPES.has(oid)
}

/** True if the type accepts a list as JSON text. */
export function isJsonType(oid: number): boolean {
  return oid === TYPE.json || oid === TYPE.jsonb
}

/** The value in the form of its type; or, as `refused`, why it cannot be converted. No value is changed silently. */
export function toInput(
  name: string,
  value: QueryValue,
  type: InferredType,
): { readonly input: PostgresInput } | { readonly refused: string } {
  if (typeof value === 'object' && value !== null) {
    if (!value.every(isCarried)) return { refused: unfit(name) }
    if (type.isList) return { input: value.map(scalarInput) }
    if (type.isJson) return { input: JSON.stringify(value) }
    return { refused: `\`$${name}\` is a list, and the query takes one value there; write \`= any($${name})\`.` }
  }
  if (!isCarried(value)) return { refused: unfit(name) }
  if (type.isList && value !== null) return { refused: `\`$${name}\` is one value, and the query takes a list there.` }
  return { input: scalarInput(value) }
}

function scalarInput(value: QueryScalar): string | number | null {
  return typeof value === 'boolean' ? String(value) : value
}

/** PostgreSQL text cannot contain NUL, and a lone surrogate would become U+FFFD. */
function isCarried(value: QueryScalar): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0'))
}

function unfit(name: string): string {
  return `\`$${name}\` must be finite numbers and well-formed text without NUL.`
}

/** A column's text as a JSON value. `lists` contains the list types that were looked up. */
export function fromOutput(text: string | null, oid: number, lists: ReadonlyMap<number, ListType>): unknown {
  if (text === null) return null
  const list = lists.get(oid)
  if (list !== undefined) return listOf(text, list, lists)
  switch (oid) {
    case TYPE.bool:
      return text === 't'
    case TYPE.int2:
    case TYPE.int4:
    case TYPE.oid:
      return Number(text)
    case TYPE.int8:
      return Number.isSafeInteger(Number(text)) ? Number(text) : text
    case TYPE.float4:
    case TYPE.float8:
      return Number.isFinite(Number(text)) ? Number(text) : text
    case TYPE.numeric:
      return exactNumber(text)
    case TYPE.json:
    case TYPE.jsonb:
      return jsonValue(text)
    case TYPE.bytea:
      return text.startsWith('\\x') ? Buffer.from(text.slice(2), 'hex').toString('base64') : text
    case TYPE.timestamp:
    case TYPE.timestamptz:
      return isoTime(text)
    default:
      return text
  }
}

/** A JSON value; one that is too deep or too large remains text. */
function jsonValue(text: string): unknown {
  const read = readJson(text)
  return read.ok ? read.value : text
}

/** A number if JavaScript can represent it exactly, else the text: `12.50` becomes 12.5; 20 digits or NaN remain text. */
function exactNumber(text: string): number | string {
  const digits = text.replace(/[-.]/g, '').replace(/^0+/, '')
  return /^-?\d+(?:\.\d+)?$/.test(text) && digits.length <= MAX_EXACT_DIGITS ? Number(text) + 0 : text
}

/** Converts `2026-11-22 10:00:00.5+02` to ISO 8601. Infinities and years before Christ remain as PostgreSQL writes them. */
function isoTime(text: string): string {
  const found = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)([+-]\d\d)?(:\d\d)?$/.exec(text)
  if (found === null) return text
  const [, date, time, hours = '', minutes] = found
  return `${date}T${time}${hours}${hours === '' ? '' : (minutes ?? ':00')}`
}

/** Parses `{1,NULL,"a\"b",{2}}`, and `[0:1]={1,2}` without its bounds. Other text is returned unchanged. */
function listOf(text: string, { item, delimiter }: ListType, lists: ReadonlyMap<number, ListType>): unknown {
  let at = text.startsWith('[') ? text.indexOf('=') + 1 : 0
  if (text[at] !== '{') return text
  const read = (): unknown[] => {
    const items: unknown[] = []
    at += 1
    while (at < text.length && text[at] !== '}') {
      items.push(text[at] === '{' ? read() : readItem())
      if (text[at] === delimiter) at += 1
    }
    at += 1
    return items
  }
  const readItem = (): unknown => {
    if (text[at] === '"') return fromOutput(readQuoted(), item, lists)
    const start = at
    while (at < text.length && text[at] !== delimiter && text[at] !== '}') at += 1
    const word = text.slice(start, at)
    return word === 'NULL' ? null : fromOutput(word, item, lists)
  }
  const readQuoted = (): string => {
    let value = ''
    for (at += 1; at < text.length && text[at] !== '"'; at += 1) {
      if (text[at] === '\\') at += 1
      value += text[at]
    }
    at += 1
    return value
  }
  return read()
}
