/** What the notice of each code names, as fields beside its words: a program reads the fields and never the words. */
import type { GuardDecision } from './entry-checks.ts'
import type { NoticeCode } from './entry-sets.ts'
import type { GuardrailAction, GuardrailSide } from './guardrail-schema.ts'

/** The fields of each code. Names of tools, agents and models are as the agents' definitions have them. Logs of earlier versions have none. */
export interface NoticeFacts {
  /** The bound name that the model wrote. */
  readonly ARGUMENT_OVERRIDE_IGNORED: { readonly tool: string; readonly argument: string }
  /** One name, cut at 64 characters; or how many more there were than are named. */
  readonly ARGUMENT_UNKNOWN_DROPPED: { readonly tool: string } & (
    | { readonly argument: string; readonly count?: never }
    | { readonly count: number; readonly argument?: never }
  )
  /** The ceilings of hops: the one that came in, and ours, which holds. */
  readonly CHAIN_LOWERED: { readonly from: number; readonly to: number }
  /** The address of the agent that called without a chain. */
  readonly CHAIN_MISSING: { readonly caller: string }
  readonly DELEGATE_UNAVAILABLE: { readonly tool: string }
  /** The knowledge base that was searched by words alone. */
  readonly EMBEDDING_FAILED: { readonly base: string }
  /** How many pieces of evidence were not believed. */
  readonly EVIDENCE_DROPPED: { readonly count: number }
  /**
   * The guardrail of `agent` that found something, what it does then, and where it stands. `decision`: what became of what was checked; absent where
   * that was redacted before it was stored.
   */
  readonly GUARDRAIL_HIT: {
    readonly name: string
    readonly action: GuardrailAction
    readonly side: GuardrailSide
    readonly agent: string
    readonly decision?: GuardDecision
  }
  readonly HIDDEN_VALUE_IN_TEXT: None
  readonly HISTORY_NOT_TRIMMED: None
  /** The knowledge base that could not be searched. */
  readonly KNOWLEDGE_FAILED: { readonly base: string }
  /** The knowledge base that is closed to the agent. */
  readonly KNOWLEDGE_UNAVAILABLE: { readonly base: string }
  /** The tool by its name at its server. */
  readonly MCP_OUTPUT_MISMATCH: { readonly server: string; readonly tool: string }
  /** The property that is named like a parameter, and that the agent does not bind. */
  readonly MCP_PARAM_NOT_BOUND: { readonly server: string; readonly tool: string; readonly argument: string }
  readonly MCP_REQUEST_REFUSED: { readonly server: string; readonly tool: string }
  readonly MCP_SERVER_UNAVAILABLE: { readonly server: string }
  /** How many tools are beyond the most that a server may offer. */
  readonly MCP_TOOLS_LEFT_OUT: { readonly server: string; readonly count: number }
  readonly MCP_TOOL_CHANGED: { readonly server: string; readonly tool: string }
  readonly MCP_TOOL_COLLISION: { readonly server: string; readonly tool: string }
  readonly MCP_TOOL_REFUSED: { readonly server: string; readonly tool: string }
  /** The agent that neither reads nor writes what it knows of people here. */
  readonly MEMORY_WITHHELD: { readonly agent: string }
  /** `next` is the model that is asked instead. */
  readonly MODEL_FALLBACK: { readonly model: string; readonly next: string }
  /** Try `attempt` of `tries` failed, from 1; the next follows in `delayMs`. */
  readonly MODEL_RETRIED: {
    readonly model: string
    readonly attempt: number
    readonly tries: number
    readonly delayMs: number
  }
  readonly MODEL_WARNING: None
  /** The parameters that are hidden from this entry on [E19]. */
  readonly PARAMETERS_HIDDEN: { readonly hidden: readonly string[] }
  /** How many steps of the plan are open. */
  readonly PLAN_UNFINISHED: { readonly count: number }
  readonly PROTOCOL_UNFINISHED: {
    readonly protocol: string
    readonly initiator: string
    readonly responder: string
    readonly state: string
  }
  /** `message` is the name of the one that was refused in `state`. */
  readonly PROTOCOL_VIOLATION: { readonly protocol: string; readonly message: string; readonly state: string }
  /** Why the answer of the agent stands without a critique, or without the revision that it asked for. */
  readonly REFLECTION_SKIPPED: {
    readonly agent: string
    readonly reason: 'budget' | 'model' | 'agent' | 'reply' | 'revision'
  }
  /** The fields that an agent elsewhere may not set. `remote` is its address, or the URL of its card. */
  readonly REMOTE_FIELD_DROPPED: { readonly remote: string; readonly fields: readonly string[] }
  readonly REMOTE_UNSIGNED: { readonly remote: string }
  readonly REPLY_PARTS_DROPPED: None
  /** The job's attempt that goes on: 2 after one worker was lost. */
  readonly RUN_RECOVERED: { readonly attempt: number }
  /** How many calls were not run. */
  readonly TOOL_CALLS_REFUSED: { readonly count: number }
  readonly TOOL_CALL_MISSING: None
  readonly TOOL_MODE_ENDED: None
  readonly TOOL_UNAVAILABLE: { readonly tool: string }
  readonly TRANSFER_IGNORED: None
  /** The model that was asked; or the agent on another server that was stopped. */
  readonly USAGE_INCOMPLETE:
    | { readonly model: string; readonly remote?: never }
    | { readonly remote: string; readonly model?: never }
}

/** The name of a field of any of them. */
export type NoticeFact = { [Code in NoticeCode]: FieldOf<NoticeFacts[Code]> }[NoticeCode]

type FieldOf<Facts> = Facts extends unknown ? keyof Facts : never

type None = Readonly<Record<never, never>>

/** The body of a notice with one of these codes. */
export type NoticeOf<Code extends NoticeCode> = Code extends NoticeCode
  ? { readonly code: Code; readonly detail: string } & NoticeFacts[Code]
  : never

/** Information for a person. */
export type NoticeBody = NoticeOf<NoticeCode>
