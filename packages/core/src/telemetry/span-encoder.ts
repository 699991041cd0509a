/** Encodes spans one by one for an exporter, and gives them together. */
import type { Span } from './span.ts'

/** Encoded spans of one job. */
export interface EncodedSpans {
  readonly count: number
  readonly bytes: number
  readonly data: Uint8Array | string
}

/** Collects encoded spans. */
export interface SpanEncoder {
  add(span: Span): void
  /** The bytes of the spans that were added and not yet taken, roughly. */
  readonly bytes: number
  /** The spans that were added since the last time. */
  take(): EncodedSpans
}
