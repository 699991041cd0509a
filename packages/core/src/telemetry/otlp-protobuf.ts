/** OTLP as protobuf: the messages of `opentelemetry/proto/trace/v1`, written by hand because they are few and hot. */
import {
  type Bytes,
  closeMessage,
  createBytes,
  openMessage,
  takeBytes,
  writeDouble,
  writeFixed32,
  writeHex,
  writeNumber,
  writeRaw,
  writeText,
  writeTime,
} from './byte-writer.ts'
import { type AttributeValue, type Attributes, flags, type Span, type SpanEvent, type SpanLink } from './span.ts'
import type { EncodedSpans, SpanEncoder } from './span-encoder.ts'

const kinds = { internal: 1, client: 3 } as const
const failed = 2
/** The bytes that are reserved at once; a request without content has about four times as many. */
const chunkBytes = 65_536

/** Writes spans as elements of `ScopeSpans.spans`. */
export class ProtobufEncoder implements SpanEncoder {
  readonly #bytes = createBytes(chunkBytes)
  #count = 0

  get bytes(): number {
    return this.#bytes.at - this.#bytes.from
  }

  add(span: Span): void {
    const { bytes } = this
    try {
      writeSpan(this.#bytes, span)
      this.#count += 1
    } catch (error) {
      this.#bytes.at = this.#bytes.from + bytes
      throw error
    }
  }

  take(): EncodedSpans {
    const data = takeBytes(this.#bytes)
    const count = this.#count
    this.#count = 0
    return { count, bytes: data.length, data }
  }
}

/** The request that holds these encoded spans. */
export function protobufRequest(
  spans: readonly Uint8Array[],
  {
    resource,
    scope,
  }: { readonly resource: Attributes; readonly scope: { readonly name: string; readonly version: string } },
): Uint8Array {
  const bytes = createBytes(1_024)
  const aboutScope = openMessage(bytes, 0x0a, 1)
  writeText(bytes, 0x0a, scope.name)
  writeText(bytes, 0x12, scope.version)
  closeMessage(bytes, aboutScope, 1)
  const scopeBytes = takeBytes(bytes)
  const length = spans.reduce((sum, one) => sum + one.length, scopeBytes.length)
  const aboutResource = openMessage(bytes, 0x0a, 1)
  writeAttributes(bytes, 0x0a, resource)
  writeNumber(bytes, 0x10, 0)
  closeMessage(bytes, aboutResource, 1)
  writeNumber(bytes, 0x12, length)
  const head = takeBytes(bytes)
  writeNumber(bytes, 0x0a, head.length + length)
  return Buffer.concat([takeBytes(bytes), head, scopeBytes, ...spans])
}

/** The counts of dropped items are 0, as in the official exporter. */
function writeSpan(bytes: Bytes, span: Span): void {
  const message = openMessage(bytes, 0x12, 2)
  writeHex(bytes, 0x0a, span.traceId)
  writeHex(bytes, 0x12, span.spanId)
  if (span.parentSpanId !== null) writeHex(bytes, 0x22, span.parentSpanId)
  writeText(bytes, 0x2a, span.name)
  writeNumber(bytes, 0x30, kinds[span.kind])
  writeTime(bytes, 0x39, span.startedAt)
  writeTime(bytes, 0x41, span.endedAt)
  writeRaw(bytes, sharedBytes(span.shared))
  writeAttributes(bytes, 0x4a, span.attributes)
  writeNumber(bytes, 0x50, 0)
  for (const event of span.events) writeEvent(bytes, event)
  writeNumber(bytes, 0x60, 0)
  for (const link of span.links) writeLink(bytes, link)
  writeNumber(bytes, 0x70, 0)
  writeStatus(bytes, span.failure)
  writeFixed32(bytes, 0x85, flags.local)
  closeMessage(bytes, message, 2)
}

function writeEvent(bytes: Bytes, { name, at, attributes }: SpanEvent): void {
  const message = openMessage(bytes, 0x5a, 1)
  writeTime(bytes, 0x09, at)
  writeText(bytes, 0x12, name)
  writeAttributes(bytes, 0x1a, attributes)
  writeNumber(bytes, 0x20, 0)
  closeMessage(bytes, message, 1)
}

function writeLink(bytes: Bytes, { traceId, spanId, attributes, isRemote }: SpanLink): void {
  const message = openMessage(bytes, 0x6a, 1)
  writeHex(bytes, 0x0a, traceId)
  writeHex(bytes, 0x12, spanId)
  writeAttributes(bytes, 0x22, attributes)
  writeNumber(bytes, 0x28, 0)
  writeFixed32(bytes, 0x35, isRemote ? flags.remote : flags.local)
  closeMessage(bytes, message, 1)
}

function writeStatus(bytes: Bytes, failure: Span['failure']): void {
  const message = openMessage(bytes, 0x7a, 1)
  if (failure?.message !== undefined) writeText(bytes, 0x12, failure.message)
  writeNumber(bytes, 0x18, failure === null ? 0 : failed)
  closeMessage(bytes, message, 1)
}

function writeAttributes(bytes: Bytes, tag: number, attributes: Attributes): void {
  for (let index = 0; index < attributes.length; index += 2) {
    const value = attributes[index + 1]
    if (value === undefined) continue
    const room = typeof value === 'string' && value.length > 80 ? 2 : 1
    const attribute = openMessage(bytes, tag, room)
    writeRaw(bytes, nameField(attributes[index] as string))
    const inner = openMessage(bytes, 0x12, room)
    writeValue(bytes, value)
    closeMessage(bytes, inner, room)
    closeMessage(bytes, attribute, room)
  }
}

function writeValue(bytes: Bytes, value: AttributeValue): void {
  if (typeof value === 'string') return writeText(bytes, 0x0a, value)
  if (typeof value === 'boolean') return writeNumber(bytes, 0x10, value ? 1 : 0)
  if (typeof value === 'number') {
    const isWhole = Number.isSafeInteger(value) && value >= 0
    return isWhole ? writeNumber(bytes, 0x18, value) : writeDouble(bytes, 0x21, value)
  }
  const list = openMessage(bytes, 0x2a, 1)
  for (const item of value) {
    const one = openMessage(bytes, 0x0a, 1)
    writeText(bytes, 0x0a, item)
    closeMessage(bytes, one, 1)
  }
  closeMessage(bytes, list, 1)
}

/** The names of attributes as fields. There are few, and all are in the code. */
const nameFields = new Map<string, Uint8Array>()

function nameField(name: string): Uint8Array {
  return nameFields.get(name) ?? keep(nameFields, name, (bytes) => writeText(bytes, 0x0a, name))
}

/** Shared attributes as they stand in a span. */
const sharedFields = new WeakMap<Attributes, Uint8Array>()

function sharedBytes(shared: Attributes): Uint8Array {
  return sharedFields.get(shared) ?? keep(sharedFields, shared, (bytes) => writeAttributes(bytes, 0x4a, shared))
}

/** Keeps what is written once. */
function keep<Key extends WeakKey | string>(
  kept: { set(key: Key, made: Uint8Array): unknown },
  key: Key,
  write: (bytes: Bytes) => void,
): Uint8Array {
  const bytes = createBytes(64)
  write(bytes)
  const made = takeBytes(bytes)
  kept.set(key, made)
  return made
}
