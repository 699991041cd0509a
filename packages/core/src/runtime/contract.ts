/** The public face of a runtime: what the library, the server and the command line call. */
import type {
  AgentData,
  AgentInput,
  CheckReport,
  Conversation,
  ConversationRequest,
  DetailLevel,
  Document,
  Event,
  EventPage,
  Interruption,
  InterruptionKind,
  Prompt,
  RunRequest,
  RunResult,
  RunState,
  StoredAgent,
  Task,
  TaskProgress,
  TaskReply,
} from '@witan/protocol'
import type { AssignedSubAgent, RevisionOption, SubAgentLine } from '../agent/desk/assign.ts'
import type { Principal } from '../identity/principal.ts'
import type { Reservation } from '../store/store.ts'

/** One page of a list; `nextCursor` is null on the last one. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

/** Which page: `limit` 1 to 200, default 50; `cursor` from the page before. */
export interface PageOptions {
  readonly limit?: number
  readonly cursor?: string | null
}

/** A saved agent, and whether it was new. */
export interface SavedAgent {
  readonly agent: StoredAgent
  readonly created: boolean
}

/** A run that was accepted: its message is stored. `result` settles when the run ends or waits for somebody; it never rejects for what a model, tool or person did. */
export interface AcceptedRun {
  readonly runId: string
  readonly conversationId: string
  /** The last seq before this run's first entry: where a reader of just this run starts. */
  readonly fromSeq: number
  readonly result: Promise<RunResult>
}

/** A started conversation; `created` is false where the id existed and goes on; `run` is null without a prompt. */
export interface OpenedConversation {
  readonly id: string
  readonly agent: string
  readonly created: boolean
  readonly run: AcceptedRun | null
}

/** Which events: after `from` (exclusive, default 0), `verbose` or the root's own only [F34], of one `call` and what is below it. */
export interface EventFilter {
  readonly from?: number
  readonly verbose?: boolean
  readonly call?: string
}

/** Agents as data. Every save is checked; errors refuse it, warnings are kept. */
export interface AgentDesk {
  list(options?: PageOptions): Promise<Page<StoredAgent>>
  /** Throws `NOT_FOUND`. */
  get(id: string): Promise<StoredAgent>
  /** Creates or replaces. `ifRevision` that is not the stored one throws `REVISION_MISMATCH`; `create: true` throws `AGENT_EXISTS` where it exists. */
  save(agent: unknown, options?: { ifRevision?: number | null; create?: boolean }): Promise<SavedAgent>
  /** Saves several at once, all or nothing, so that they may list each other. */
  saveAll(agents: readonly unknown[]): Promise<readonly SavedAgent[]>
  /** Throws `AGENT_REFERENCED` while others list it, unless forced. */
  delete(id: string, options?: { force?: boolean; ifRevision?: number | null }): Promise<void>
  /** Checks these agents together with the stored ones; without any, the stored ones. Never throws for a bad agent. */
  check(agents?: readonly unknown[]): Promise<CheckReport>
  graph(id: string): Promise<AgentGraph>
  readonly subAgents: SubAgentDesk
  readonly tools: ToolDesk
}

/** The roster of an agent, one by one. A change is a save of the parent: checked, with a revision of its own, refused over another `ifRevision`. */
export interface SubAgentDesk {
  list(parentId: string, options?: PageOptions): Promise<Page<SubAgentLine>>
  /** Creates an agent and lists it, both or neither. Throws `AGENT_EXISTS`. */
  create(
    parentId: string,
    subAgent: RevisionOption & { readonly agent: unknown; readonly edge?: unknown },
  ): Promise<AssignedSubAgent>
  /** Lists an agent, or replaces the edge to it. */
  assign(
    parentId: string,
    id: string,
    options?: RevisionOption & { readonly edge?: unknown },
  ): Promise<AssignedSubAgent>
  /** Takes it out of the roster; gives the parent as it stands. Throws `NOT_FOUND` where it is not listed. */
  unassign(parentId: string, id: string, options?: RevisionOption): Promise<StoredAgent>
  /**
   * Runs a listed sub-agent as the root of a conversation of its own [F40–F43]: `request` is a run's body with `conversationId`
   * (absent: a new one) and the `parameters` a new one starts with, the hidden trusted ones too. Throws `NOT_FOUND`,
   * `CONVERSATION_AGENT_MISMATCH`, `PARAM_MISSING`.
   */
  run(parentId: string, id: string, request: unknown): Promise<AcceptedRun>
  /** The first half of `run`, for readers who must join the conversation before it: `body` is left for `Witan.run`. */
  open(
    parentId: string,
    id: string,
    request: unknown,
  ): Promise<{ readonly conversationId: string; readonly body: RunRequest }>
}

