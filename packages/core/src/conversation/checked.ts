/** What checks, such as hooks and guardrails, have decided as the log has it. */
import type { GuardedPart } from '@witan/protocol/entries'
import type { AgentAnswer } from '../tool/tool.ts'

/** What checks have decided of a tool call. */
export interface CheckedTool {
  /** The arguments as a hook wrote them, as JSON text. */
  arguments?: string
  /** Why it does not run. */
  refused?: string
  /** What they made of its result: another one, or why there is none. */
  result?: { readonly written?: unknown; readonly refused?: string }
}

/** What checks have decided of a call. */
export interface Checked {
  /** Whether its beginning is decided. */
  isOpen: boolean
  /** Whether its next request is decided: true from a hook's entry to the reply. */
  isRequest: boolean
  /** How many replies in a row were refused. */
  refusals: number
  /** How many of its answers were refused by agents that check them. */
  refusedAnswers: number
  /** The guardrails whose agents let its beginning pass. */
  readonly passed: Set<string>
}

/** The agent that checks something of a call. `passed` is where it is noted that it lets it pass. */
export interface GuardCall {
  readonly part: GuardedPart
  readonly passed: Set<string>
  /** What it said; null while it is at work. */
  readonly end: AgentAnswer | null
}
