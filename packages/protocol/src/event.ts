/** The events that readers see: the entries of the log, filtered per reader by one table. */
import { z } from 'zod'
import { entryTypes } from './entry-sets.ts'
import type { EventContent } from './readers.ts'

/** What an author is. */
export const authorKinds = ['agent', 'user', 'runtime', 'remote'] as const
/** Who can be an author: an agent, a person, the runtime itself, or an agent on another server. */
type AuthorKind = (typeof authorKinds)[number]

/** The kind of an author. No agent may be called `user` or `witan`; one on another server has its address, or the URL of its card. */
export function authorKindOf(author: string): AuthorKind {
  if (author === 'user') return 'user'
  if (author.startsWith('@') || author.includes('://')) return 'remote'
  return author === 'witan' ? 'runtime' : 'agent'
}

/** An entry as a reader sees it. All but `delta` carry a `seq`, gap-free per conversation from 1. */
export const eventSchema = z.object({
  seq: z.number().int().optional(),
  type: z.enum([...entryTypes, 'delta']),
  kind: z.enum(['agent', 'tool', 'model', 'reasoning']).nullable(),
  callId: z.string(),
  parentCallId: z.string().nullable(),
  rootCallId: z.string(),
  conversationId: z.string(),
  document: z.string(),
  author: z.string(),
  authorKind: z.enum(authorKinds),
  agentPath: z.string(),
  invocationId: z.string(),
  branch: z.string().nullable(),
  branchPath: z.array(z.string()),
  at: z.string(),
  content: z.record(z.string(), z.unknown()),
  actions: z.record(z.string(), z.unknown()),
})
/** An event whose content type is unknown: what the schema can promise of any event. Every `Event` is an `AnyEvent`. */
export type AnyEvent = z.infer<typeof eventSchema>

/** A piece of an agent's text, live only. A snapshot holds the complete text so far; a higher attempt replaces earlier text. */
interface DeltaContent {
  readonly type: 'delta'
  readonly kind: 'agent'
  readonly content: { readonly text: string; readonly attempt: number; readonly snapshot?: true }
}

/** A piece of what an agent's model reasons, live only, and never part of the text. Snapshots and attempts are as of a text. */
interface ReasoningDeltaContent {
  readonly type: 'delta'
  readonly kind: 'reasoning'
  readonly content: { readonly reasoning: string; readonly attempt: number; readonly snapshot?: true }
}

/** How far a tool call has come, live only. A later one replaces it; what it counts is for the tool to say. */
interface ProgressDeltaContent {
  readonly type: 'delta'
  readonly kind: 'tool'
  readonly content: { readonly progress: number; readonly total: number | null; readonly message: string | null }
}

/**
 * An entry as a reader sees it, or a delta. `type` and `kind` determine the content. A newer server may send other types
 * and fields: ignore what you do not know.
 */
export type Event = Omit<AnyEvent, 'type' | 'kind' | 'content'> &
  (EventContent | DeltaContent | ReasoningDeltaContent | ProgressDeltaContent)

/** The events of one type. */
export type EventOf<Type extends Event['type']> = Extract<Event, { readonly type: Type }>

/** A page of events, as JSON. */
export const eventPageSchema = z.object({ events: z.array(eventSchema), lastSeq: z.number().int(), more: z.boolean() })
/** A page of events. */
export type EventPage = Omit<z.infer<typeof eventPageSchema>, 'events'> & { readonly events: Event[] }