/** The tools of an agent, one by one; a change is a save of that agent. */
export interface ToolDesk {
  /** Throws `TOOL_UNKNOWN`; `created` is false where the agent had it. */
  assign(id: string, tool: string, options?: RevisionOption): Promise<SavedAgent>
  /** Throws `NOT_FOUND` where the agent has no such tool. */
  unassign(id: string, tool: string, options?: RevisionOption): Promise<StoredAgent>
}

/** Tasks: work that its parent does not wait for. All throw `NOT_FOUND` for a task that is not there, and but for reads `TASK_FINISHED` for one that has ended. */
export interface TaskDesk {
  /** The newest first; only those that are live, or have ended, where that is asked. */
  list(options?: PageOptions & { readonly live?: boolean }): Promise<Page<Task>>
  get(id: string): Promise<Task>
  /** Says something to it: `{ text, mode, timeoutSeconds }`. It reads it at its next step [F27]. */
  message(id: string, message: unknown, options?: NoteOption): Promise<TaskReply>
  /** Asks what it is doing: `{ question }`. A model call of its own answers from what is stored, and changes nothing [F26]. */
  progress(id: string, question: unknown): Promise<TaskProgress>
  /** Resolves when the cancel is stored: of the task, and of all below it. */
  cancel(id: string): Promise<void>
}

/** What can be reached from one agent. */
export interface AgentGraph {
  readonly nodes: readonly { readonly id: string; readonly name: string; readonly kind: string }[]
  readonly edges: readonly {
    readonly from: string
    readonly to: string
    readonly kind: string
    readonly description: string
  }[]
}

/** A conversation held by library code. */
export interface Chat {
  /** The id: the whole one of the options, or from the first run on the one that it was given; throws before [Rb34]. */
  readonly id: string
  /** One handler per path such as `user-info-agent/ChangeUserName` [R28]; a second registration throws. */
  handle(path: string, handler: (args: Record<string, unknown>) => unknown): Chat
  /** Runs until done, or until an action has no handler: then the result waits. */
  run(prompt: Prompt): Promise<RunResult>
  /**
   * Goes on with the run that is live in the conversation of the `id` option, after a restart for example: waits for it, and
   * answers its open actions by the handlers. Null where none is live. Say nothing again: what was said is stored.
   */
  resume(): Promise<RunResult | null>
}

