/** Agents, protocols, knowledge bases and tools as data: what their administration offers to the library, the server and the command line. */
import type { AgentInput, CheckReport, RunRequest, StoredAgent } from '@witan/protocol'
import type { SubAgentLine } from '@witan/protocol/edges'
import type { AgentView } from '@witan/protocol/access'
import type { DirectRunInput, SubAgentEdgeInput } from '@witan/protocol/schemas'
import type {
  AgentTool,
  Preview,
  PreviewInput,
  RevisionLine,
  ServerTool,
  Trial,
  TrialInput,
} from '@witan/protocol/tools'
import type {
  Ingest,
  IngestRequest,
  KnowledgeBaseInput,
  KnowledgeDocument,
  KnowledgeDocumentLine,
  KnowledgeSearchInput,
  FoundPassages,
  Passage,
  StoredKnowledgeBase,
} from '@witan/protocol/knowledge'
import type { ProtocolInput, StoredProtocol } from '@witan/protocol/protocols'
import type { RevisionOption, SubAgentAssignment } from '../agent/admin/assign.ts'
import type { AcceptedRun } from './accepted-run.ts'
import type { Page, PageOptions } from './page.ts'
import type { AgentGraph } from '../agent/admin/agent-graph.ts'

/** A saved agent, and whether it was new. */
export interface SavedAgent {
  readonly agent: StoredAgent
  readonly created: boolean
}

/** A saved protocol, and whether it was new. */
export interface SavedProtocol {
  readonly protocol: StoredProtocol
  readonly created: boolean
}

/** What was saved together, in the order of the input. */
interface SavedDefinitions {
  readonly agents: readonly SavedAgent[]
  readonly protocols: readonly SavedProtocol[]
  readonly knowledge: readonly SavedKnowledge[]
}

/** Protocols as data [T19, T20]. */
export interface ProtocolAdmin {
  list(options?: PageOptions): Promise<Page<StoredProtocol>>
  /** Throws `NOT_FOUND`. */
  get(name: string): Promise<StoredProtocol>
  /**
   * Creates or replaces a protocol. Throws `PROTOCOL_INVALID`, `REVISION_MISMATCH` if `ifRevision` is not the stored revision, and
   * the first finding if an agent that speaks it does not survive the change.
   */
  save(protocol: ProtocolInput, options?: { ifRevision?: number | null }): Promise<SavedProtocol>
  /** Throws `PROTOCOL_REFERENCED` while an agent speaks it. */
  delete(name: string, options?: { ifRevision?: number | null }): Promise<void>
  readonly revisions: RevisionReader<StoredProtocol>
}

/** A saved knowledge base, and whether it was new. */
export interface SavedKnowledge {
  readonly base: StoredKnowledgeBase
  readonly created: boolean
}

/** Knowledge bases as data, and their documents [F02]. Methods throw `NOT_FOUND` for a base or a document that is not there. */
export interface KnowledgeAdmin {
  list(options?: PageOptions): Promise<Page<StoredKnowledgeBase>>
  get(id: string): Promise<StoredKnowledgeBase>
  /**
   * Creates or replaces a base. Throws `KNOWLEDGE_INVALID`, `REVISION_MISMATCH` if `ifRevision` is not the stored revision, and the first
   * finding if an agent that lists it does not survive the change.
   */
  save(base: KnowledgeBaseInput, options?: { ifRevision?: number | null }): Promise<SavedKnowledge>
  /** Deletes a base with its documents. Throws `KNOWLEDGE_REFERENCED` while an agent lists it, unless forced. */
  delete(id: string, options?: { force?: boolean; ifRevision?: number | null }): Promise<void>
  readonly revisions: RevisionReader<StoredKnowledgeBase>
  readonly documents: KnowledgeDocuments
  /** The passages that an agent would get for this filter, best first, with notices. Throws `KNOWLEDGE_FILTER_MISSING`. */
  search(id: string, search: KnowledgeSearchInput): Promise<FoundPassages>
}

/** The documents of knowledge bases. Those of a base over a query are kept elsewhere: `KNOWLEDGE_NOT_OURS`. */
export interface KnowledgeDocuments {
  /** Documents whose keys begin with `prefix`, by key. */
  list(id: string, options?: PageOptions & { readonly prefix?: string }): Promise<Page<KnowledgeDocumentLine>>
  get(id: string, key: string): Promise<KnowledgeDocument>
  /** The passages of one document in their order, as a search finds them. */
  passages(id: string, key: string, options?: PageOptions): Promise<Page<Passage>>
  delete(id: string, key: string): Promise<void>
  /**
   * Takes documents: from then on they survive a crash, and are read one by one. With `wait`, as it is absent, resolves when all are read,
   * or after 20 s. What is wrong with one document is in `failed`.
   */
  ingest(id: string, request: IngestRequest): Promise<Ingest>
  readIngest(id: string, ingest: string): Promise<Ingest>
  /** An ingest now, after each change, and last at its end. */
  followIngest(id: string, ingest: string, signal: AbortSignal): AsyncIterable<Ingest>
}

/** The revisions of a kind of definition. All methods throw `NOT_FOUND` for a definition that is not there, or not any more. */
interface RevisionReader<Stored> {
  /** Newest first. */
  list(id: string, options?: PageOptions): Promise<Page<RevisionLine>>
  get(id: string, revision: number): Promise<Stored>
}

