/** The contract of a tool: everything an agent can do, edges included, is one of these. */
import type { AgentData, ErrorCode, Interruption, InterruptionState } from '@witan/protocol'
import type { AgentStartBody, NoticeCode } from '@witan/protocol/entries'
import type { ModelTool } from '../model/model.ts'
import type { Bound, GivenParameters } from '../parameter/parameter.ts'
import type { Outcome } from './outcome.ts'

/**
 * What a crash may do to a call [D1]. `none`: a read, repeated freely. `keyed`: at least once, `callId` is its idempotency key.
 * `once`: never repeated; after a crash the model reads "outcome unknown".
 */
export type Effect = 'none' | 'keyed' | 'once'

/** One call as the engine hands it to a tool. `arguments` passed the tool's check and holds no bound name. */
export interface ToolRequest {
  readonly callId: string
  readonly toolCallId: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** The agent call that makes a tool call: what a tool may know of it. */
export interface Caller {
  readonly callId: string
  readonly database: string
  readonly agent: AgentData
  readonly agentPath: string
  readonly conversationId: string
  readonly document: string
  readonly depth: number
  /** How deep this run may go; the root is 0 [C2]. */
  readonly maxDepth: number
  /** This agent's bound values: for executors, never for a model. */
  readonly parameters: Bound
  /** What the caller of the conversation gave: edges bind from it. */
  readonly given: GivenParameters
  /** The revisions that the run keeps: edges look their targets up in them. */
  readonly revisions: Readonly<Record<string, number>>
  /** Live agent calls above this one, root first, itself last. */
  readonly lineage: readonly { readonly agent: string; readonly message: string; readonly parameters: Bound }[]
}

/** What a spawned child is told, and on what terms: it stands in the child's start as it is, so that a fold needs no edge. */
export type Spawn = Pick<AgentStartBody, 'agent' | 'message' | 'generated' | 'map' | 'history' | 'answer' | 'overrides'>

type FilledIn = 'id' | 'path' | 'agent' | 'callId' | 'addressee' | 'state' | 'expiresAt'
type PromptOf<Kind> = Kind extends unknown ? Omit<Kind, FilledIn> : never

/** The prompt part of an interruption, without what the engine fills in. Nobody addressed: whoever may answer. `terms` is what an answer must keep to. */
export type InterruptionDraft = PromptOf<Interruption> & { readonly addressee?: string; readonly terms?: unknown }

/** The verbs that an immediate tool may use; what they record rides in the append of the model's reply. */
export interface Verbs {
  /**
   * Starts a child call that answers this one; or, in the background, a task, whose handle answers it at once. False where the
   * budget leaves no room for a task: then nothing was started.
   */
  spawn(child: Spawn, options?: { readonly background: boolean }): boolean
  /** Asks somebody outside; the call waits for the answer. */
  interrupt(draft: InterruptionDraft): void
}

/** What a tool that runs in the process gets. */
export interface ToolContext {
  readonly caller: Caller
  /** Aborts at cancel and at the tool's time-out. */
  readonly signal: AbortSignal
}

/** What somebody outside answered: a value, or an error in words; `lapsed` where nobody did. */
export type Answer =
  | { readonly value: unknown }
  | { readonly error: string; readonly lapsed?: Exclude<InterruptionState, 'open' | 'answered'> }

/** A call before it starts: `arguments` are what its model wrote, without what is bound or unlisted, and fit the tool. */
export interface GatedCall {
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** Whether a call goes on, with which arguments; or why not, in words for its model. */
export type Passage =
  | { readonly ok: true; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly code: ErrorCode; readonly detail: string }

/**
 * Stands before a call: somebody is asked first, and nothing of the call happens before the answer lets it through. The engine
 * knows gates and never what they are for. Both methods are pure: a restart asks them again.
 */
export interface Gate {
  ask(call: GatedCall): InterruptionDraft
  pass(call: GatedCall, asked: Interruption, answer: Answer): Passage
}

interface ToolBase {
  readonly name: string
  /** What the model sees, or null for a name that is not offered now but is answered when called all the same. */
  readonly offer: ModelTool | null
  /** Set for what only runs by itself when a document begins: a model that calls it hears that there is no such tool. */
  readonly initialOnly?: true
  /** Why it is not offered, told once as a notice when a call begins; null where there is nothing to tell. */
  readonly notice: string | null
  /** The notice's code; absent for `DELEGATE_UNAVAILABLE`. */
  readonly noticeCode?: NoticeCode
  readonly effect: Effect
  /** What stands before each call; absent for nothing. */
  readonly gate?: Gate
  /** Arguments that are taken although its schema does not list them. */
  readonly unlisted?: readonly string[]
  /** Names that are bound for this tool: dropped from a model's arguments and recorded [C19]. */
  readonly bound: readonly string[]
  /** Checks the arguments that remain; at most 5 issues in words that name no bound or hidden name [P5]. */
  check(args: Readonly<Record<string, unknown>>): ArgumentCheck
}

/** Arguments that a tool takes, or what is wrong with them. */
export type ArgumentCheck =
  | { readonly ok: true; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly issues: readonly string[] }

/** A tool without effects of its own: it is called inside the append of the reply and only uses verbs. */
export interface ImmediateTool extends ToolBase {
  readonly immediate: true
  invoke(request: ToolRequest, caller: Caller, verbs: Verbs): Outcome
  /** Turns the answer to what it asked into the call's outcome. */
  resume?(answer: Answer, asked: Interruption): Outcome
}

/** A tool that runs in the process, after its intent is in the log. It may throw: the model reads a failure. */
export interface RunningTool extends ToolBase {
  readonly immediate: false
  readonly timeoutMs: number
  /** How many model calls it makes itself: the budget must have room for them before it starts. */
  readonly modelCalls?: number
  invoke(request: ToolRequest, context: ToolContext): Outcome | Promise<Outcome>
}

/** A tool of either form. */
export type Tool = ImmediateTool | RunningTool

/** The tools of one agent call by name. */
export type Toolset = ReadonlyMap<string, Tool>

/** Where an agent's tools of one kind come from; one per kind of tool and edge. */
export type ToolSource = (caller: Caller) => readonly Tool[]
