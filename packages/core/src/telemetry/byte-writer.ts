/** Writes the wire format of protobuf into a growing buffer, from which what is finished is taken piece by piece. */

/** The most bytes of a number, its tag included. */
const longestNumber = 12
/** The platform writes longer texts. For shorter ones the call would cost more than the loop. */
const shortText = 64

/** Bytes that are written and not yet taken. Taken bytes are never overwritten, so nobody needs to copy them. */
export interface Bytes {
  buffer: Buffer
  /** Where what is not yet taken begins. */
  from: number
  at: number
  /** Reserved at once. */
  readonly chunk: number
}

/** Nothing yet. `chunk` bytes are reserved at once. */
export function createBytes(chunk: number): Bytes {
  return { buffer: Buffer.alloc(0), from: 0, at: 0, chunk }
}

/** What was written since the last time. */
export function takeBytes(bytes: Bytes): Uint8Array {
  const taken = bytes.buffer.subarray(bytes.from, bytes.at)
  bytes.from = bytes.at
  return taken
}

/** A field whose value is a number. */
export function writeNumber(bytes: Bytes, tag: number, value: number): void {
  reserve(bytes, longestNumber)
  varint(bytes, tag)
  varint(bytes, value)
}

/** A field whose value is a double of 8 bytes. */
export function writeDouble(bytes: Bytes, tag: number, value: number): void {
  reserve(bytes, longestNumber)
  varint(bytes, tag)
  bytes.at = bytes.buffer.writeDoubleLE(value, bytes.at)
}

/** A field whose value is a whole number of 4 bytes. */
export function writeFixed32(bytes: Bytes, tag: number, value: number): void {
  reserve(bytes, longestNumber)
  varint(bytes, tag)
  half(bytes, value)
}

/** A time in ms as nanoseconds. */
export function writeTime(bytes: Bytes, tag: number, ms: number): void {
  reserve(bytes, longestNumber)
  varint(bytes, tag)
  const whole = Math.max(0, Math.trunc(ms))
  // 10^6 ns per ms, in two halves: a product may exceed what a number holds exactly.
  const low = (whole % 0x100000000) * 1_000_000
  half(bytes, low % 0x100000000)
  half(bytes, Math.floor(whole / 0x100000000) * 1_000_000 + Math.floor(low / 0x100000000))
}

/** Fewer than 128 bytes, given as lower-case hexadecimal digits. */
export function writeHex(bytes: Bytes, tag: number, digits: string): void {
  reserve(bytes, longestNumber + digits.length)
  const { buffer } = bytes
  let { at } = bytes
  buffer[at++] = tag
  buffer[at++] = digits.length >> 1
  for (let index = 0; index < digits.length; index += 2)
    buffer[at++] = (nibble(digits.charCodeAt(index)) << 4) | nibble(digits.charCodeAt(index + 1))
  bytes.at = at
}

/** A field whose value is a text, as UTF-8. */
export function writeText(bytes: Bytes, tag: number, text: string): void {
  if (text.length <= shortText && writeAscii(bytes, tag, text)) return
  const length = Buffer.byteLength(text)
  reserve(bytes, longestNumber + length)
  varint(bytes, tag)
  varint(bytes, length)
  bytes.at += bytes.buffer.write(text, bytes.at)
}

/** Bytes as they are. */
export function writeRaw(bytes: Bytes, raw: Uint8Array): void {
  reserve(bytes, raw.length)
  bytes.buffer.set(raw, bytes.at)
  bytes.at += raw.length
}

/** Begins a message whose length is probably written in `room` bytes; returns what `closeMessage` needs. */
export function openMessage(bytes: Bytes, tag: number, room: number): number {
  reserve(bytes, longestNumber)
  varint(bytes, tag)
  bytes.at += room
  return bytes.at - bytes.from
}

/** Ends a message: writes its length in front of it. */
export function closeMessage(bytes: Bytes, opened: number, room: number): void {
  reserve(bytes, longestNumber)
  const begin = bytes.from + opened
  const length = bytes.at - begin
  const shift = sizeOf(length) - room
  if (shift !== 0) bytes.buffer.copyWithin(begin + shift, begin, bytes.at)
  bytes.at = begin - room
  varint(bytes, length)
  bytes.at += length
}

/** The bytes of a number as a varint. */
function sizeOf(value: number): number {
  let size = 1
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 0x80)) size += 1
  return size
}

function writeAscii(bytes: Bytes, tag: number, text: string): boolean {
  reserve(bytes, longestNumber + text.length)
  const { buffer } = bytes
  let { at } = bytes
  buffer[at++] = tag
  buffer[at++] = text.length
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code > 0x7f) return false
    buffer[at++] = code
  }
  bytes.at = at
  return true
}

function varint(bytes: Bytes, value: number): void {
  let rest = value
  while (rest > 0x7f) {
    bytes.buffer[bytes.at++] = (rest % 0x80) | 0x80
    rest = Math.floor(rest / 0x80)
  }
  bytes.buffer[bytes.at++] = rest
}

function half(bytes: Bytes, value: number): void {
  const { buffer, at } = bytes
  buffer[at] = value & 0xff
  buffer[at + 1] = (value >>> 8) & 0xff
  buffer[at + 2] = (value >>> 16) & 0xff
  buffer[at + 3] = value >>> 24
  bytes.at = at + 4
}

function nibble(code: number): number {
  return code <= 0x39 ? code - 0x30 : code - 0x57
}

function reserve(bytes: Bytes, count: number): void {
  if (bytes.at + count > bytes.buffer.length) grow(bytes, count)
}

/** Continues in a new buffer. The old one belongs to the callers who took parts of it. */
function grow(bytes: Bytes, count: number): void {
  const length = bytes.at - bytes.from
  const larger = Buffer.allocUnsafeSlow(Math.max(bytes.chunk, 2 * length + count))
  bytes.buffer.copy(larger, 0, bytes.from, bytes.at)
  bytes.buffer = larger
  bytes.from = 0
  bytes.at = length
}
