/** OTLP as JSON: ids in hexadecimal, 64-bit numbers as text. */
import { type AttributeValue, type Attributes, flags, type Span } from './span.ts'
import type { EncodedSpans, SpanEncoder } from './span-encoder.ts'

const kinds = { internal: 1, client: 3 } as const

/** Writes spans as elements of the list `spans`, without its brackets. */
export class JsonEncoder implements SpanEncoder {
  #written: string[] = []
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  add(span: Span): void {
    const written = jsonSpan(span)
    this.#written.push(written)
    this.#bytes += Buffer.byteLength(written) + 1
  }

  take(): EncodedSpans {
    const taken = { count: this.#written.length, bytes: this.#bytes, data: this.#written.join(',') }
    this.#written = []
    this.#bytes = 0
    return taken
  }
}

function jsonSpan(span: Span): string {
  const { traceId, spanId, parentSpanId, name, failure } = span
  return JSON.stringify({
    traceId,
    spanId,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    name,
    kind: kinds[span.kind],
    startTimeUnixNano: nanoseconds(span.startedAt),
    endTimeUnixNano: nanoseconds(span.endedAt),
    attributes: attributesOf([...span.shared, ...span.attributes]),
    droppedAttributesCount: 0,
    events: span.events.map(({ name: event, at, attributes }) => ({
      attributes: attributesOf(attributes),
      name: event,
      timeUnixNano: nanoseconds(at),
      droppedAttributesCount: 0,
    })),
    droppedEventsCount: 0,
    status: failure === null ? { code: 0 } : { code: 2, ...failure },
    links: span.links.map(({ attributes, isRemote, ...context }) => ({
      attributes: attributesOf(attributes),
      ...context,
      droppedAttributesCount: 0,
      flags: isRemote ? flags.remote : flags.local,
    })),
    droppedLinksCount: 0,
    flags: flags.local,
  })
}

/** The request that holds these encoded spans. */
export function jsonRequest(
  spans: readonly string[],
  {
    resource,
    scope,
  }: { readonly resource: Attributes; readonly scope: { readonly name: string; readonly version: string } },
): string {
  const head = JSON.stringify({ attributes: attributesOf(resource), droppedAttributesCount: 0 })
  return `{"resourceSpans":[{"resource":${head},"scopeSpans":[{"scope":${JSON.stringify(scope)},"spans":[${spans.join(',')}]}]}]}`
}

function nanoseconds(ms: number): string {
  const whole = Math.max(0, Math.trunc(ms))
  return whole === 0 ? '0' : `${whole}000000`
}

function attributesOf(attributes: Attributes): { readonly key: string; readonly value: object }[] {
  const written = []
  for (let index = 0; index < attributes.length; index += 2) {
    const value = attributes[index + 1]
    if (value !== undefined) written.push({ key: attributes[index] as string, value: anyValueOf(value) })
  }
  return written
}

function anyValueOf(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number') return Number.isSafeInteger(value) ? { intValue: value } : { doubleValue: value }
  return { arrayValue: { values: value.map(anyValueOf) } }
}