/** Everything one principal can do. All methods throw `WitanError` for refused input; foreign and missing things are both `NOT_FOUND`. */
export interface Witan {
  readonly principal: Principal
  readonly agents: AgentDesk
  /** The names that agents may use as `model` and `tools` entries. */
  readonly models: readonly string[]
  conversation(agent: string, options?: Partial<Omit<ConversationRequest, 'agent' | 'prompt'>>): Chat
  start(request: unknown, options?: NoteOption): Promise<OpenedConversation>
  /** Accepts a prompt, or responses that resume the waiting run. */
  run(conversationId: string, request: unknown, options?: NoteOption): Promise<AcceptedRun>
  /** A run that was accepted before, to wait for its result; at once where it has ended or waits. Throws `NOT_FOUND`. */
  followRun(runId: string): Promise<AcceptedRun>
  /** The run that is live in a conversation, to wait for its next result; null where none is. */
  liveRun(conversationId: string): Promise<AcceptedRun | null>
  getConversation(id: string): Promise<Conversation>
  listConversations(
    options?: PageOptions & { agent?: string },
  ): Promise<Page<Omit<Conversation, 'interruptions' | 'tasks' | 'runs'>>>
  deleteConversation(id: string): Promise<void>
  /**
   * A new conversation with the same log up to `seq`, over all documents, with the same values and expiry; both go on by
   * themselves [Rb55]. `id` is whole or a prefix, by default the original's. Throws `FORK_OPEN_CALLS`, which names the last legal
   * seq, where a call is open; `EVENT_ID_AHEAD`; `NAME_TAKEN`.
   */
  forkConversation(
    id: string,
    request: { seq: number; id?: string | null },
    options?: NoteOption,
  ): Promise<Conversation>
  /** `before` and `after` are exclusive dates (ISO), not both. */
  getDocument(
    path: string,
    options?: { before?: string; after?: string; limit?: number; detail?: DetailLevel },
  ): Promise<Document>
  getRun(runId: string): Promise<RunState>
  /** Resolves when the cancel is stored; throws `RUN_FINISHED` where the run has ended. Its tasks go on unless they are named too [E57]. */
  cancelRun(runId: string, options?: { readonly tasks?: boolean }): Promise<void>
  readonly tasks: TaskDesk
  /** One page of stored events. Throws `EVENT_ID_AHEAD`. */
  readEvents(conversationId: string, filter?: EventFilter & { limit?: number }): Promise<EventPage>
  /** Stored events after `from`, then live ones with deltas, without a gap or a repeat; ends when the signal aborts or the conversation is deleted. */
  followEvents(conversationId: string, filter: EventFilter & { signal: AbortSignal }): AsyncIterable<Event>
  listInterruptions(options?: PageOptions & { state?: string; addressee?: string }): Promise<Page<Interruption>>
  /**
   * `answer` is the body of the answer call: `{ answer }`, or for an action `{ error }`; with `kind` only an interruption of that
   * kind is meant. Resolves when it is stored; the run goes on by itself. Throws `NOT_FOUND` also where the principal may not
   * answer it, `ANSWER_INVALID`, `ALREADY_ANSWERED`, `QUESTION_EXPIRED`, `RUN_FINISHED`.
   */
  answerInterruption(id: string, answer: unknown, options?: { kind?: InterruptionKind }): Promise<Interruption>
}

/** A runtime: its own principal's `Witan`, others by `as`, and an end. */
export interface Runtime extends Witan {
  /** The same runtime for another principal. */
  as(principal: Principal): Witan
  /** Resolves when code agents are stored and interrupted jobs are taken up; rejects when the store or an agent refuses. */
  readonly ready: Promise<void>
  /** Hands its jobs on and closes the store. Runs under way stop where they are and go on at the next start. */
  close(): Promise<void>
  /** Remembers a reply under an idempotency key, or gives the remembered one. */
  readonly idempotency: IdempotencyDesk
}

/**
 * The reservation of a request's idempotency key, as `begin` gave it: a run that it starts is written down beside its reply, and what
 * it says is said once. Throws `IN_PROGRESS`, and stores nothing, where the key is another request's by now.
 */
export interface NoteOption {
  readonly note?: Reservation
}

/**
 * `fresh`: yours to do, with the reservation as the `note` of what it starts, then `finish`. `done`: replay. `noted`: whoever did it
 * died before the reply, but its run is stored and rests: follow that, then `finish`.
 */
export type BegunReply =
  | { readonly state: 'fresh'; readonly reservation: Reservation }
  | { readonly state: 'noted'; readonly reservation: Reservation; readonly runId: string }
  | { readonly state: 'done'; readonly status: number; readonly body: string }

/** Replies remembered for 24 hours by (database, principal, method, path, key). */
export interface IdempotencyDesk {
  /** Throws `IN_PROGRESS` or `IDEMPOTENCY_KEY_REUSED`. */
  begin(scope: IdempotencyScope): Promise<BegunReply>
  /** Does nothing where the key is another request's by now; nor does `abandon`. */
  finish(
    scope: IdempotencyScope,
    reservation: Reservation,
    reply: { readonly status: number; readonly body: string },
  ): Promise<void>
  /** Forgets a `fresh` one whose request failed before anything was stored. */
  abandon(scope: IdempotencyScope, reservation: Reservation): Promise<void>
}

/** What makes two requests the same; `digest` is a hash of the body. */
export interface IdempotencyScope {
  readonly principal: Principal
  readonly method: string
  readonly path: string
  readonly key: string
  /** Where it stood: the header `Idempotency-Key`, or the field of a body. */
  readonly name: string
  readonly digest: string
}

export type { AgentData, AgentInput, AssignedSubAgent, Interruption, RevisionOption, RunRequest, SubAgentLine }
