/** Converts an entry to the event that readers see, by the reader table alone. */
import type { AnyEvent, Event } from '@witan/protocol'
import { authorKindOf, type CallPlace, type Entry, readersOf, type ShownPlace } from '@witan/protocol/entries'
import { frozen } from '../identity/frozen.ts'
import { traceIdOf } from '../identity/trace.ts'
import type { Delta } from './live.ts'

/** The log that an entry stands in. */
export interface LogPlace {
  readonly database: string
  readonly conversation: string
}

/** The event of a stored entry. */
export function toEvent(entry: Entry, of: LogPlace): Event {
  const { seq, type, kind, place } = entry
  const content = contentOf(entry, of)
  // They are those of the log, and of what has been folded from it.
  for (const field in content) frozen(content[field])
  const event = { seq, ...eventAt(place, of.conversation), type, kind, at: isoDate(entry.at), content }
  if (type === 'message' && entry.body.authorKind !== undefined) event.authorKind = entry.body.authorKind
  const { actions } = readersOf(type, kind)
  if (actions !== undefined) event.actions = frozen(actions(entry.body)) as Record<string, unknown>
  // The table that fills the content is the one that its type is derived from.
  return event as Event
}

/** A delta as an event. A snapshot holds the full text so far. */
export function toDeltaEvent(delta: Delta, conversationId: string, snapshot: boolean): Event {
  const { text, attempt, progress } = delta
  const event = eventAt(delta.place, conversationId)
  event.at = isoDate(delta.at)
  if (progress !== undefined) {
    event.kind = 'tool'
    event.content = { ...progress }
  } else if (delta.reasoning === undefined)
    event.content = snapshot ? { text, attempt, snapshot: true } : { text, attempt }
  else {
    event.kind = 'reasoning'
    event.content = snapshot ? { reasoning: text, attempt, snapshot: true } : { reasoning: text, attempt }
  }
  return event as Event
}

const noBranches: readonly string[] = []

/** The common fields of an event of a call, as a delta. */
function eventAt(place: CallPlace, conversationId: string): AnyEvent {
  const { branches = noBranches } = place
  return {
    type: 'delta',
    kind: 'agent',
    callId: place.call,
    parentCallId: place.parentCall,
    rootCallId: place.run,
    conversationId,
    document: place.document,
    author: place.author,
    authorKind: authorKindOf(place.author),
    agentPath: place.agentPath,
    invocationId: place.invocation,
    branch: branches.at(-1) ?? null,
    branchPath: [...branches],
    at: '',
    content: {},
    actions: {},
  }
}

let written = { at: Number.NaN, text: '' }

/** A time as an ISO date. The last result is cached, because many events share a millisecond and formatting is slow. */
export function isoDate(at: number): string {
  if (at !== written.at) written = { at, text: new Date(at).toISOString() }
  return written.text
}

/** An entry's place, as rows of the table read it. */
export function shownPlace({ place, at }: Pick<Entry, 'place' | 'at'>, of: LogPlace): ShownPlace {
  const { database, conversation: conversationId } = of
  return { place, conversationId, at: isoDate(at), traceId: () => traceIdOf(database, place.run) }
}

/** Without its log, only what the entry says by itself. */
function contentOf(entry: Entry, of: LogPlace | null): Record<string, unknown> {
  const content: Record<string, unknown> = {}
  const body = entry.body as unknown as Record<string, unknown>
  const { event, also, derived, placed } = readersOf(entry.type, entry.kind)
  for (const field of event) content[field] = body[field] ?? null
  if (also !== undefined) for (const field of also) if (body[field] !== undefined) content[field] = body[field]
  if (placed !== undefined && of !== null) Object.assign(content, placed(entry.body, shownPlace(entry, of)))
  return derived === undefined ? content : Object.assign(content, derived(entry.body))
}

/** What a span of a trace with full content may hold of an entry: what an event shows, and the fields that the table adds. */
export function spanContent(entry: Entry): Readonly<Record<string, unknown>> {
  const content = contentOf(entry, null)
  const body = entry.body as unknown as Record<string, unknown>
  for (const field of readersOf(entry.type, entry.kind).span ?? []) content[field] = body[field]
  return content
}

/** One field of `spanContent`, if it is a field of the body; undefined if the table does not show it. */
export function spanField<One extends Entry, Field extends keyof One['body'] & string>(
  { type, kind, body }: One,
  field: Field,
): One['body'][Field] | undefined {
  const { event, also, span } = readersOf(type, kind)
  const isShown = event.includes(field) || span?.includes(field) === true || also?.includes(field) === true
  return isShown ? (body as One['body'])[field] : undefined
}

/** Whether an entry is of an agent's call that has control of the run: the root's, or one that control was handed to from there [K07]. */
function hasControl({ place, kind, type }: Pick<Entry, 'place' | 'kind' | 'type'>): boolean {
  return place.invocation === place.run && kind !== 'tool' && type !== 'checkpoint' && type !== 'artifact'
}

/** Whether these segments stand in the branches of a place, one after the other. */
function isBelow({ branches = noBranches }: CallPlace, segments: readonly string[]): boolean {
  return branches.some((_, from) => segments.every((segment, index) => branches[from + index] === segment))
}

/** Which entries a reader wants. */
export interface EntryFilter {
  readonly verbose: boolean
  /** Only this call and its descendants. */
  readonly call: string | null
  /** Only what is below these branches, written as `panel.0/inner.1`; segments are compared whole [C27]. */
  readonly branch?: string | null
}

/** A filter that tracks the descendants of the wanted call. It must get the entries in order, from the call's start on. */
export function entryFilter(filter: EntryFilter): (entry: Entry) => boolean {
  const inside = new Set<string>(filter.call === null ? [] : [filter.call])
  const segments = filter.branch?.split('/') ?? null
  return (entry) => {
    if (segments !== null && !isBelow(entry.place, segments)) return false
    const { call, parentCall, run } = entry.place
    if (filter.call !== null && !inside.has(call)) {
      if (parentCall === null || !inside.has(parentCall)) return false
      inside.add(call)
    }
    if (filter.verbose) return true
    const { terse } = readersOf(entry.type, entry.kind)
    return terse !== 'never' && (call === run || hasControl(entry) || terse)
  }
}
