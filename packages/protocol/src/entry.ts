/** The entries of the log: what each type carries, and the one table that says which reader sees what of it. */
import type { EntryKind, EntryType, FinishReason, NoticeCode } from './event.ts'
import type { Interruption, InterruptionKind, InterruptionState } from './interruption.ts'
import type { ModelUsage } from './counters.ts'
import type { TaskStatus } from './task.ts'
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

/** A call that a model seems to have made, and what it came to: the caller brings both [Rb52]. */
export interface AnsweredCall extends LoggedToolCall {
  readonly response: unknown
}

/** A person's, parent's or the runtime's words into a document, and the calls that stand behind them. */
export interface MessageBody {
  readonly author: string
  readonly text: string
  readonly artificialActions?: readonly AnsweredCall[]
  /** Set where somebody may wait for the reply: a model's reply names the messages that it had heard. */
  readonly id?: string
  /** The ended tasks that it tells of: nobody else tells of them again. */
  readonly tasks?: readonly string[]
}
/** How a caller reads what came of a child: its last words or all of them, alone or as `{ text, error }` [K20, K21]. */
export interface AnswerTerms {
  readonly form: 'plain' | 'textAndError'
  readonly collect: 'final' | 'all'
}
/** What a delegation changes of the agent, for its own model calls alone [F14]. */
export interface CallOverrides {
  readonly model?: string
  readonly temperature?: number
}
/** What a task may spend: moved from its tree when it is spawned; the rest comes back at its end. Null for no cap. */
export interface TaskGrant {
  readonly modelCalls: number
  readonly iterations: number | null
  readonly tokens: number | null
  readonly costUsd: number | null
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
  readonly history: 'agent' | 'isolated' | 'shared'
  /** Absent: the final text or output, as it is. */
  readonly answer?: AnswerTerms
  readonly overrides?: CallOverrides
  /** On a root: the revisions of every agent it reaches; the whole run keeps them [C8]. */
  readonly revisions: Readonly<Record<string, number>>
  /** Calls that stand before the first step as if the model had made them. */
  readonly initial: readonly LoggedToolCall[]
  readonly hidden: boolean
  readonly originRunId: string | null
  /** Its parent does not wait for it: it has a job of its own, and this to spend. */
  readonly background?: TaskGrant
}
/** An agent call ends well, or is cancelled. `usage` covers its subtree. */
export interface AgentEndBody {
  readonly text: string
  readonly output: unknown
  readonly finishReason: FinishReason
  readonly usage: Usage
  readonly backgroundTasks: readonly string[]
  /** Of a job's own call: model calls that were given up. They count as spent, and nothing else is known of them. */
  readonly lost?: number
}
/** A call fails. `detail` is for people and for the calling model alike and never holds a hidden value. */
export interface ErrorBody {
  readonly code: string
  readonly detail: string
  readonly usage?: Usage
  /** As on an agent's end. */
  readonly lost?: number
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
  /** Set where the model was not asked to answer: the reply counts as usage, and nothing else comes of it. */
  readonly purpose?: 'summary' | 'progress'
  /** Ids of the messages that it had heard, where they have one. */
  readonly heard?: readonly string[]
}
/** A document became too long: its reader sees nothing up to `upToSeq`, but `text` in front; empty for nothing. The log stays whole [Rb39]. */
export interface SummaryBody {
  readonly document: string
  readonly reader: string
  readonly upToSeq: number
  readonly text: string
}
/** Somebody outside is asked. `held`: the call has not started; it starts, or not, when the answer is there. */
export type RequiredBody = Interruption & {
  readonly held?: { readonly toolCallId: string }
}
/** A task has come to a status. */
export interface TaskBody {
  readonly taskId: string
  readonly status: TaskStatus
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
  /** The parameters that are hidden from this entry on [E19]. */
  readonly hidden?: readonly string[]
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
  | { readonly type: `${InterruptionKind}_required`; readonly kind: null; readonly body: RequiredBody }
  | { readonly type: 'task'; readonly kind: null; readonly body: TaskBody }
  | { readonly type: 'resolved'; readonly kind: null; readonly body: ResolvedBody }
  | { readonly type: 'notice'; readonly kind: null; readonly body: NoticeBody }
  | { readonly type: 'summary'; readonly kind: null; readonly body: SummaryBody }
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
  /** Fields that it shows only where they are there. */
  readonly also?: readonly string[]
  /** Whether a terse reader gets it from any call, not only from the root's own [F34]. */
  readonly terse: boolean
}

/** An interruption without merged values; `prompt` is the part that its kind adds. */
function asked(...prompt: readonly string[]): ReaderRow {
  const event = ['id', 'kind', 'path', 'agent', 'callId', 'addressee', 'state', 'expiresAt', ...prompt]
  return { event, terse: true }
}

const readers: Readonly<Record<string, ReaderRow>> = {
  message: { event: ['author', 'text'], also: ['artificialActions'], terse: false },
  'start agent': { event: ['message', 'parameters', 'hidden', 'originRunId'], also: ['overrides'], terse: false },
  'end agent': { event: ['text', 'output', 'finishReason', 'usage', 'backgroundTasks'], terse: false },
  'error agent': { event: ['code', 'detail'], terse: false },
  'start tool': { event: ['name', 'arguments', 'bound'], terse: false },
  'end tool': { event: ['result', 'truncated'], terse: false },
  'error tool': { event: ['code', 'detail'], terse: false },
  'end model': { event: ['model', 'usage', 'finishReason'], terse: false },
  action_required: asked('name', 'arguments'),
  question_required: asked('questions'),
  approval_required: asked('tool', 'arguments', 'digest'),
  message_required: asked('prompt'),
  policy_required: asked('issuer', 'policy'),
  resolved: { event: ['id', 'state', 'by'], terse: true },
  task: { event: ['taskId', 'status'], terse: false },
  notice: { event: ['code', 'detail'], terse: false },
  summary: { event: ['document', 'upToSeq'], terse: false },
  cancel: { event: ['by', 'tasks'], terse: false },
}

/** The row of the reader table for a type and kind. */
export function readersOf(type: EntryType, kind: EntryKind): ReaderRow {
  const row = readers[kind === null ? type : `${type} ${kind}`]
  if (row === undefined) throw new Error(`no reader row for ${type} ${kind}`)
  return row
}
