/** Sends spans to an OTLP collector over HTTP. It follows no redirect, and no error repeats a header. */
import { systemClock } from '../identity/clock.ts'
import { readRetryAfter } from '../model/retry.ts'
import type { Sent } from './delivery.ts'
import { JsonEncoder, jsonRequest } from './otlp-json.ts'
import { ProtobufEncoder, protobufRequest } from './otlp-protobuf.ts'
import type { Parcel } from './parcel-queue.ts'
import { rejectedSpans } from './partial-success.ts'
import { type Answer, post } from './post.ts'
import type { Attributes } from './span.ts'
import type { SpanEncoder } from './span-encoder.ts'

/** How spans are encoded. */
export type OtlpProtocol = 'http/protobuf' | 'http/json'

/** Where spans go. */
export interface OtlpTarget {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly protocol: OtlpProtocol
  /** How long one request may take, in ms. */
  readonly timeoutMs: number
  readonly resource: Attributes
  /** Called with the number of spans that the server left out of a request that it took, once it has said so. */
  leftOut(spans: number): void
}

/** The instrumentation that made the spans. */
const scope = { name: 'witan', version: '0.1.0' }

/** The encoder of a protocol. */
export function encoderOf(protocol: OtlpProtocol): SpanEncoder {
  return protocol === 'http/json' ? new JsonEncoder() : new ProtobufEncoder()
}

/** The body of a request. */
export function encodeRequest(
  protocol: OtlpProtocol,
  parcels: readonly Parcel[],
  resource: Attributes,
): Uint8Array | string {
  const spans = parcels.map(({ data }) => data)
  if (protocol === 'http/json') return jsonRequest(spans as readonly string[], { resource, scope })
  return protobufRequest(spans as readonly Uint8Array[], { resource, scope })
}

/** Refused for good: the request itself is at fault. Everything else may pass, such as a wrong key that is put right. */
export const faulty: readonly number[] = [400, 413, 415, 422]

/** Sends one request. Never rejects. */
export async function sendOtlp(
  { url, headers, protocol, timeoutMs, resource, leftOut }: OtlpTarget,
  parcels: readonly Parcel[],
  signal: AbortSignal,
): Promise<Sent> {
  const call = new AbortController()
  const stop = () => call.abort()
  let isLate = false
  const cancel = systemClock.after(
    timeoutMs,
    () => {
      isLate = true
      stop()
    },
    { background: true },
  )
  signal.addEventListener('abort', stop)
  try {
    const type = protocol === 'http/json' ? 'application/json' : 'application/x-protobuf'
    const body = encodeRequest(protocol, parcels, resource)
    const answer = await post({ url, headers: { ...headers, 'content-type': type }, body }, call.signal)
    const { status, header } = answer
    if (status >= 200 && status < 300) {
      void rejectedBy(answer, parcels).then(leftOut)
      return { kind: 'taken' }
    }
    const reason = `the server answered ${status}`
    if (faulty.includes(status)) return { kind: 'refused', reason }
    return { kind: 'failed', reason, retryAfterMs: readRetryAfter(header) }
  } catch (error) {
    const reason = isLate ? `no answer within ${timeoutMs} ms` : `it cannot be reached (${codeOf(error)})`
    return { kind: 'failed', reason, retryAfterMs: null }
  } finally {
    cancel()
    signal.removeEventListener('abort', stop)
  }
}

/** How many spans a server has not taken of a request that it took. Nobody waits for it. */
async function rejectedBy({ header, body }: Answer, parcels: readonly Parcel[]): Promise<number> {
  const bytes = await body
  if (bytes === null || bytes.length === 0) return 0
  const sent = parcels.reduce((sum, { count }) => sum + count, 0)
  return Math.min(rejectedSpans(bytes, header('content-type')), sent)
}

/** The code of a network error, which names no header. */
function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown }
  return typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? code : 'network error'
}
