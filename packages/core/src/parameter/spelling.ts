/** How other encodings spell a character: the escapes of URLs, JSON and HTML, in any case. */

/** Receives one reading of a text: the next `length` characters represent these UTF-16 units. */
export type TakeReading = (length: number, unit: number, second: number | null) => void

/** The maximum number of backslashes before an escaped character: JSON within JSON within JSON. */
const mostBackslashes = 8

const backslash = 0x5c
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

/** Every reading of a text at a special position, except the character itself. */
export function readingsAt(text: string, at: number, take: TakeReading): void {
  const code = text.charCodeAt(at)
  if (code === plus) take(1, 0x20, null)
  else if (code === percent) urlReading(text, at, take)
  else if (code === ampersand) entityReading(text, at, take)
  else if (code === backslash) jsonReadings(text, at, take)
}

function takePoint(length: number, point: number, take: TakeReading): void {
  if (point > 0x10ffff) return
  if (point < 0x10000) take(length, point, null)
  else take(length, 0xd800 + ((point - 0x10000) >> 10), 0xdc00 + (point & 0x3ff))
}

function urlReading(text: string, at: number, take: TakeReading): void {
  const lead = byteAt(text, at)
  if (lead < 0x80) {
    if (lead >= 0) take(3, lead, null)
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
  takePoint(3 + further * 3, point, take)
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

function entityReading(text: string, at: number, take: TakeReading): void {
  if (text[at + 1] !== '#') {
    namedReading(text, at, take)
    return
  }
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
  if (index > from && text[index] === ';') takePoint(index + 1 - at, value, take)
}

const entities: readonly (readonly [name: string, character: string])[] = [
  ['amp;', '&'],
  ['lt;', '<'],
  ['gt;', '>'],
  ['quot;', '"'],
  ['apos;', "'"],
]

function namedReading(text: string, at: number, take: TakeReading): void {
  const here = text.slice(at + 1, at + 6).toLowerCase()
  for (const [name, character] of entities)
    if (here.startsWith(name)) take(1 + name.length, character.charCodeAt(0), null)
}

const controls: Readonly<Record<string, number>> = { b: 8, f: 12, n: 10, r: 13, t: 9 }

function jsonReadings(text: string, at: number, take: TakeReading): void {
  let next = at + 1
  for (; next - at <= mostBackslashes && text.charCodeAt(next) === backslash; next += 1)
    take(next + 1 - at, backslash, null)
  if (next - at > mostBackslashes) return
  const character = (text[next] ?? '').toLowerCase()
  const control = controls[character]
  if (control !== undefined) take(next + 1 - at, control, null)
  else if (character === '"' || character === '/') take(next + 1 - at, character.charCodeAt(0), null)
  else if (character === 'u') {
    const unit = hexAt(text, next + 1, 4)
    if (unit >= 0) take(next + 5 - at, unit, null)
  }
}
