/** The contract of a tool. Everything that an agent can do is a tool, edges included. */
import type { AgentData, ErrorCode, Interruption, InterruptionState, UsageCounters } from '@witan/protocol'
import type { EmbeddingUse, ExchangeEnds, ExchangeStanding, NoticeBody, ToolMode } from '@witan/protocol/entries'
import type { Principal } from '../identity/principal.ts'
import type { ToolKind } from '@witan/protocol/tools'
import type { Exchanges } from './exchange.ts'
import type { CallState, ModelTool } from '../model/model.ts'
import type { Bound, ConversationValues } from '../parameter/parameter.ts'
import type { People } from '../parameter/person.ts'
import type { Scrubber } from '../parameter/scrub.ts'
import type { CallArtifacts } from './artifact.ts'
import type { OfferedServer } from '@witan/protocol/mcp'
import type { Outcome } from './outcome.ts'
import type { InterruptionDraft } from './waiting.ts'

/**
 * What may happen to a call in a crash [D1]. `none`: a read, repeated freely. `keyed`: at least once; `callId` is its
 * idempotency key. `once`: never repeated; after a crash the model reads "outcome unknown".
 */
export type Effect = 'none' | 'keyed' | 'once'

/** One call as the engine passes it to a tool. `arguments` passed the tool's check and contains no bound name. */
export interface ToolRequest {
  readonly callId: string
  readonly toolCallId: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** The agent call that makes a tool call: everything a tool may know about it. */
export interface Caller {
  readonly callId: string
  readonly runId: string
  readonly database: string
  /** Whom the run works for. It is for executors, never for a model. */
  readonly principal: Principal
  readonly agent: AgentData
  /** The tool mode with which the call began: its agent's own, or that of its run. */
  readonly toolMode: ToolMode
  readonly agentPath: string
  readonly conversationId: string
  readonly document: string
  readonly depth: number
  /** The maximum depth of this run; the root is 0 [C2]. */
  readonly maxDepth: number
  /** This agent's bound values: for executors, never for a model. */
  readonly parameters: Bound
  /** The values that the conversation's caller passed; edges bind from them. */
  readonly conversationValues: ConversationValues
  /** The people of the conversation as they were when the run began. */
  readonly people: People
  /** Whether a person has left the conversation by now. */
  hasLeft(user: string): boolean
  /** The revisions that the run keeps; edges look up their targets in them. */
  readonly revisions: Readonly<Record<string, number>>
  /** The loop that the call works in as a step, directly or through other workflows: who may leave it (null: every agent). */
  readonly loop: { readonly exitBy: readonly string[] | null } | null
  /** What its MCP servers offer it. */
  readonly mcp: readonly OfferedServer[]
  /** How often its agent's plan was revised by now: in its document, and in this call. */
  plan(): { readonly revision: number; readonly revisions: number }
  /** Takes out of a text what its model must not see; null if there is nothing. */
  readonly scrub: Scrubber
  /** The exchanges of its job as they stand. */
  readonly exchanges: Pick<Exchanges, 'get' | 'values'>
  /** Live agent calls above this one, root first, and this call last. */
  readonly lineage: readonly { readonly agent: string; readonly message: string; readonly parameters: Bound }[]
}

/** The longest note that a call may save, in characters of JSON. */
export const longestNote = 16_000

/** The context of a tool that runs in the process. */
export interface ToolContext {
  readonly caller: Caller
  /** Aborts at a cancel and at the tool's time-out. */
  readonly signal: AbortSignal
  /** Takes out of a text what the calling agent's model must not see; null if there is nothing. Errors and artifacts are scrubbed where they are recorded. */
  readonly scrub: Scrubber
  /** Takes out every value that is hidden from that model, also what it could have made itself: for what outlives the conversation. */
  readonly scrubAll: Scrubber
  /** What this call has waited for so far, and the answers, oldest first. */
  readonly answers: readonly CallAnswer[]
  /** The last note that this call saved; undefined if none. */
  readonly note: unknown
  /** Saves a note, which the call reads when it runs again: after an answer or a crash. Resolves once it is stored. Rejects for one over `longestNote`. */
  saveNote(note: unknown): Promise<void>
  /** The artifacts of the conversation. What is saved is stored with the call's outcome, or by an earlier commit. */
  readonly artifacts: CallArtifacts
  /** Whether the model of the calling agent has read that id of an artifact, which anybody but itself wrote. */
  hasRead(id: string): boolean
  /** Stores what the call has recorded so far. */
  commit(): Promise<void>
  /** Records that the tool used the bound value of that name, which its start did not list. People read this in the log. */
  noteBound(name: string): void
  /** Tells those who read the conversation now how far the call has come. Nothing of it is stored; its message holds no hidden value. */
  showProgress(progress: {
    readonly progress: number
    readonly total: number | null
    readonly message: string | null
  }): void
  /** What embedding models have used for the call so far. Its outcome keeps that, whatever it is. */
  readonly embedded: EmbeddingUse[]
  /** Set for the body of a call of an agent on another server. */
  readonly body?: CallBody
  /** Set for a tool that calls a model itself (`modelCalls`); it passes this on with each call. */
  readonly state?: CallState
}

/** What the body of a call knows of it beside its message. */
export interface CallBody {
  /** The run that it belongs to. */
  readonly run: string
  /** The last note of an earlier call on the same document; undefined for none. */
  readonly before: unknown
  /** How often the call has answered: messages that come then begin its body again. */
  readonly answered: number
  /** The part of its tree's budget that it may spend; null if it has none of its own. */
  readonly share: CallShare | null
  /** Saves a note as `saveNote` does, and counts what the call has spent elsewhere since the last time. Null: that is unknown. */
  saveSpent(note: unknown, spent?: UsageCounters | null): Promise<void>
  /** The texts that came for the call meanwhile, oldest first. */
  words(): readonly string[]
  /** Calls `then` whenever words may have come. Returns how to stop that. */
  onWords(then: () => void): () => void
  /** Shows readers a piece of the answer; with `restart` it takes the place of what they were shown. */
  show(text: string, restart: boolean): void
}

/** What a call may spend of its tree's budget; null: no limit. */
export interface CallShare {
  readonly modelCalls: number
  readonly tokens: number | null
  readonly costUsd: number | null
  readonly seconds: number | null
}

/** The answer of an agent that a call ran, or why there is none. */
export type AgentAnswer = { readonly text: string; readonly output: unknown } | { readonly error: string }

/** Something that a call has waited for. The call then runs again from its beginning. */
export type CallAnswer =
  | { readonly kind: 'interruption'; readonly asked: Interruption; readonly answer: Answer }
  | { readonly kind: 'agent'; readonly agent: string; readonly message: string; readonly answer: AgentAnswer }

/** An answer from outside: a value, or an error text; `lapsed` is set if nobody answered. */
export type Answer =
  | {
      readonly value: unknown
      /** Who wrote it, of a message. */
      readonly by?: string
    }
  | { readonly error: string; readonly lapsed?: Exclude<InterruptionState, 'open' | 'answered'> | 'left' }

/** A call before it starts. `arguments` are the model's, without bound or unlisted names; they fit the tool. */
export interface GatedCall {
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** The arguments as the tool takes them, with defaults filled in. */
  readonly taken: Readonly<Record<string, unknown>>
}

/** Whether a call continues, and with which arguments; or why not, as text for its model. */
export type GateResult =
  | { readonly ok: true; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly code: ErrorCode; readonly detail: string }

/**
 * Precedes a call: somebody is asked first, and the call has no effect before the answer allows it. The engine knows gates,
 * but not their purpose. Both methods are pure, because a restart calls them again.
 */
export interface Gate {
  /** The interruption before this call; null if the call needs none. */
  ask(call: GatedCall): InterruptionDraft | null
  /** True if `ask` may let a call pass. A call that started without being asked about is not asked about later. */
  readonly isConditional: boolean
  pass(call: GatedCall, asked: Interruption, answer: Answer): GateResult
}

interface ToolBase {
  readonly name: string
  /** What kind of tool it is, for people who look at an agent. Null for the body of a call, which no model knows. */
  readonly kind: ToolKind | null
  /** The agent, protocol, server or source behind it; absent: none. */
  readonly of?: string
  /** What the model sees; null for a name that is not offered now, but answers if it is called anyway. */
  readonly offer: ModelTool | null
  /** Lines that the system message of its agent gets while it is offered. */
  readonly systemLines?: readonly string[]
  /** Set for a tool without an offer whose notice does not say why: why, and what it would offer. */
  readonly withheld?: { readonly why: string; readonly offer: ModelTool | null }
  /** Set for a tool that makes sense only beside others: alone it is not offered. */
  readonly isExtra?: true
  /** Set for a tool that runs only when a document begins: a model that calls it reads that there is no such tool. */
  readonly initialOnly?: true
  /** Why it is not offered, logged once as a notice when a call begins; null if there is nothing to report. */
  readonly notice: string | null
  /** What a person is told when a call of its agent begins, logged once; absent: nothing. */
  readonly notices?: readonly NoticeBody[]
  /** The notice's code; absent for `DELEGATE_UNAVAILABLE`. */
  readonly noticeCode?: 'TOOL_UNAVAILABLE'
  readonly effect: Effect
  /** The gate before each call; absent: none. */
  readonly gate?: Gate
  /** Set for a tool that a person approves before each call, unless its agent says otherwise. */
  readonly asksFirst?: true
  /** The code of an error for arguments that it cannot take; absent for `TOOL_ARGS_INVALID`. */
  readonly misuse?: ErrorCode
  /** Set for a tool that sends a message to a peer: its exchange, for the record of a call that is refused. */
  readonly exchange?: ExchangeEnds & ExchangeStanding
  /** Set if its check alone decides which names it takes; else those that its schema does not list are dropped. */
  readonly takesAnyName?: true
  /** Arguments that are accepted although its schema does not list them. */
  readonly unlisted?: readonly string[]
  /** Names that are bound for this tool: dropped from a model's arguments and recorded [C19]. */
  readonly bound: readonly string[]
  /** The names of `bound` whose values each call gets, for the log; absent: all of them. */
  readonly uses?: readonly string[]
  /** Checks the remaining arguments. Returns at most 5 issues, which name no bound or hidden name [P5]. */
  check(args: Readonly<Record<string, unknown>>): ArgumentCheck
}

/** The arguments that a tool takes, or what is wrong with them. */
export type ArgumentCheck =
  | { readonly ok: true; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly issues: readonly string[] }

/**
 * A tool without effects of its own: it only decides the call's outcome, which is appended together with the reply. If it
 * throws, the complete run fails.
 */
export interface ImmediateTool extends ToolBase {
  readonly immediate: true
  /** Set for a tool that decides only once all other calls of the reply are settled, in call order among its like. */
  readonly isLast?: true
  invoke(request: ToolRequest, caller: Caller): Outcome
  /**
   * Turns the answer to the interruption that `invoke` returned into the outcome, or with several the last of the answers: `all` has
   * each. Required if `invoke` can return one.
   */
  resume?(answer: Answer, asked: Interruption, all: readonly CallAnswer[]): Outcome
}

/**
 * A tool that runs in the process, after its intent is in the log. If it throws, the model reads a failure. It may wait by
 * returning a pending outcome: nothing of it stays in memory, and it runs again from its beginning with the answer.
 */
export interface RunningTool extends ToolBase {
  readonly immediate: false
  readonly timeoutMs: number
  /** How many model calls it makes itself; the budget must allow them before it starts. */
  readonly modelCalls?: number
  invoke(request: ToolRequest, context: ToolContext): Outcome | Promise<Outcome>
}

/** A tool of either form. */
export type Tool = ImmediateTool | RunningTool

/** The tools of one agent call by name. */
export type Toolset = ReadonlyMap<string, Tool>

/** Provides an agent's tools of one kind; one per kind of tool and edge. */
export type ToolSource = (caller: Caller) => readonly Tool[]
