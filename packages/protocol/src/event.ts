/** Entries of the log and the events that readers see: the same rows, filtered per reader by one table. */
import { z } from 'zod'

/** The closed set of entry types. `delta` is not among them: it is live only and has no seq [D8]. */
export const entryTypes = [
  'start',
  'end',
  'error',
  'message',
  'action_required',
  'question_required',
  'approval_required',
  'message_required',
  'policy_required',
  'resolved',
  'task',
  'notice',
  'summary',
  'cancel',
] as const
export type EntryType = (typeof entryTypes)[number]
/** What a `start`, `end` or `error` speaks of. */
export type EntryKind = 'agent' | 'tool' | 'model' | null

/** An entry as a reader sees it. All but `delta` carry a `seq`, gap-free per conversation from 1. */
export const eventSchema = z.object({
  seq: z.number().int().optional(),
  type: z.enum([...entryTypes, 'delta']),
  kind: z.enum(['agent', 'tool', 'model']).nullable(),
  callId: z.string(),
  parentCallId: z.string().nullable(),
  rootCallId: z.string(),
  conversationId: z.string(),
  document: z.string(),
  author: z.string(),
  agentPath: z.string(),
  invocationId: z.string(),
  branch: z.string().nullable(),
  branchPath: z.array(z.string()),
  at: z.string(),
  content: z.record(z.string(), z.unknown()),
  actions: z.record(z.string(), z.unknown()),
})
export type Event = z.infer<typeof eventSchema>

/** A page of events, as JSON. */
export const eventPageSchema = z.object({ events: z.array(eventSchema), lastSeq: z.number().int(), more: z.boolean() })
export type EventPage = z.infer<typeof eventPageSchema>

/** Codes of `notice` entries: things a person should know that change nothing. */
export const noticeCodes = [
  'ARGUMENT_OVERRIDE_IGNORED',
  'ARGUMENT_UNKNOWN_DROPPED',
  'DELEGATE_UNAVAILABLE',
  'HIDDEN_VALUE_IN_TEXT',
  'HISTORY_NOT_TRIMMED',
  'PARAMETERS_HIDDEN',
  'RUN_RECOVERED',
  'TOOL_UNAVAILABLE',
] as const
export type NoticeCode = (typeof noticeCodes)[number]

/** How a run or an agent call came to its end. */
export const finishReasons = [
  'stop',
  'iteration_limit',
  'length',
  'content_filter',
  'cancelled',
  'error',
  'waiting',
] as const
export type FinishReason = (typeof finishReasons)[number]
