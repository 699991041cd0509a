/** From an entry to the event that readers see, by the reader table alone. */
import type { Event } from '@witan/protocol'
import { type CallPlace, type Entry, readersOf } from '@witan/protocol/entries'
import type { Delta } from './live.ts'

/** The event of a stored entry. */
export function toEvent(entry: Entry, conversationId: string): Event {
  const { seq, type, kind, place } = entry
  return { seq, ...eventAt(place, conversationId), type, kind, at: isoDate(entry.at), content: contentOf(entry) }
}

/** A delta as an event; a snapshot holds all that was said so far. */
export function toDeltaEvent(delta: Delta, conversationId: string, snapshot: boolean): Event {
  const { text, attempt } = delta
  const event = eventAt(delta.place, conversationId)
  event.at = isoDate(delta.at)
  event.content = snapshot ? { text, attempt, snapshot: true } : { text, attempt }
  return event
}

/** An event of a call, as yet a delta of it. `actions` and branches are for edges that do not exist yet. */
function eventAt(place: CallPlace, conversationId: string): Event {
  return {
    type: 'delta',
    kind: 'agent',
    callId: place.call,
    parentCallId: place.parentCall,
    rootCallId: place.run,
    conversationId,
    document: place.document,
    author: place.author,
    agentPath: place.agentPath,
    invocationId: place.invocation,
    branch: null,
    branchPath: [],
    at: '',
    content: {},
    actions: {},
  }
}

let written = { at: Number.NaN, text: '' }

/** A time as readers get it. Many events share a millisecond, and writing it is the dearest part of an event. */
export function isoDate(at: number): string {
  if (at !== written.at) written = { at, text: new Date(at).toISOString() }
  return written.text
}

function contentOf(entry: Entry): Record<string, unknown> {
  const content: Record<string, unknown> = {}
  const body = entry.body as unknown as Record<string, unknown>
  const { event, also } = readersOf(entry.type, entry.kind)
  for (const field of event) content[field] = body[field] ?? null
  if (also !== undefined) for (const field of also) if (body[field] !== undefined) content[field] = body[field]
  return content
}

/** Which entries a reader wants. */
export interface EntryFilter {
  readonly verbose: boolean
  /** Only this call and what is below it. */
  readonly call: string | null
}

/** Follows which calls are below the wanted one; entries must be shown to it in order, from the call's start on. */
export function entryFilter(filter: EntryFilter): (entry: Entry) => boolean {
  const inside = new Set<string>(filter.call === null ? [] : [filter.call])
  return (entry) => {
    const { call, parentCall, run } = entry.place
    if (filter.call !== null && !inside.has(call)) {
      if (parentCall === null || !inside.has(parentCall)) return false
      inside.add(call)
    }
    return filter.verbose || call === run || readersOf(entry.type, entry.kind).terse
  }
}
