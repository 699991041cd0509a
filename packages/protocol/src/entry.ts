/** The entries of the log: their types, and the body of each. */
import type { ToolMode } from './agent.ts'
import type { ArtifactBody } from './artifact.ts'
import type { EmbeddingUse } from './counters.ts'
import type { CritiqueBody, HookBody } from './entry-checks.ts'
import type { IncomingCall, ProvenEvidence, RemoteAnswer } from './entry-elsewhere.ts'
import type { LoggedToolCall, ModelEndBody, ModelErrorBody } from './entry-model.ts'
import type { FinishReason } from './entry-sets.ts'
import type { GuardedPart } from './entry-checks.ts'
import type { ListedServer, ToolsBody } from './mcp.ts'
import type { NoticeBody } from './notice.ts'
import type { FileReference } from './files.ts'
import type { Source } from './knowledge-schema.ts'
import type { MemoryKind, MemoryScope } from './memory-schema.ts'
import type { Interruption, InterruptionKind, InterruptionState } from './interruption.ts'
import type { PlanBody } from './plan.ts'
import type { TaskStatus } from './task.ts'
import type { Usage, UsageCounters } from './usage.ts'

/** The position of an entry in the call tree; shared by all entries of one call. */
export interface CallPlace {
  readonly call: string
  readonly parentCall: string | null
  /** The root call: its id is the run's id. */
  readonly run: string
  readonly document: string
  readonly author: string
  readonly agentPath: string
  readonly invocation: string
  /** The branches of all parallels above, outermost first; absent if there are none. */
  readonly branches?: readonly string[]
}

/** A call that appears to the model as its own, with its result; the caller supplies both [Rb52]. */
export interface AnsweredCall extends LoggedToolCall {
  readonly response: unknown
}

