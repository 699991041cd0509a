/** What entries say that a check decided: a critique, a hook, or a guardrail. */
import type { GuardEffect, GuardPoint, HookEffect, HookPoint, Verdict } from './entry-sets.ts'

/** What a critique says of an answer: it stands, or its agent answers once more. `seq` is that of the answer, `by` the agent whose model said it. */
export interface CritiqueBody {
  readonly verdict: Verdict
  /** What is wrong with the answer, as its agent reads it. */
  readonly problems: readonly string[]
  readonly by: string
  readonly seq: number
}

/**
 * What a hook decided: it refused, wrote something else, or failed. It stands before what it decided, and no hook is asked again for that. What hooks
 * allow has no entry.
 */
export interface HookBody {
  readonly hook: string
  readonly at: HookPoint
  readonly effect: HookEffect
  /** Why it refused, as models read it; null for what was rewritten. */
  readonly reason: string | null
  /** Set for a failure after which things go on as they are. */
  readonly allows?: true
  /** At `beforeTool`: the call of the reply. */
  readonly toolCallId?: string
  /** At `beforeModel`: how many messages waited for the request. What was written stands behind these, whatever comes meanwhile. */
  readonly waiting?: number
  /** At `onInterruption`: the interruption. */
  readonly interruption?: string
  /** What it wrote: a message, a note, an answer or a result; at `beforeTool` the arguments as JSON text. Only a span shows it. */
  readonly written?: unknown
}

/** What a guardrail decided: a part of its notice. The notice stands before what follows from it, and the same thing is not checked again. */
export interface GuardDecision {
  readonly at: GuardPoint
  readonly effect: GuardEffect
  /** Why it refused, as models read it; null for anything else. */
  readonly reason: string | null
  /** At `joined`: how many messages waited in front of the one that was checked. */
  readonly waiting?: number
  /** The text without what was redacted. */
  readonly written?: string
  /** Set for an answer whose run ended before it was checked. */
  readonly closes?: true
}

/** What a guardrail has an agent check: a message that begins or joins the work of a call, or its answer. */
export interface GuardedPart {
  /** The agent whose guardrail it is: the one that is checked, or one that handed over to it. */
  readonly of: string
  /** The name of the guardrail. */
  readonly name: string
  readonly at: GuardPoint
  /** At `joined`: how many messages waited in front of the one that is checked. */
  readonly waiting?: number
}
