/** The entries of the log: what each type carries, and the one table that says which reader sees what of it. */
import type { EntryKind, EntryType, FinishReason, NoticeCode } from './event.ts'
import type { Interruption, InterruptionState } from './interruption.ts'
import type { ModelUsage } from './counters.ts'
import type { Usage } from './usage.ts'

/** Where in the tree an entry belongs; shared by all entries of one call. */
export interface CallPlace {
  readonly call: string
  readonly parentCall: string | null
  /** The root call: its id is the run's id. */
  readonly run: string
  readonly document: string
  readonly author: string
  readonly agentPath: string
  readonly invocation: string
}

/** A tool call as the model wrote it; `arguments` is its raw text. */
export interface LoggedToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** A person's, parent's or the runtime's words into a document. */
export interface MessageBody {
  readonly author: string
  readonly text: string
}
/** An agent call begins. `parameters` holds only what its model may see; `generated` what the parent's model supplied. */
export interface AgentStartBody {
  readonly agent: string
  readonly revision: number
  readonly toolCallId: string | null
  readonly message: string
  readonly parameters: Readonly<Record<string, unknown>>
  readonly generated: Readonly<Record<string, unknown>> | null
  /** The edge's names and history mode, so that a fold needs no edge. */
  readonly map: Readonly<Record<string, string | null>>
  readonly history: 'agent' | 'isolated'
  /** On a root: the revisions of every agent it reaches; the whole run keeps them [C8]. */
  readonly revisions: Readonly<Record<string, number>>
  /** Calls that stand before the first step as if the model had made them. */
  readonly initial: readonly LoggedToolCall[]
  readonly hidden: boolean
  readonly originRunId: string | null
}
/** An agent call ends well, or is cancelled. `usage` covers its subtree. */
export interface AgentEndBody {
  readonly text: string
  readonly output: unknown
  readonly finishReason: FinishReason
  readonly usage: Usage
  readonly backgroundTasks: readonly string[]
}
/** A call fails. `detail` is for people and for the calling model alike and never holds a hidden value. */
export interface ErrorBody {
  readonly code: string
  readonly detail: string
  readonly usage?: Usage
}
/** A tool call begins: the model's arguments, and only the names of what was bound. */
export interface ToolStartBody {
  readonly name: string
  readonly toolCallId: string
  readonly arguments: unknown
  readonly bound: readonly string[]
}
/** A tool call ends well. */
export interface ToolEndBody {
  readonly result: unknown
  readonly truncated: boolean
}
/** A model's whole reply. `taken` is how many waiting messages of the document it had seen. */
export interface ModelEndBody {
  readonly model: string
  readonly usage: ModelUsage | null
  readonly finishReason: string
  readonly text: string
  readonly toolCalls: readonly LoggedToolCall[]
  readonly taken: number
  readonly startedAt: number
  /** Its deltas carried this number; a later reply of the same call has a higher one. */
  readonly attempt: number
  /** Whether tools were offered: only such calls count as iterations. */
  readonly offered: boolean
  /** False for an empty reply, or one off its output schema: it is not used. */
  readonly accepted: boolean
}
/** An interruption is settled: the answer stands here for the fold, and no event shows it. */
export interface ResolvedBody {
  readonly id: string
  readonly state: InterruptionState
  readonly by: string | null
  readonly answer: unknown
}
/** Something a person should know that changes nothing. */
export interface NoticeBody {
  readonly code: NoticeCode
  readonly detail: string
}
/** Somebody cancels the run. */
export interface CancelBody {
  readonly by: string
  readonly tasks: boolean
}

/** Type, kind and body of an entry, together. */
export type EntryContent =
  | { readonly type: 'message'; readonly kind: null; readonly body: MessageBody }
  | { readonly type: 'start'; readonly kind: 'agent'; readonly body: AgentStartBody }
  | { readonly type: 'end'; readonly kind: 'agent'; readonly body: AgentEndBody }
  | { readonly type: 'error'; readonly kind: 'agent'; readonly body: ErrorBody }
  | { readonly type: 'start'; readonly kind: 'tool'; readonly body: ToolStartBody }
  | { readonly type: 'end'; readonly kind: 'tool'; readonly body: ToolEndBody }
  | { readonly type: 'error'; readonly kind: 'tool'; readonly body: ErrorBody }
  | { readonly type: 'end'; readonly kind: 'model'; readonly body: ModelEndBody }
  | { readonly type: 'action_required'; readonly kind: null; readonly body: Interruption }
  | { readonly type: 'resolved'; readonly kind: null; readonly body: ResolvedBody }
  | { readonly type: 'notice'; readonly kind: null; readonly body: NoticeBody }
  | { readonly type: 'cancel'; readonly kind: null; readonly body: CancelBody }

/** One line of the log. `seq` is 0 until it is stored; `(job, appendNo)` is unique. */
export type Entry = EntryContent & {
  seq: number
  readonly at: number
  readonly place: CallPlace
  readonly job: string
  readonly epoch: number
  readonly appendNo: number
}

/** What the readers of one entry type get. */
interface ReaderRow {
  /** The fields of the body that an event shows; the others never leave the log. */
  readonly event: readonly string[]
  /** Whether a terse reader gets it from any call, not only from the root's own [F34]. */
  readonly terse: boolean
}

const readers: Readonly<Record<string, ReaderRow>> = {
  message: { event: ['author', 'text'], terse: false },
  'start agent': { event: ['message', 'parameters', 'hidden', 'originRunId'], terse: false },
  'end agent': { event: ['text', 'output', 'finishReason', 'usage', 'backgroundTasks'], terse: false },
  'error agent': { event: ['code', 'detail'], terse: false },
  'start tool': { event: ['name', 'arguments', 'bound'], terse: false },
  'end tool': { event: ['result', 'truncated'], terse: false },
  'error tool': { event: ['code', 'detail'], terse: false },
  'end model': { event: ['model', 'usage', 'finishReason'], terse: false },
  action_required: {
    event: ['id', 'kind', 'path', 'agent', 'callId', 'addressee', 'state', 'expiresAt', 'name', 'arguments'],
    terse: true,
  },
  resolved: { event: ['id', 'state', 'by'], terse: true },
  notice: { event: ['code', 'detail'], terse: false },
  cancel: { event: ['by', 'tasks'], terse: false },
}

/** The row of the reader table for a type and kind. */
export function readersOf(type: EntryType, kind: EntryKind): ReaderRow {
  const row = readers[kind === null ? type : `${type} ${kind}`]
  if (row === undefined) throw new Error(`no reader row for ${type} ${kind}`)
  return row
}
