/** How other encodings spell a character: the escapes of URLs, JSON and HTML, in any case. */

/**
 * The readings of a text at one position: the next `length` characters represent the UTF-16 units `unit` and `second`, which is -1 if
 * there is only one. The lists are used again for the next position, because an escape may stand at every second one.
 */
export interface Readings {
  count: number
  readonly length: number[]
  readonly unit: number[]
  readonly second: number[]
}

/** No readings yet. */
export function createReadings(): Readings {
  return { count: 0, length: [], unit: [], second: [] }
}

/** The maximum number of backslashes before an escaped character: JSON within JSON within JSON. */
export const mostBackslashes = 8

/** The code of a backslash. */
export const backslash = 0x5c
const percent = 0x25
const ampersand = 0x26
const plus = 0x2b

/** The character of a one-letter escape, by its code. */
const isEscape = new Uint8Array(128)
for (const code of [backslash, percent, ampersand, plus]) isEscape[code] = 1

/** True if more than the character itself may be read here, or nothing at all. */
export function isSpecial(code: number): boolean {
  return code < 128 ? isEscape[code] === 1 : isUnseen(code)
}

/** True for a format character that is invisible between two others. */
export function isUnseen(code: number): boolean {
  if (code < 0x2000) return code === 0xad || code === 0x61c || code === 0x180e
  if (code > 0x206f) return code === 0xfeff
  return (code >= 0x200b && code <= 0x200f) || (code >= 0x202a && code <= 0x202e) || code >= 0x2060
}

const folded = new Uint16Array(0x10000)
const known = new Uint8Array(0x10000)

/** A unit in folded case, as regular expressions ignore case. */
export function fold(unit: number): number {
  if (known[unit] === 1) return folded[unit] as number
  const upper = String.fromCharCode(unit).toUpperCase()
  const code = upper.charCodeAt(0)
  folded[unit] = upper.length === 1 && (unit < 128 || code >= 128) ? code : unit
  known[unit] = 1
  return folded[unit] as number
}

/** The case-folded unit of each code below 128; 255 if the character is special. */
export const plainUnits: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  isEscape[code] === 1 ? 255 : fold(code),
)

/** Sets `readings` to all that the escapes which begin at this position of a text may stand for. The plain character is not among it. */
export function readingsAt(text: string, at: number, readings: Readings): void {
  readings.count = 0
  const code = text.charCodeAt(at)
  if (code === plus) add(readings, 1, 0x20)
  else if (code === percent) urlReading(text, at, readings)
  else if (code === ampersand) entityReading(text, at, readings)
  else if (code === backslash) jsonReadings(text, at, readings)
}

function add(readings: Readings, length: number, unit: number): void {
  const { count } = readings
  readings.length[count] = length
  readings.unit[count] = unit
  readings.second[count] = -1
  readings.count = count + 1
}

function addPoint(readings: Readings, length: number, point: number): void {
  if (point > 0x10ffff) return
  if (point < 0x10000) return add(readings, length, point)
  add(readings, length, 0xd800 + ((point - 0x10000) >> 10))
  readings.second[readings.count - 1] = 0xdc00 + (point & 0x3ff)
}

function urlReading(text: string, at: number, readings: Readings): void {
  const lead = byteAt(text, at)
  if (lead < 0x80) {
    if (lead >= 0) add(readings, 3, lead)
    return
  }
  if (lead < 0xc2 || lead > 0xf4) return
  const further = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3
  let point = lead & (0x3f >> further)
  for (let index = 1; index <= further; index += 1) {
    const byte = byteAt(text, at + index * 3)
    if (byte < 0x80 || byte > 0xbf) return
    point = (point << 6) | (byte & 0x3f)
  }
  addPoint(readings, 3 + further * 3, point)
}

/** The byte of `%41`; -1 if there is none. */
function byteAt(text: string, at: number): number {
  return text.charCodeAt(at) === percent ? hexAt(text, at + 1, 2) : -1
}

/** The value of this many hexadecimal digits; -1 if they are not all there. */
function hexAt(text: string, at: number, digits: number): number {
  let value = 0
  for (let index = at; index < at + digits; index += 1) {
    const digit = digitAt(text, index, 16)
    if (digit < 0) return -1
    value = value * 16 + digit
  }
  return value
}

function digitAt(text: string, at: number, base: number): number {
  const code = text.charCodeAt(at)
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = (code | 0x20) - 0x61
  return base === 16 && letter >= 0 && letter < 6 ? letter + 10 : -1
}

const mostZeros = 6

function entityReading(text: string, at: number, readings: Readings): void {
  if (text.charCodeAt(at + 1) !== 0x23) return namedReading(text, at, readings)
  const isHex = (text.charCodeAt(at + 2) | 0x20) === 0x78
  const base = isHex ? 16 : 10
  const from = at + (isHex ? 3 : 2)
  const upTo = from + mostZeros + (isHex ? 6 : 7)
  let value = 0
  let index = from
  for (let digit = digitAt(text, index, base); digit >= 0 && index < upTo; digit = digitAt(text, index, base)) {
    value = value * base + digit
    index += 1
  }
  if (index > from && text[index] === ';') addPoint(readings, index + 1 - at, value)
}

/** Names in folded case. */
const entities = [
  { name: 'AMP;', character: ampersand },
  { name: 'LT;', character: 0x3c },
  { name: 'GT;', character: 0x3e },
  { name: 'QUOT;', character: 0x22 },
  { name: 'APOS;', character: 0x27 },
] as const

/** They begin with few letters, and most ampersands begin none. */
const beginnings = new Uint8Array(128)
for (const { name } of entities) beginnings[name.charCodeAt(0)] = 1

function namedReading(text: string, at: number, readings: Readings): void {
  const next = text.charCodeAt(at + 1)
  if (!(next < 128) || beginnings[fold(next)] === 0) return
  for (const { name, character } of entities) if (isNamed(text, at + 1, name)) add(readings, 1 + name.length, character)
}

function isNamed(text: string, from: number, name: string): boolean {
  for (let index = 0; index < name.length; index += 1) {
    const code = text.charCodeAt(from + index)
    if (!(code < 128) || plainUnits[code] !== name.charCodeAt(index)) return false
  }
  return true
}

/** What a backslash makes of the folded character after it, by its code; 0 if nothing. */
const escaped = new Uint8Array(128)
for (const [character, unit] of Object.entries({ B: 8, F: 12, N: 10, R: 13, T: 9, '"': 0x22, '/': 0x2f }))
  escaped[character.charCodeAt(0)] = unit

function jsonReadings(text: string, at: number, readings: Readings): void {
  let next = at + 1
  for (; next - at <= mostBackslashes && text.charCodeAt(next) === backslash; next += 1)
    add(readings, next + 1 - at, backslash)
  if (next - at > mostBackslashes) return
  const code = text.charCodeAt(next)
  const folded = code < 128 ? (plainUnits[code] as number) : 255
  if (folded === 0x55) {
    const unit = hexAt(text, next + 1, 4)
    if (unit >= 0) add(readings, next + 5 - at, unit)
  } else if (folded !== 255 && escaped[folded] !== 0) add(readings, next + 1 - at, escaped[folded] as number)
}
