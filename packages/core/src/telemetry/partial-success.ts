/** Reads from the answer of an OTLP collector how many spans of a request it has not taken. Its message is not repeated: it may hold a text of a span. */
import { readJson } from '@witan/protocol/schemas'

/** The number that the collector gives; 0 for an answer that says nothing of it, or is none. */
export function rejectedSpans(body: Buffer, type: string | null): number {
  const said = type?.startsWith('application/json') === true ? rejectedOfJson(body) : rejectedOfProtobuf(body)
  return Number.isSafeInteger(said) && said > 0 ? said : 0
}

/** A number of 64 bits is a text in JSON, but some write a number. */
function rejectedOfJson(body: Buffer): number {
  const read = readJson(body.toString())
  const answer = (read.ok ? read.value : null) as { partialSuccess?: { rejectedSpans?: unknown } } | null
  const said = answer?.partialSuccess?.rejectedSpans
  return typeof said === 'string' || typeof said === 'number' ? Number(said) : 0
}

/** `partial_success` is field 1 of the answer, and `rejected_spans` field 1 of that. */
function rejectedOfProtobuf(body: Buffer): number {
  const inner = fieldOne(body)
  return inner instanceof Uint8Array ? Number(fieldOne(inner) ?? 0) : 0
}

/** The last field 1 of a message: the bytes of one with a length, or a number; null if there is none. */
function fieldOne(bytes: Uint8Array): Uint8Array | number | null {
  let found: Uint8Array | number | null = null
  for (let at = 0; at < bytes.length; ) {
    const tag = varintAt(bytes, at)
    const value = varintAt(bytes, tag.end)
    const [field, wire] = [tag.value >>> 3, tag.value & 7]
    if (wire !== 0 && wire !== 2) return null
    at = wire === 2 ? value.end + value.value : value.end
    if (field === 1 && at <= bytes.length) found = wire === 2 ? bytes.subarray(value.end, at) : value.value
  }
  return found
}

function varintAt(bytes: Uint8Array, from: number): { readonly value: number; readonly end: number } {
  let [value, at, factor] = [0, from, 1]
  for (; at < bytes.length; factor *= 128) {
    const byte = bytes[at] as number
    at += 1
    value += (byte & 127) * factor
    if (byte < 128) return { value, end: at }
  }
  // The message is cut off here.
  return { value: 0, end: bytes.length + 1 }
}
