/** What goes over the wire, beside what the official exporter of OpenTelemetry makes of the same spans. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import { encodeRequest, encoderOf } from './otlp.ts'
import type { Parcel } from './parcel-queue.ts'
import { type Attributes, attributesOf, type Span } from './span.ts'

const resource = attributesOf({ 'service.name': 'witan', 'service.version': '0.1.0' })
const traceId = 'a0'.repeat(16)

const spans: readonly Span[] = [
  {
    traceId,
    spanId: '0123456789abcdef',
    parentSpanId: null,
    name: 'invoke_agent boss',
    kind: 'internal',
    startedAt: 1_795_000_000_123,
    endedAt: 1_795_000_004_567,
    shared: ['first', 'one', 'second', 2, 'third', undefined],
    attributes: attributesOf({
      text: 'Grüße, 世界 🌍',
      empty: '',
      long: 'x'.repeat(70_000),
      middle: 'ä'.repeat(200),
      whole: 300,
      zero: 0,
      large: Number.MAX_SAFE_INTEGER,
      part: 0.000_25,
      yes: true,
      no: false,
      list: ['one', 'two'],
      absent: undefined,
    }),
    events: [
      { name: 'exception', at: 1_795_000_001_000, attributes: ['exception.type', 'TOOL_FAILED'] },
      { name: 'retry', at: 1_795_000_002_000, attributes: [] },
    ],
    links: [
      { isRemote: true, traceId: 'b1'.repeat(16), spanId: 'fedcba9876543210', attributes: ['witan.link', 'request'] },
    ],
    failure: { message: 'It failed.' },
  },
  {
    traceId,
    spanId: '1123456789abcdef',
    parentSpanId: '0123456789abcdef',
    name: 'chat qwen3',
    kind: 'client',
    startedAt: 1_795_000_000_200,
    endedAt: 1_795_000_000_200,
    shared: [],
    attributes: [],
    events: [],
    links: [],
    failure: null,
  },
]

/** Attributes by name, without those that are undefined. */
function known(attributes: Attributes): Record<string, unknown> {
  const pairs = attributes.flatMap((name, index) =>
    index % 2 === 0 ? [[String(name), attributes[index + 1]] as const] : [],
  )
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined))
}

const officialResource = {
  attributes: known(resource),
  merge: () => null,
  getRawAttributes: () => Object.entries(known(resource)),
}
const officialScope = { name: 'witan', version: '0.1.0' }

/** The same spans as the official SDK holds them. */
function officialSpans(): Parameters<typeof ProtobufTraceSerializer.serializeRequest>[0] {
  const time = (ms: number): [number, number] => [Math.floor(ms / 1000), (ms % 1000) * 1_000_000]
  const made = spans.map((span) => ({
    name: span.name,
    kind: span.kind === 'internal' ? 0 : 2,
    spanContext: () => ({ traceId: span.traceId, spanId: span.spanId, traceFlags: 1 }),
    parentSpanContext:
      span.parentSpanId === null
        ? undefined
        : { traceId: span.traceId, spanId: span.parentSpanId, traceFlags: 1, isRemote: false },
    startTime: time(span.startedAt),
    endTime: time(span.endedAt),
    status: span.failure === null ? { code: 0 } : { code: 2, ...span.failure },
    attributes: known([...span.shared, ...span.attributes]),
    links: span.links.map(({ attributes, isRemote: _, ...context }) => ({
      context: { ...context, traceFlags: 1, isRemote: true },
      attributes: known(attributes),
      droppedAttributesCount: 0,
    })),
    events: span.events.map(({ name, at, attributes }) => ({
      name,
      time: time(at),
      attributes: known(attributes),
      droppedAttributesCount: 0,
    })),
    duration: [0, 0],
    ended: true,
    resource: officialResource,
    instrumentationScope: officialScope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }))
  return made as unknown as Parameters<typeof ProtobufTraceSerializer.serializeRequest>[0]
}

/** Each span by itself or all together. */
function parcelsOf(protocol: 'http/protobuf' | 'http/json', size: number): Parcel[] {
  const encoder = encoderOf(protocol)
  const parcels: Parcel[] = []
  for (const [index, span] of spans.entries()) {
    encoder.add(span)
    if ((index + 1) % size === 0) parcels.push({ ...encoder.take(), group: '', summary: null })
  }
  return parcels
}

test('[C32] the JSON says what the official exporter says of the same spans', () => {
  const theirs = JSON.parse(Buffer.from(JsonTraceSerializer.serializeRequest(officialSpans()) ?? []).toString())
  for (const size of [1, 2]) {
    const own = JSON.parse(encodeRequest('http/json', parcelsOf('http/json', size), resource) as string)
    assert.deepEqual(own, theirs)
  }
})

test('[C32] the protobuf has the bytes of the official exporter for the same spans', () => {
  const [own, apart] = [2, 1].map(
    (size) => encodeRequest('http/protobuf', parcelsOf('http/protobuf', size), resource) as Uint8Array,
  )
  assert.deepEqual(own, apart)
  const theirs = ProtobufTraceSerializer.serializeRequest(officialSpans()) ?? new Uint8Array()
  const [ours, official] = [own ?? [], theirs].map((bytes) =>
    Buffer.from(bytes)
      .toString('latin1')
      .replaceAll(/x{99,}/g, 'xx'),
  )
  assert.equal(ours, official)
})