/** A message from a person, a parent or the runtime to a document, and the calls that follow it. */
export interface MessageBody {
  readonly author: string
  /** Set for a message that a person wrote under an own name: no agent has that name. */
  readonly authorKind?: 'user'
  readonly text: string
  readonly artificialActions?: readonly AnsweredCall[]
  /** The files that came with it; their content is in the store, by digest [Rb53]. */
  readonly files?: readonly FileReference[]
  /** Set if somebody may wait for the reply: a model's reply lists the messages that it had read. */
  readonly id?: string
  /** The id that its caller gave it, if it came over A2A. */
  readonly messageId?: string
  /** The ended tasks that this message reports. No other message reports them again. */
  readonly tasks?: readonly string[]
  /** The text as a model reads it, with what a model's server said. Only where that differs. */
  readonly forModel?: string
  /** Set for a message between peers, and for the reply to one: it stands at the call of the peer that answers. */
  readonly exchange?: ExchangeMessage
  /** The W3C header of the request that brought it, if traces are exported: its span is linked to the run's. */
  readonly traceparent?: string
}
/** The two agents of an exchange, and the protocol that they keep [T20]. */
export interface ExchangeEnds {
  readonly protocol: string
  readonly revision: number
  readonly initiator: string
  readonly responder: string
}
/** Where an exchange stands: its state, null without an order, and whether it may end there. */
export interface ExchangeStanding {
  readonly state: string | null
  readonly finished: boolean
}
/** One message of an exchange, or the reply to it; and where the exchange stands after it. */
export interface ExchangeMessage extends ExchangeEnds, ExchangeStanding {
  /** The call that began the exchange. */
  readonly id: string
  /** The name of the message; of a reply, that of the message that it answers. */
  readonly name: string
  readonly isReply: boolean
  /** The content: a message's arguments; a reply's JSON, or its text. */
  readonly body: unknown
}
/** The message of a peer that a call answers. */
export interface AnsweredMessage extends ExchangeEnds {
  readonly id: string
  readonly name: string
  /** The JSON Schema of the reply; null for free text. */
  readonly reply: Readonly<Record<string, unknown>> | null
  /** Set if the call has a document of its own, which nobody continues: the exchange so far, as its model reads it. */
  readonly soFar?: string
}
/** How a caller reads a child's answer: its final text or all texts, alone or as `{ text, error }` [K20, K21]. */
export interface AnswerTerms {
  readonly form: 'plain' | 'textAndError'
  readonly collect: 'final' | 'all'
}
/** What a delegation or a run overrides for the agent's own model calls, and no others [F14]. */
export interface CallOverrides {
  readonly model?: string
  readonly temperature?: number
  readonly toolMode?: ToolMode
}
/** What a task may spend: taken from its tree at the spawn, and the rest is returned at its end. Null: no limit. */
export interface TaskGrant {
  readonly modelCalls: number
  readonly iterations: number | null
  readonly tokens: number | null
  readonly costUsd: number | null
}
/** Whom a run works for. Its database is that of the log. */
export interface RunPrincipal {
  readonly id: string
  readonly roles: readonly string[]
  /** Absent for none. */
  readonly address?: string
  /** The person who wrote the message that began it, if that is not the principal itself. */
  readonly person?: string
}
/** An agent call begins. `parameters` holds only what its model may see; `generated` holds what the parent's model supplied. */
export interface AgentStartBody {
  readonly agent: string
  readonly revision: number
  readonly toolCallId: string | null
  readonly message: string
  readonly parameters: Readonly<Record<string, unknown>>
  /** Names of its values that its model may not see; absent if there are none. */
  readonly hiddenParameters?: readonly string[]
  readonly generated: Readonly<Record<string, unknown>> | null
  /** What is left of its agent's plan in its document, as it begins; absent for nothing. */
  readonly plan?: PlanBody
  /** The edge's names and history mode, so that a fold needs no edge. */
  readonly map: Readonly<Record<string, string | null>>
  readonly history: 'agent' | 'isolated' | 'shared'
  /** Absent: the final text or output, unchanged. */
  readonly answer?: AnswerTerms
  readonly overrides?: CallOverrides
  /** On a root: the revisions of every agent that it reaches; they hold for the complete run [C8]. */
  readonly revisions: Readonly<Record<string, number>>
  /** On a root: the log of this run has one order, and each model call without a reply as an entry. Absent in logs of earlier versions. */
  readonly ordered?: true
  /** Calls placed before the first step that appear to the model as its own. */
  readonly initial: readonly LoggedToolCall[]
  readonly hidden: boolean
  readonly originRunId: string | null
  /** On a root: whom the run works for, to its end. Absent for the local principal. An event shows only an address that called [C31]. */
  readonly principal?: RunPrincipal
  /** On a root: set if it came over A2A. It holds for everything that the run does, its tasks and follow-ups included. An event shows only the hop. */
  readonly incoming?: IncomingCall
  /** Set if its parent does not wait for it: the call has a job of its own, and this grant. */
  readonly background?: TaskGrant
  /** Set if its parent waits for it, and it has a part of the tree's budget of its own: held until it ends. */
  readonly share?: TaskGrant
  /** Set for a hand-over: the call that handed over. The call works in that call's document and at its depth [C33]. */
  readonly handedFrom?: string
  /** Set for a hand-over: what its model reads of earlier agents, and whether control returns once it has answered. */
  readonly handOver?: { readonly history: 'all' | 'words'; readonly returns: boolean }
  /** Set for a child of a workflow: its index in the workflow's list, and the round of a loop, from 0. */
  readonly step?: { readonly index: number; readonly round: number }
  /** Set for a call that criticises the answer of its parent [F08]. */
  readonly critique?: true
  /** Set for a call that checks what its parent reads or says. */
  readonly guardrail?: GuardedPart
  /** Set for the first child of a workflow's pass: how many waiting messages of the workflow's document are its input. */
  readonly passTakes?: number
  /** Set for a call that answers a peer's message. */
  readonly exchange?: AnsweredMessage
  /**
   * Set for an agent on another server: its address, or the URL of its card. `agent` is then the name that the caller's definition has for
   * it, and `revision` the caller's: what is known of it here stands there.
   */
  readonly remote?: string
  /** What its MCP servers offer it, where that was known as it began; else an entry behind this one has it. Absent for an agent without such tools. */
  readonly mcp?: readonly ListedServer[]
}
/** An agent call ends normally, or is cancelled. `usage` covers its subtree. */
export interface AgentEndBody {
  readonly text: string
  readonly output: unknown
  readonly finishReason: FinishReason
  readonly usage: Usage
  readonly backgroundTasks: readonly string[]
  /** The passages that the text or the output names, in the order of their first mention; absent if there are none. */
  readonly sources?: readonly Source[]
  /** Earlier answers: further messages arrived while each was being written, and the call then read those. */
  readonly earlierAnswers?: readonly string[]
  /** In logs of earlier versions, on a job's own call: the number of abandoned model calls, which count as spent. */
  readonly lost?: number
}
/** A call fails. People and the calling model read `detail`; it never holds a hidden value. */
export interface ErrorBody {
  readonly code: string
  readonly detail: string
  readonly usage?: Usage
  /** See the end of an agent. */
  readonly lost?: number
  /** See the end of a tool. */
  readonly bound?: readonly string[]
  /** See the end of a tool. */
  readonly embedded?: readonly EmbeddingUse[]
}
/** A tool call begins. `arguments` are as requested, or as changed by an approval; `bound` holds names only, never values. */
export interface ToolStartBody {
  readonly name: string
  readonly toolCallId: string
  readonly arguments: unknown
  readonly bound: readonly string[]
  /** Set if it runs only once all other calls of its reply are settled. */
  readonly isLast?: true
  /** Set for a message to a peer that was not sent: its exchange, and where that stands before its first message. */
  readonly exchange?: ExchangeEnds & ExchangeStanding
}
/** A tool call ends normally. */
export interface ToolEndBody {
  readonly result: unknown
  /** The result as a model reads it, with what a model's server said. Only where that differs. */
  readonly forModel?: unknown
  readonly truncated: boolean
  /** Names of bound values that it used besides those of its start. */
  readonly bound?: readonly string[]
  /** Set if it ended the tool mode of the call that made it: the rest of that call is `auto` [Tb09]. */
  readonly endsToolMode?: true
  /** The passages of documents in the result, which an answer may name as its sources. */
  readonly sources?: readonly Source[]
  /** What embedding models used for it; absent for nothing. */
  readonly embedded?: readonly EmbeddingUse[]
  /** Set if it handed over: the agent that gets control. */
  readonly handsTo?: string
  /** Set if it ended the call that made it, and everything up to the nearest loop. */
  readonly exitsLoop?: true
}
/**
 * A document became too long. Its reader sees `text` instead of everything up to `upToSeq`; an empty `text` adds nothing.
 * The log keeps all entries [Rb39].
 */
