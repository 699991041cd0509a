/** The public interface of a runtime: what the library, the server and the command line call. */
import type { NoticeBody } from '@witan/protocol/entries'
import type { AuditEntry } from '@witan/protocol/keys'
import type { AuditQuery } from './list-audit.ts'
import type {
  Conversation,
  ConversationLine,
  ConversationRequest,
  Document,
  Event,
  EventPage,
  Interruption,
  InterruptionKind,
  Prompt,
  RunLine,
  RunResult,
  RunState,
  Task,
  TaskProgress,
  TaskReply,
} from '@witan/protocol'
import type {
  ConversationInput,
  ConversationParticipant,
  InterruptionAnswer,
  ParticipantRequest,
  RunInput,
  TaskMessageInput,
  TaskQuestion,
  UsageItem,
} from '@witan/protocol/schemas'
import type { Diagram, Exchange } from '@witan/protocol/protocols'
import type { Principal } from '../identity/principal.ts'
import type { AgentAdmin, KnowledgeAdmin, ProtocolAdmin } from './admin-contract.ts'
import type { McpAdmin } from './mcp-contract.ts'
import type { MemoryAdmin } from './memory-contract.ts'
import type { AcceptedRun, OpenedConversation } from './accepted-run.ts'
import type { Page, PageOptions } from './page.ts'
import type { KeyAdmin, KeyLookup } from './key-contract.ts'
import type { UsedEvidence } from './used-evidence.ts'
import type { OwnKeys } from '../federation/own-keys.ts'
import type { PublishedAgents } from './published.ts'
import type { OwnRuns } from './own-runs.ts'
import type { RememberedReplies } from './reply-contract.ts'
import type {
  ArtifactReader,
  DocumentOptions,
  EventFilter,
  EventPageOptions,
  FileContent,
  ModelCallReader,
  UsageQuery,
} from './reading-contract.ts'
import type { Reservation } from '../store/reply-records.ts'

/**
 * Tasks: calls that their parent does not wait for. All methods throw `NOT_FOUND` if the task does not exist; all except
 * reads throw `TASK_FINISHED` if it has ended.
 */
export interface TaskControls {
  /** Newest first. `live` selects only live tasks, or only ended ones. */
  list(options?: PageOptions & { readonly live?: boolean }): Promise<Page<Task>>
  get(id: string): Promise<Task>
  /** Sends a message to it: `{ text, mode, timeoutSeconds }`. The task reads it at its next step [F27]. */
  message(id: string, message: TaskMessageInput, options?: NoteOption): Promise<TaskReply>
  /** Asks for its progress: `{ question }`. A separate model call answers from what is stored, and changes nothing [F26]. */
  progress(id: string, question: TaskQuestion): Promise<TaskProgress>
  /** Resolves when the cancel of the task and its subtree is stored. */
  cancel(id: string): Promise<void>
}

/** A conversation driven by library code. */
export interface Chat {
  /** The id: from the options if it is complete there, otherwise assigned at the first run; throws before that [Rb34]. */
  readonly id: string
  /** One handler per path such as `user-info-agent/ChangeUserName` [R28]; a second registration throws. */
  handle(path: string, handler: (args: Record<string, unknown>) => unknown): Chat
  /** Runs until the run ends, or until an action has no handler; then it returns the waiting result. */
  run(prompt: Prompt): Promise<RunResult>
  /**
   * Resumes the live run in the conversation of the `id` option, for example after a restart: waits for it, and answers its
   * open actions with the handlers. Null if no run is live. Do not send the prompt again: it is stored.
   */
  resume(): Promise<RunResult | null>
}

/**
 * Everything that one principal can do. All methods throw `WitanError` for refused input; the error is `NOT_FOUND` both for
 * missing things and for those of others.
 */
