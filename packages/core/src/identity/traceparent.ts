/** The W3C header `traceparent`: written for model requests, and read from the request of a run. */

/** A span in a trace. */
export interface SpanContext {
  readonly traceId: string
  readonly spanId: string
}

/** The header that names a span as the parent of what a server does. */
export function traceparentOf({ traceId, spanId }: SpanContext): string {
  return `00-${traceId}-${spanId}-01`
}

/** Longer headers are ignored. Version 00 has 55 characters; a later version may add fields. */
const longest = 512

/** The span that a header names; null if the header is malformed or names none. */
export function readTraceparent(header: string): SpanContext | null {
  if (header.length > longest) return null
  const match = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/.exec(header)
  if (match === null) return null
  const [, version = '', traceId = '', spanId = '', rest] = match
  const isKnown = version === '00' ? rest === undefined : version !== 'ff'
  const isNone = /^0+$/.test(traceId) || /^0+$/.test(spanId)
  return isKnown && !isNone ? { traceId, spanId } : null
}