/** Agents as data. Every save is checked: errors refuse it, warnings are stored. */
export interface AgentAdmin {
  list(options?: PageOptions): Promise<Page<StoredAgent>>
  /** Throws `NOT_FOUND`. */
  get(id: string): Promise<StoredAgent>
  /** What a principal with the role `run` reads: of the agents that it may call, what a caller needs. */
  views(options?: PageOptions): Promise<Page<AgentView>>
  view(id: string): Promise<AgentView>
  /**
   * Creates or replaces an agent. Throws `REVISION_MISMATCH` if `ifRevision` is not the stored revision, and `AGENT_EXISTS`
   * with `create: true` if the agent exists.
   */
  save(agent: AgentInput, options?: { ifRevision?: number | null; create?: boolean }): Promise<SavedAgent>
  /** Saves several agents, all or none, so that they may list each other. */
  saveAll(agents: readonly AgentInput[]): Promise<readonly SavedAgent[]>
  /** Saves definitions together, all or none. */
  saveTogether(definitions: {
    readonly agents?: readonly AgentInput[] | undefined
    readonly protocols?: readonly ProtocolInput[] | undefined
    readonly knowledge?: readonly KnowledgeBaseInput[] | undefined
  }): Promise<SavedDefinitions>
  /** Throws `AGENT_REFERENCED` while others list it, unless forced. */
  delete(id: string, options?: { force?: boolean; ifRevision?: number | null }): Promise<void>
  /** Checks these definitions together with the stored ones; without any, checks the stored ones. Never throws for a bad one. */
  check(
    agents?: readonly unknown[],
    protocols?: readonly unknown[],
    knowledge?: readonly unknown[],
  ): Promise<CheckReport>
  graph(id: string): Promise<AgentGraph>
  /**
   * What the first model call of an agent would get, with drafts in place of stored agents if there are any. Nothing is stored or asked. Throws
   * `NOT_FOUND`, and what the start of a conversation throws for parameters and people that it would not take.
   */
  preview(id: string, request?: PreviewInput): Promise<Preview>
  readonly revisions: RevisionReader<StoredAgent>
  readonly subAgents: SubAgentAdmin
  readonly tools: ToolAdmin
  readonly knowledge: AgentKnowledge
}

/** Single changes of the knowledge bases of an agent: a change is a save of that agent [F12, F13]. */
export interface AgentKnowledge {
  /** Gives it a base, or replaces how it searches it; `created` is false if the agent listed it already. Throws `KNOWLEDGE_UNKNOWN`. */
  assign(id: string, base: string, options?: RevisionOption & { readonly use?: unknown }): Promise<SavedAgent>
  /** Throws `NOT_FOUND` if the agent does not list it. */
  unassign(id: string, base: string, options?: RevisionOption): Promise<StoredAgent>
}

/**
 * Single changes of an agent's roster. A change is a save of the parent: it is checked, creates a revision, and fails if
 * `ifRevision` is not the stored one.
 */
export interface SubAgentAdmin {
  list(parentId: string, options?: PageOptions): Promise<Page<SubAgentLine>>
  /** Creates an agent and lists it, both or neither. Throws `AGENT_EXISTS`. */
  create(
    parentId: string,
    subAgent: RevisionOption & { readonly agent: AgentInput; readonly edge?: SubAgentEdgeInput | undefined },
  ): Promise<SubAgentAssignment>
  /** Lists an agent, or replaces the edge to it. */
  assign(
    parentId: string,
    id: string,
    options?: RevisionOption & { readonly edge?: SubAgentEdgeInput | undefined },
  ): Promise<SubAgentAssignment>
  /** Removes it from the roster; returns the parent after the change. Throws `NOT_FOUND` if it is not listed. */
  unassign(parentId: string, id: string, options?: RevisionOption): Promise<StoredAgent>
  /**
   * Runs a listed sub-agent as the root of a conversation of its own [F40–F43]. `request` is a run's body with
   * `conversationId` (absent: a new conversation) and the `parameters` of a new conversation, including hidden trusted
   * ones. Throws `NOT_FOUND`, `CONVERSATION_AGENT_MISMATCH`, `PARAM_MISSING`.
   */
  run(parentId: string, id: string, request: DirectRunInput): Promise<AcceptedRun>
  /** The first half of `run`, for readers who must join the conversation before the run starts: pass `body` to `Witan.run`. */
  open(
    parentId: string,
    id: string,
    request: DirectRunInput,
  ): Promise<{ readonly conversationId: string; readonly body: RunRequest }>
}

/** `signal` stops a tool that is tried. `onStart` is called with the agent's id before anything of the tool runs. */
export interface TryOptions {
  readonly request?: TrialInput
  readonly signal?: AbortSignal
  readonly onStart?: (agent: string) => void
}

/** The tools of the runtime and of its agents. Single changes of an agent's tools: a change is a save of that agent. */
export interface ToolAdmin {
  /** The tools of an agent in a conversation that gives it no values: what its model is offered, what it is not, and why. */
  list(id: string): Promise<readonly AgentTool[]>
  /** The function tools of this runtime by name, each with the agents of the database that have it. */
  all(options?: PageOptions): Promise<Page<ServerTool>>
  /**
   * Runs a function or a query of an agent alone, for this principal, with the values of a new conversation. It leaves no conversation. Throws
   * `TOOL_NOT_TRIABLE`, `CONFIRM_REQUIRED`, `APPROVAL_REQUIRED`, `PARAM_MISSING`.
   */
  try(id: string, tool: string, options?: TryOptions): Promise<Trial>
  /** Throws `TOOL_UNKNOWN`; `created` is false if the agent had the tool already. */
  assign(id: string, tool: string, options?: RevisionOption): Promise<SavedAgent>
  /** Throws `NOT_FOUND` if the agent has no such tool. */
  unassign(id: string, tool: string, options?: RevisionOption): Promise<StoredAgent>
}
