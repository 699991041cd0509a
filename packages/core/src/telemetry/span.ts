/** A span as it is exported, in no protocol's form. */
import type { SpanContext } from '../identity/traceparent.ts'

/** A value of an attribute. A whole number becomes an integer. */
export type AttributeValue = string | number | boolean | readonly string[]

/** Attributes by name; one that is undefined is left out. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>

/** Something that happened within a span. */
export interface SpanEvent {
  readonly name: string
  /** In ms. */
  readonly at: number
  readonly attributes: Attributes
}

/** A span of another trace that has to do with this one. */
export interface SpanLink extends SpanContext {
  /** Whether another program made it. */
  readonly isRemote: boolean
  readonly attributes: Attributes
}

/** A complete span. */
export interface Span extends SpanContext {
  readonly parentSpanId: string | null
  readonly name: string
  readonly kind: 'internal' | 'client'
  /** In ms. */
  readonly startedAt: number
  readonly endedAt: number
  readonly attributes: Attributes
  readonly events: readonly SpanEvent[]
  readonly links: readonly SpanLink[]
  /** Set if it failed. The message is content and may be absent. */
  readonly failure: { readonly message?: string } | null
}

/** The W3C flag that a trace is recorded, and whether its parent or link is of another program. */
export const flags = { local: 0x101, remote: 0x301 } as const
