/** A collector of traces on loopback: it keeps what it gets over OTLP as JSON, and can misbehave. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { until } from './stage.ts'

interface Value {
  stringValue?: string
  intValue?: number | string
  doubleValue?: number
  boolValue?: boolean
  arrayValue?: { values: Value[] }
}
interface Attribute {
  key: string
  value: Value
}

/** A span as it came, with its attributes by name. */
export interface CollectedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: Record<string, unknown>
  events: { name: string; attributes: Record<string, unknown> }[]
  links: { traceId: string; spanId: string; attributes: Record<string, unknown> }[]
  status: { code?: number; message?: string }
}

export interface TraceCollector {
  readonly url: string
  /** The bodies and headers of all requests. */
  readonly requests: { body: Buffer; headers: IncomingHttpHeaders }[]
  /** What it answers: a status, or null to never answer. */
  answer: { status: number; body?: string; headers?: Record<string, string> } | null
  /** The spans taken so far, for JSON. */
  spans(): CollectedSpan[]
  /** The spans of a trace, once its root span is there. */
  trace(traceId: string): Promise<CollectedSpan[]>
  close(): Promise<void>
}

/** Starts a collector. */
export async function createCollector(): Promise<TraceCollector> {
  const requests: TraceCollector['requests'] = []
  const taken: CollectedSpan[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const body = Buffer.concat(parts)
      requests.push({ body, headers: request.headers })
      const { answer } = collector
      if (answer === null) return
      if (answer.status === 200 && request.headers['content-type'] === 'application/json') taken.push(...spansIn(body))
      response.writeHead(answer.status, answer.headers)
      response.end(answer.body ?? '')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const collector: TraceCollector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    requests,
    answer: { status: 200, body: '{}' },
    spans: () => taken,
    async trace(traceId) {
      const of = () => taken.filter((span) => span.traceId === traceId)
      return until(
        async () => of(),
        (spans) => spans.some((span) => span.parentSpanId === undefined),
      )
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return collector
}

function spansIn(body: Buffer): CollectedSpan[] {
  const request = JSON.parse(body.toString()) as {
    resourceSpans: { scopeSpans: { spans: (Omit<CollectedSpan, 'attributes'> & { attributes: Attribute[] })[] }[] }[]
  }
  return request.resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)
    .map((span) => ({
      ...span,
      attributes: named(span.attributes),
      events: span.events.map((event) => ({ ...event, attributes: named(event.attributes as unknown as Attribute[]) })),
      links: span.links.map((link) => ({ ...link, attributes: named(link.attributes as unknown as Attribute[]) })),
    }))
}

function named(attributes: Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]))
}

function plain({ stringValue, intValue, doubleValue, boolValue, arrayValue }: Value): unknown {
  if (intValue !== undefined) return Number(intValue)
  return stringValue ?? doubleValue ?? boolValue ?? arrayValue?.values.map(plain)
}
