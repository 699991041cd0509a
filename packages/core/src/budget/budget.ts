/** What a model call may still spend: the caps of the agent, and those of the whole tree. */
import type { AgentData } from '@witan/protocol'

/** The counters of the tree that the caps look at; `run` in the fold has this shape. */
export interface TreeSpending {
  readonly root: { readonly agent: AgentData }
  readonly modelCalls: number
  readonly toolIterations: number
  readonly tokens: number
}

/** The counters of one agent call. */
export interface CallSpending {
  readonly agent: AgentData
  readonly iterations: number
}

/** Circumstances: the ceiling of the configuration, the conversation's own cap, and how many model calls are under way besides. */
export interface Circumstances {
  readonly maxModelCalls: number
  readonly maxModelIterationsPerCall: number | null
  /** How long the run has been worked on; waiting for somebody does not count. */
  readonly workedMs: number
  readonly thinking: number
}

/** A call with tools, a last answer without, or none at all. */
export type Allowance =
  | { readonly kind: 'tools' }
  | { readonly kind: 'answer' }
  | { readonly kind: 'refused'; readonly detail: string; readonly hint: string }

/**
 * Decides what the next model call of `call` may do. What is under way counts as spent, so parallel siblings can never take the
 * same last unit [E23]. The iteration caps end in one more call without tools, or fail the run with `onExhausted: error`; the
 * caps of the tree always fail it [C3].
 */
export function spend(tree: TreeSpending, call: CallSpending, at: Circumstances): Allowance {
  const { limits, onExhausted } = tree.root.agent
  const most = Math.min(limits.maxModelCalls, at.maxModelCalls)
  if (tree.modelCalls + at.thinking >= most) return refused('modelCalls', tree.modelCalls, most)
  if (limits.maxTokens !== null && tree.tokens >= limits.maxTokens)
    return refused('tokens', tree.tokens, limits.maxTokens)
  const seconds = Math.floor(at.workedMs / 1000)
  if (limits.maxSeconds !== null && seconds >= limits.maxSeconds) return refused('seconds', seconds, limits.maxSeconds)
  if (call.iterations >= call.agent.limits.maxIterations)
    return exhausted('maxIterations', call.agent.limits.maxIterations, call.agent.onExhausted)
  const rounds = at.maxModelIterationsPerCall ?? limits.maxModelIterationsPerCall
  if (rounds !== null && tree.toolIterations + at.thinking >= rounds)
    return exhausted('maxModelIterationsPerCall', rounds, onExhausted)
  return { kind: 'tools' }
}

function refused(what: string, used: number, most: number): Allowance {
  const limit = `max${what.charAt(0).toUpperCase()}${what.slice(1)}`
  return {
    kind: 'refused',
    detail: `${what} ${used} of ${most} used.`,
    hint: `Raise limits.${limit} of the root agent, or look at the tree for what repeats.`,
  }
}

function exhausted(limit: string, most: number, onExhausted: 'answer' | 'error'): Allowance {
  if (onExhausted === 'answer') return { kind: 'answer' }
  return {
    kind: 'refused',
    detail: `limits.${limit} ${most} is used up.`,
    hint: 'Raise the limit, or set onExhausted to "answer".',
  }
}