export interface Witan {
  readonly principal: Principal
  readonly agents: AgentAdmin
  readonly protocols: ProtocolAdmin
  readonly knowledge: KnowledgeAdmin
  readonly memory: MemoryAdmin
  /** The MCP servers of the configuration, as this process knows them. */
  readonly mcp: McpAdmin
  /** The API keys of the database. For everybody but an `admin` every method throws `NOT_FOUND`. */
  readonly keys: KeyAdmin
  /** The names that agents may use as `model` and `tools` entries. */
  readonly models: readonly string[]
  conversation(agent: string, options?: Partial<Omit<ConversationRequest, 'agent' | 'prompt'>>): Chat
  start(request: ConversationInput, options?: NoteOption): Promise<OpenedConversation>
  /** Accepts a prompt, or responses that resume the waiting run. */
  run(conversationId: string, request: RunInput, options?: NoteOption): Promise<AcceptedRun>
  /** Waits for the result of an accepted run; settles at once if the run has ended or waits. Throws `NOT_FOUND`. */
  followRun(runId: string): Promise<AcceptedRun>
  /** The live run of a conversation, to wait for its next result; null if there is none. */
  liveRun(conversationId: string): Promise<AcceptedRun | null>
  /** Returns it with its latest 50 runs; `listRuns` has all. */
  getConversation(id: string): Promise<Conversation>
  /** The runs of a conversation, newest first. */
  listRuns(conversationId: string, options?: PageOptions): Promise<Page<RunLine>>
  /**
   * Newest first. `search` selects conversations with all its words in the first 200 characters of the first message, in
   * the agent's id or name, or in the id. A search examines 2,000 conversations per page: a page may be short or empty and
   * still have a cursor.
   */
  listConversations(options?: PageOptions & { agent?: string; search?: string }): Promise<Page<ConversationLine>>
  deleteConversation(id: string): Promise<void>
  /** Everybody who takes part in a conversation or did, in the order of joining. Throws `NOT_FOUND`. */
  listParticipants(conversationId: string, options?: PageOptions): Promise<Page<ConversationParticipant>>
  /**
   * Adds a person: `{ id, name?, roles? }`. Tools that ask people change with the next run. A repeat is no change; one with another
   * name or other roles throws `NAME_TAKEN`, as an agent's id does. Only the creator and an `admin` may; others get `NOT_FOUND`.
   */
  addParticipant(conversationId: string, request: ParticipantRequest): Promise<AddedParticipant>
  /** Removes a person; what waits for that person is cancelled. The creator, an `admin` and the person may. Throws `NOT_FOUND`. */
  removeParticipant(conversationId: string, user: string): Promise<void>
  /**
   * Creates a conversation with the same log up to `seq`, over all documents, and the same values and expiry. Both then
   * continue independently [Rb55]. `id` is complete or a prefix; default: the original's prefix. Throws `FORK_OPEN_CALLS`,
   * which names the last legal seq, if a call is open; `EVENT_ID_AHEAD`; `NAME_TAKEN`.
   */
  forkConversation(
    id: string,
    request: { seq: number; id?: string | null },
    options?: NoteOption,
  ): Promise<Conversation>
  /**
   * A page of a document: the newest messages, those `before` or `after` an exclusive date (ISO), or those at a `cursor`
   * from another page; at most one of the three. Paging by `olderCursor` or `newerCursor` returns every message once,
   * whatever the dates. Throws `NOT_FOUND`, `RUN_INPUT_INVALID`, and `BODY_INVALID` for a cursor that is not from a page of
   * this document.
   */
  getDocument(path: string, options?: DocumentOptions): Promise<Document>
  /** The content of a file that a message of the conversation has. Throws `NOT_FOUND`. */
  readFile(conversationId: string, digest: string): Promise<FileContent>
  readonly artifacts: ArtifactReader
  readonly modelCalls: ModelCallReader
  /**
   * The export of a conversation, line by line, without line feeds: its log, the definitions in the revisions of its runs, and the
   * content of its files. Hidden values are replaced by pseudonyms. Enough for `replay` of `@witan/core/export`. Throws `NOT_FOUND`, also
   * for a principal without the role `admin`; `BODY_INVALID` if a file holds a hidden value.
   */
  exportConversation(id: string): AsyncIterable<string>
  getRun(runId: string): Promise<RunState>
  /** What the peers of a run said to each other by their protocols, and what broke one. Throws `NOT_FOUND`. */
  getExchanges(runId: string): Promise<Exchange[]>
  /** Who said what to whom in a run, in order: agents, peers and people. Throws `NOT_FOUND` [Tb27]. */
  getDiagram(runId: string): Promise<Diagram>
  /**
   * Resolves when the cancel is stored; throws `RUN_FINISHED` if the run has ended. Its tasks continue unless `tasks` is
   * set [E57].
   */
  cancelRun(runId: string, options?: { readonly tasks?: boolean }): Promise<void>
  /**
   * What the database has used, by agent, conversation, user, model or day (UTC), in the order of the keys. The cost of a page does
   * not grow with the history: it reads sums, at most 5,000 rows of one key and day, and may so be short and still have a cursor. For
   * the roles `admin` and `read`; others get `NOT_FOUND`. Throws `RUN_INPUT_INVALID` for another dimension or date [T27].
   */
  usage(query: UsageQuery): Promise<Page<UsageItem>>
  /**
   * Who changed an agent, a protocol or an API key of the database, and when, the latest first. An entry is stored in the transaction
   * of its change, holds no values, and is never deleted. For the role `admin`; others get `NOT_FOUND`.
   */
  audit(query?: AuditQuery): Promise<Page<AuditEntry>>
  /**
   * Figures of this process for the database, in the text format of Prometheus: tokens and times of model calls, ended runs, open
   * interruptions, event readers, exported spans. For the roles `admin` and `read`. Throws `NOT_FOUND` without `telemetry.metrics`.
   */
  metrics(): Promise<string>
  readonly tasks: TaskControls
  /** The runs of the conversations that this principal began itself. */
  readonly ownRuns: OwnRuns
  /** One page of stored events. Throws `EVENT_ID_AHEAD`. */
  readEvents(conversationId: string, filter?: EventPageOptions): Promise<EventPage>
  /**
   * Stored events after `from`, then live events with deltas, without gaps or repeats. Ends when the signal aborts or the
   * conversation is deleted.
   */
  followEvents(conversationId: string, filter: EventFilter & { signal: AbortSignal }): AsyncIterable<Event>
  listInterruptions(options?: PageOptions & { state?: string; addressee?: string }): Promise<Page<Interruption>>
  /**
   * `answer` is the body of the answer call: `{ answer }`, or for an action `{ error }`. `kind` selects only interruptions
   * of that kind. Resolves when the answer is stored; the run continues by itself. Throws `NOT_FOUND` also if the principal
   * may not answer it, `ANSWER_INVALID`, `ALREADY_ANSWERED`, `QUESTION_EXPIRED`, `RUN_FINISHED`.
   */
  answerInterruption(
    id: string,
    answer: InterruptionAnswer,
    options?: { kind?: InterruptionKind },
  ): Promise<Interruption>
}

