/** The spans of one trace while their log is read. */
import type { CallPlace, Writable } from '@witan/protocol/entries'
import { spanIdOf, traceIdOf } from '../identity/trace.ts'
import { add, type AttributeList, type Span, type SpanEvent, type SpanLink } from './span.ts'
import type { SpanLabel } from './span-label.ts'

/** A span that may still change. */
export type Draft = Writable<Span> & {
  readonly attributes: AttributeList
  events: SpanEvent[]
  links: SpanLink[]
}

/** Begins the spans of one trace, in the order of the log. */
export class Drafts {
  readonly spans: Draft[] = []
  readonly #database: string

  constructor(database: string) {
    this.#database = database
  }

  /** The span of a call. `parent` is that of its parent call; undefined if it stands in another job. */
  call(place: CallPlace, { label, at, parent }: { label: SpanLabel; at: number; parent: Draft | undefined }): Draft {
    const traceId = traceIdOf(this.#database, place.run)
    const above = place.parentCall === null ? null : (parent?.spanId ?? spanIdOf(this.#database, place.parentCall))
    const spanId = spanIdOf(this.#database, place.call)
    const span = draftOf(label, { traceId, spanId, parentSpanId: above, startedAt: at })
    add(span.attributes, 'witan.call.id', place.call)
    this.spans.push(span)
    return span
  }

  /** The span of a reply to the call of `caller`. */
  reply(place: CallPlace, of: { label: SpanLabel; at: number; caller: Draft | undefined; seq: number }): Draft {
    const { label, at, caller, seq } = of
    const traceId = traceIdOf(this.#database, place.run)
    const parentSpanId = caller?.spanId ?? spanIdOf(this.#database, place.call)
    const span = draftOf(label, { traceId, spanId: spanIdOf(this.#database, seq), parentSpanId, startedAt: at })
    add(span.attributes, 'witan.call.id', place.call)
    this.spans.push(span)
    return span
  }
}

function draftOf(
  { name, kind, shared }: SpanLabel,
  of: Pick<Span, 'traceId' | 'spanId' | 'parentSpanId' | 'startedAt'>,
): Draft {
  const { traceId, spanId, parentSpanId, startedAt } = of
  return {
    traceId,
    spanId,
    parentSpanId,
    name,
    kind,
    startedAt,
    endedAt: Number.NEGATIVE_INFINITY,
    shared,
    attributes: [],
    events: none,
    links: none,
    failure: null,
  }
}

/** Most spans have no events and no links, and share this list. */
const none: never[] = []
Object.freeze(none)

/** Adds an event to a span. */
export function addEvent(span: Draft, event: SpanEvent): void {
  if (span.events === none) span.events = [event]
  else span.events.push(event)
}

/** Adds a link to a span. */
export function addLink(span: Draft, link: SpanLink): void {
  if (span.links === none) span.links = [link]
  else span.links.push(link)
}