export interface SummaryBody {
  readonly document: string
  readonly reader: string
  readonly upToSeq: number
  readonly text: string
}
/** A person or a client is asked. `held`: the call has not started; the answer decides whether it starts. */
export type RequiredBody = Interruption & {
  readonly held?: { readonly toolCallId: string }
}
/** A task changed its status. */
export interface TaskBody {
  readonly taskId: string
  readonly status: TaskStatus
}
/** An interruption is settled. An event shows the answer only for the kinds that a person answers; see `shownAnswer`. */
export interface ResolvedBody {
  readonly id: string
  /** What was asked; absent in logs of earlier versions. */
  readonly kind?: InterruptionKind
  readonly state: InterruptionState
  readonly by: string | null
  readonly answer: unknown
  /** Set if it was cancelled because the person whom it was for has left the conversation. */
  readonly left?: true
  /** The evidence that came with the answer, where that was asked for [E22]. */
  readonly evidence?: ProvenEvidence
}
/** A person joins a conversation or leaves it. `by` is the principal that asked for it. */
export interface ParticipantBody {
  readonly user: string
  readonly name: string | null
  readonly roles: readonly string[]
  readonly change: 'joined' | 'left'
  readonly by: string
}
/**
 * A tool call, or the call of an agent on another server, saves a note for itself, resumes after an answer, has read an artifact, or has
 * its answer. Nobody else reads the note, and no event shows it. Absent: the last note remains.
 */
export interface CheckpointBody {
  readonly note?: unknown
  /** The call runs again from here, in the epoch of this entry. */
  readonly resumed?: true
  /** The id of an artifact that the call has read. */
  readonly read?: string
  /** Set at the call of an agent on another server: it has answered. */
  readonly answered?: RemoteAnswer
  /** Set at such a call: what it has cost since this was counted last; null if that is unknown. */
  readonly spent?: UsageCounters | null
  /** Set at the call of an agent that demands something: all of it is met, and its work begins. */
  readonly met?: true
}
/** Control goes from one agent to another: at the call that hands over, or that control comes back to. */
export interface TransferBody {
  readonly from: string
  readonly to: string
  /** True if control comes back to `to`, which had handed over. */
  readonly returned: boolean
}
/** A passage of a document as a model reads it, and the digest of that document. */
export type QuotedPassage = Source & { readonly text: string }
/**
 * What the knowledge bases of an agent have on a message that begins or joins its work: the next waiting message that none was looked for.
 * Its model reads the passages behind the message; without a passage it reads nothing of this.
 */
