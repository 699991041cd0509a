/** A span as it is exported, in no protocol's form. */
import type { SpanContext } from '../identity/traceparent.ts'

/** A value of an attribute. A whole number becomes an integer. */
export type AttributeValue = string | number | boolean | readonly string[]

/** Names and values in turn; a name whose value is undefined is left out. A list is made, and read once, faster than an object. */
export type Attributes = readonly (AttributeValue | undefined)[]

/** Attributes that are still collected. */
export type AttributeList = (AttributeValue | undefined)[]

/** Adds an attribute that the list does not have; none if the value is undefined. */
export function add(attributes: AttributeList, name: string, value: AttributeValue | undefined): void {
  if (value !== undefined) attributes.push(name, value)
}

/** The attributes of an object. */
export function attributesOf(values: Readonly<Record<string, AttributeValue | undefined>>): Attributes {
  return Object.entries(values).flat()
}

/** Something that happened within a span. */
export interface SpanEvent {
  readonly name: string
  /** In ms. */
  readonly at: number
  readonly attributes: Attributes
}

/** A related span of another trace. */
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
  /** The attributes that it has in common with others: the same list, which is encoded once. */
  readonly shared: Attributes
  readonly attributes: Attributes
  readonly events: readonly SpanEvent[]
  readonly links: readonly SpanLink[]
  /** Set if it failed. The message is content and may be absent. */
  readonly failure: { readonly message?: string } | null
}

/** The W3C flag that a trace is recorded, and whether its parent or link is of another program. */
export const flags = { local: 0x101, remote: 0x301 } as const
