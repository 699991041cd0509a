/** OTLP as protobuf: the messages of `opentelemetry/proto/trace/v1`, written by hand because they are few and hot. */
import { type AttributeValue, type Attributes, flags, type Span, type SpanEvent, type SpanLink } from './span.ts'

const kinds = { internal: 1, client: 3 } as const
const failed = 2

/** Writes messages into one growing buffer. */
class Writer {
  #bytes = Buffer.allocUnsafe(4_096)
  #at = 0

  /** What was written; the writer begins anew. */
  take(): Uint8Array {
    const taken = Uint8Array.prototype.slice.call(this.#bytes, 0, this.#at)
    this.#at = 0
    if (this.#bytes.length > 1_048_576) this.#bytes = Buffer.allocUnsafe(4_096)
    return taken
  }

  varint(value: number): void {
    this.#room(10)
    let rest = value
    while (rest > 0x7f) {
      this.#bytes[this.#at++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#bytes[this.#at++] = rest
  }

  double(value: number): void {
    this.#room(8)
    this.#at = this.#bytes.writeDoubleLE(value, this.#at)
  }

  fixed32(value: number): void {
    this.#room(4)
    this.#at = this.#bytes.writeUInt32LE(value, this.#at)
  }

  /** A time in ms as nanoseconds. */
  time(ms: number): void {
    this.#room(8)
    const whole = Math.max(0, Math.trunc(ms))
    // 10^6 ms per unit, in two halves: a product may exceed what a number holds exactly.
    const low = (whole % 0x100000000) * 1_000_000
    const high = Math.floor(whole / 0x100000000) * 1_000_000 + Math.floor(low / 0x100000000)
    this.#at = this.#bytes.writeUInt32LE(low % 0x100000000, this.#at)
    this.#at = this.#bytes.writeUInt32LE(high % 0x100000000, this.#at)
  }

  hex(tag: number, digits: string): void {
    this.varint(tag)
    this.varint(digits.length / 2)
    this.#room(digits.length)
    this.#at += this.#bytes.write(digits, this.#at, 'hex')
  }

  text(tag: number, text: string): void {
    if (text.length < 48 && this.#ascii(tag, text)) return
    this.message(tag, () => {
      this.#room(text.length * 3)
      this.#at += this.#bytes.write(text, this.#at)
    })
  }

  /** Short names and ids: a call into the runtime would cost more than the loop. */
  #ascii(tag: number, text: string): boolean {
    this.#room(text.length + 2)
    const bytes = this.#bytes
    const from = this.#at + 2
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index)
      if (code > 0x7f) return false
      bytes[from + index] = code
    }
    bytes[this.#at] = tag
    bytes[this.#at + 1] = text.length
    this.#at = from + text.length
    return true
  }

  /** A message with its length in front. */
  message(tag: number, write: () => void): void {
    this.varint(tag)
    this.#room(5)
    const from = ++this.#at
    write()
    const length = this.#at - from
    let more = 0
    for (let rest = length; rest > 0x7f; rest = Math.floor(rest / 0x80)) more += 1
    if (more > 0) {
      this.#room(more)
      this.#bytes.copyWithin(from + more, from, this.#at)
    }
    this.#at = from - 1
    this.varint(length)
    this.#at += length
  }

  #room(count: number): void {
    if (this.#at + count <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + count))
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#bytes = larger
  }
}

/** Shared: encoding is synchronous. */
const writer = new Writer()

/** A span as an element of `ScopeSpans.spans`, with its tag and its length. */
export function protobufSpan(span: Span): Uint8Array {
  writer.message(0x12, () => {
    writer.hex(0x0a, span.traceId)
    writer.hex(0x12, span.spanId)
    if (span.parentSpanId !== null) writer.hex(0x22, span.parentSpanId)
    writer.text(0x2a, span.name)
    writer.varint(0x30)
    writer.varint(kinds[span.kind])
    writer.varint(0x39)
    writer.time(span.startedAt)
    writer.varint(0x41)
    writer.time(span.endedAt)
    writeAttributes(0x4a, span.attributes)
    writeNone(0x50)
    for (const event of span.events) writer.message(0x5a, () => writeEvent(event))
    writeNone(0x60)
    for (const link of span.links) writer.message(0x6a, () => writeLink(link))
    writeNone(0x70)
    writer.message(0x7a, () => writeStatus(span.failure))
    writer.varint(0x85)
    writer.fixed32(flags.local)
  })
  return writer.take()
}

/** The request that holds these encoded spans. */
export function protobufRequest(
  spans: readonly Uint8Array[],
  {
    resource,
    scope,
  }: { readonly resource: Attributes; readonly scope: { readonly name: string; readonly version: string } },
): Uint8Array {
  writer.message(0x0a, () => {
    writer.text(0x0a, scope.name)
    writer.text(0x12, scope.version)
  })
  const scopeBytes = writer.take()
  const length = spans.reduce((sum, one) => sum + one.length, scopeBytes.length)
  writer.message(0x0a, () => {
    writeAttributes(0x0a, resource)
    writeNone(0x10)
  })
  writer.varint(0x12)
  writer.varint(length)
  const head = writer.take()
  writer.varint(0x0a)
  writer.varint(head.length + length)
  return Buffer.concat([writer.take(), head, scopeBytes, ...spans])
}

/** How many of something were dropped: none. The official exporter says so, and so do we. */
function writeNone(tag: number): void {
  writer.varint(tag)
  writer.varint(0)
}

function writeEvent({ name, at, attributes }: SpanEvent): void {
  writer.varint(0x09)
  writer.time(at)
  writer.text(0x12, name)
  writeAttributes(0x1a, attributes)
  writeNone(0x20)
}

function writeLink({ traceId, spanId, attributes, isRemote }: SpanLink): void {
  writer.hex(0x0a, traceId)
  writer.hex(0x12, spanId)
  writeAttributes(0x22, attributes)
  writeNone(0x28)
  writer.varint(0x35)
  writer.fixed32(isRemote ? flags.remote : flags.local)
}

function writeStatus(failure: Span['failure']): void {
  if (failure?.message !== undefined) writer.text(0x12, failure.message)
  writer.varint(0x18)
  writer.varint(failure === null ? 0 : failed)
}

function writeAttributes(tag: number, attributes: Attributes): void {
  for (const key of Object.keys(attributes)) {
    const value = attributes[key]
    if (value === undefined) continue
    writer.message(tag, () => {
      writer.text(0x0a, key)
      writer.message(0x12, () => writeValue(value))
    })
  }
}

function writeValue(value: AttributeValue): void {
  if (typeof value === 'string') return writer.text(0x0a, value)
  if (typeof value === 'boolean') {
    writer.varint(0x10)
    return writer.varint(value ? 1 : 0)
  }
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value) || value < 0) {
      writer.varint(0x21)
      return writer.double(value)
    }
    writer.varint(0x18)
    return writer.varint(value)
  }
  writer.message(0x2a, () => {
    for (const item of value) writer.message(0x0a, () => writer.text(0x0a, item))
  })
}