/** Somebody who takes part; `created` is false for a repeat. */
export interface AddedParticipant {
  readonly participant: ConversationParticipant
  readonly created: boolean
}

/** A runtime: the `Witan` of its own principal, those of others by `as`, and its lifetime. */
export interface Runtime extends Witan {
  /** The same runtime for another principal. */
  as(principal: Principal): Witan
  /** Resolves when code agents are stored and interrupted jobs are claimed; rejects if the store or an agent refuses. */
  readonly ready: Promise<void>
  /**
   * Waits until the traces of everything that has ended are delivered, with as many tries as it takes: true once they are, false if that
   * takes longer than `withinMs` (default 30,000).
   */
  flushTraces(withinMs?: number): Promise<boolean>
  /**
   * Releases its jobs and closes the store. Active runs stop where they are and resume at the next start. Traces that wait are sent once,
   * for at most `tracesWithinMs` (default 2,000).
   */
  close(options?: { readonly tracesWithinMs?: number }): Promise<void>
  /** Finds keys by their digests, in all databases: what a server checks requests with. */
  readonly keyLookup: KeyLookup
  /** Finds the agents that are reached from outside by their addresses: what a server answers other servers with. */
  readonly published: PublishedAgents
  /** The keys that this server signs cards with, the same in every process of the store. */
  readonly signingKeys: OwnKeys
  /** Which evidence was used, in all processes of the store. */
  readonly usedEvidence: UsedEvidence
  /** Remembers a reply under an idempotency key, or returns the remembered reply. */
  readonly idempotency: RememberedReplies
  /**
   * Rejects if this process cannot take work: with `STORE_UNAVAILABLE` while the store cannot be written, or while
   * notifications of other processes do not arrive. Its message names no server, user or file; its `cause` does. The store
   * is tried at most once a second, however often this is called.
   */
  health(): Promise<void>
}

/**
 * The reservation of a request's idempotency key, as `begin` returned it. A run that the request starts is stored with the
 * key, and its message is stored only once. Throws `IN_PROGRESS`, and stores nothing, if another request holds the key by
 * now.
 */
export interface NoteOption {
  readonly note?: Reservation
  /** The W3C header `traceparent` of the request: if traces are exported, the run's is linked to the span that it names. */
  readonly traceparent?: string
  /** The caller's own id of its message, which the log keeps with it. */
  readonly messageId?: string
  /** What a person reads of how the message came, if it begins a run. */
  readonly notices?: readonly NoticeBody[]
  /** If it begins a run, how many runs of conversations of this principal may then be live. Throws `TOO_MANY_TASKS`. */
  readonly mostLive?: number
}

export type {
  AgentAdmin,
  AgentKnowledge,
  KnowledgeAdmin,
  KnowledgeDocuments,
  ProtocolAdmin,
  SavedAgent,
  SavedKnowledge,
  SavedProtocol,
  SubAgentAdmin,
  ToolAdmin,
  TryOptions,
} from './admin-contract.ts'
export type { SubAgentAssignment } from '../agent/admin/assign.ts'
export type { AcceptedRun, OpenedConversation } from './accepted-run.ts'
export type { Page, PageOptions } from './page.ts'
export type {
  ArtifactFilter,
  ArtifactReader,
  DocumentOptions,
  EventFilter,
  EventPageOptions,
  FileContent,
  UsageQuery,
} from './reading-contract.ts'
export type { IdempotencyScope, RememberedReplies } from './reply-contract.ts'