export interface RetrievalBody {
  readonly query: string
  readonly passages: readonly QuotedPassage[]
  /** What embedding models used for the search; absent for nothing. */
  readonly embedded?: readonly EmbeddingUse[]
}
/** A block of memory as a model read it or wrote it. */
export interface RememberedBlock {
  readonly id: string
  readonly scope: MemoryScope
  readonly kind: MemoryKind
  readonly key: string
  /** Empty for one that was erased. */
  readonly text: string
  readonly revision: number
  readonly updatedAt: number
}
/**
 * What an agent's memory has: at the call of the agent, what its model reads behind the message that begins its work; at a tool call, what it
 * wrote or erased. An event names blocks, and has no text.
 */
export interface MemoryBody {
  readonly op: 'read' | 'write' | 'erase'
  readonly agent: string
  /** Null if the agent has several scopes. */
  readonly scope: MemoryScope | null
  /** Whom it is about, such as `user:anna`; null if it is about nobody. */
  readonly subject: string | null
  /** Of a read: all core blocks, in the order of scopes, then keys. */
  readonly blocks: readonly RememberedBlock[]
  /** Of a read: the archival blocks that the message found; absent if none were looked for. */
  readonly recalled?: readonly RememberedBlock[]
  /** Of a read: the core blocks are as the model has read them, and are not said again. */
  readonly isSame?: true
}
/** Somebody cancels the run. */
interface CancelBody {
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
  | { readonly type: 'error'; readonly kind: 'model'; readonly body: ModelErrorBody }
  | { readonly type: `${InterruptionKind}_required`; readonly kind: null; readonly body: RequiredBody }
  | { readonly type: 'task'; readonly kind: null; readonly body: TaskBody }
  | { readonly type: 'resolved'; readonly kind: null; readonly body: ResolvedBody }
  | { readonly type: 'notice'; readonly kind: null; readonly body: NoticeBody }
  | { readonly type: 'summary'; readonly kind: null; readonly body: SummaryBody }
  | { readonly type: 'checkpoint'; readonly kind: null; readonly body: CheckpointBody }
  | { readonly type: 'transfer'; readonly kind: null; readonly body: TransferBody }
  | { readonly type: 'participant'; readonly kind: null; readonly body: ParticipantBody }
  | { readonly type: 'artifact'; readonly kind: null; readonly body: ArtifactBody }
  | { readonly type: 'retrieval'; readonly kind: null; readonly body: RetrievalBody }
  | { readonly type: 'memory'; readonly kind: null; readonly body: MemoryBody }
  | { readonly type: 'plan'; readonly kind: null; readonly body: PlanBody }
  | { readonly type: 'critique'; readonly kind: null; readonly body: CritiqueBody }
  | { readonly type: 'hook'; readonly kind: null; readonly body: HookBody }
  | { readonly type: 'tools'; readonly kind: null; readonly body: ToolsBody }
  | { readonly type: 'cancel'; readonly kind: null; readonly body: CancelBody }

/** What the process that wrote an entry had read of the others that write to the conversation. */
export interface EntryView {
  /** The writer, if it is not known from the entries before: absent for the process that began the conversation. */
  readonly by?: string
  /** The seq of the last entry of others that it had read. Absent if it had read no more than at its entry before. */
  readonly upTo?: number
}

/** One line of the log. `seq` is 0 until it is stored; `(job, appendNo)` is unique. */
export type Entry = EntryContent & {
  seq: number
  readonly at: number
  readonly place: CallPlace
  readonly job: string
  readonly epoch: number
  readonly appendNo: number
  /** Absent while one process writes, and where nothing has changed. */
  readonly view?: EntryView
}

/** A value while it is made field by field. Set so, a field that is absent costs nothing; spread, it costs an object. */
export type Writable<Value> = { -readonly [Name in keyof Value]: Value[Name] }
