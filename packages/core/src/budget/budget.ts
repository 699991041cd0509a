/** What a model call may still spend: the limits of the agent, and those of the complete tree. */
import type { AgentData } from '@witan/protocol'
import { roundCost } from '@witan/protocol/entries'

/** The tree's counters that the limits compare; `run` in the fold has this shape. */
interface TreeSpending {
  readonly tree: Pick<AgentData, 'limits' | 'onExhausted'>
  /** What its tasks have spent, and what its live tasks may still spend. */
  readonly taskSpending: Readonly<Spending>
  readonly modelCalls: number
  /** Model calls without a reply: they may have cost something, but no sum of usage includes them. */
  readonly failedCalls: number
  readonly toolIterations: number
  readonly tokens: number
  /** In US dollars, for the calls whose price is known. */
  readonly costUsd: number
}

/** Amounts that the limits of a tree count. */
export interface Spending {
  modelCalls: number
  iterations: number
  tokens: number
  costUsd: number
}

/** The counters of one agent call. */
interface CallSpending {
  readonly agent: AgentData
  readonly iterations: number
  /** True if it has no tools to call: its calls take no round of the tree, and need none [R17]. */
  readonly isToolless?: boolean
  /** True if only the structured form of its answer is missing: that counts as a last answer, and uses no cap. */
  readonly isForOutput?: boolean
  /** For how many calls there must be room, this one included; 1 by default. */
  readonly room?: number
}

/** Circumstances: the ceiling of the configuration, the conversation's own limit, and what is in progress. */
export interface Circumstances {
  readonly maxModelCalls: number
  readonly maxModelIterationsPerCall: number | null
  /** Spending outside the job's own calls: for a run, what earlier runs spent on the same message of a person [R17]. */
  readonly earlier: Readonly<Spending>
  /** How long the run has been worked on, without waits for people. */
  readonly workedMs: number
  /** Model calls in progress: each reserves one of the tree's calls. */
  readonly openModelCalls: number
  /** Those among them that were offered tools: each reserves a round of the tree. A last answer reserves none. */
  readonly openIterations: number
}

/** A call with tools, a last answer without tools, or no call. */
export type Allowance =
  | { readonly kind: 'tools' }
  | { readonly kind: 'answer' }
  | { readonly kind: 'refused'; readonly detail: string; readonly hint: string }

/**
 * Decides what the next model call of `call` may do. Calls in progress count as spent, so parallel siblings can never take
 * the same last unit [E23]. At an iteration limit the agent gets one more call without tools, which counts against neither
 * limit: every live call gets to answer after the last round of the tree [E24]. With `onExhausted: error` that limit fails
 * the run; the limits of the tree always do [C3].
 */
export function allowModelCall(tree: TreeSpending, call: CallSpending, at: Circumstances): Allowance {
  const { limits, onExhausted } = tree.tree
  const spent = spentBy(tree, at.earlier)
  const most = Math.min(limits.maxModelCalls, at.maxModelCalls)
  if (spent.modelCalls + at.openModelCalls + (call.room ?? 1) > most) {
    const whose = limits.maxModelCalls > most ? 'configuration' : 'root agent'
    return refused('modelCalls', spent.modelCalls, { most, whose })
  }
  if (limits.maxTokens !== null && spent.tokens >= limits.maxTokens)
    return refused('tokens', spent.tokens, { most: limits.maxTokens })
  if (limits.maxCostUsd !== null && spent.costUsd >= limits.maxCostUsd)
    return refused('costUsd', spent.costUsd, { most: limits.maxCostUsd })
  const seconds = Math.floor(at.workedMs / 1000)
  if (limits.maxSeconds !== null && seconds >= limits.maxSeconds)
    return refused('seconds', seconds, { most: limits.maxSeconds })
  if (call.isForOutput === true) return { kind: 'answer' }
  if (call.iterations >= call.agent.limits.maxIterations)
    return exhausted('maxIterations', call.agent.limits.maxIterations, call.agent.onExhausted)
  const rounds = call.isToolless === true ? null : (at.maxModelIterationsPerCall ?? limits.maxModelIterationsPerCall)
  if (rounds !== null && spent.iterations + at.openIterations >= rounds)
    return exhausted('maxModelIterationsPerCall', rounds, onExhausted)
  return { kind: 'tools' }
}

/** What counts as spent of a tree's limits: its own calls, what its tasks spent or may spend, and earlier spending. */
export function spentBy(
  { modelCalls, failedCalls, toolIterations, tokens, costUsd, taskSpending }: Omit<TreeSpending, 'tree'>,
  earlier: Readonly<Spending>,
): Spending {
  return {
    modelCalls: modelCalls + failedCalls + taskSpending.modelCalls + earlier.modelCalls,
    iterations: toolIterations + taskSpending.iterations + earlier.iterations,
    tokens: tokens + taskSpending.tokens + earlier.tokens,
    costUsd: roundCost(costUsd + taskSpending.costUsd + earlier.costUsd),
  }
}

/** `whose` names the limit that must be raised. */
function refused(what: string, used: number, by: { readonly most: number; readonly whose?: string }): Allowance {
  const limit = `max${what.charAt(0).toUpperCase()}${what.slice(1)}`
  return {
    kind: 'refused',
    detail: `${what} ${used} of ${by.most} used`,
    hint: `Raise limits.${limit} of the ${by.whose ?? 'root agent'}, or look at the tree for what repeats.`,
  }
}

function exhausted(limit: string, most: number, onExhausted: 'answer' | 'error'): Allowance {
  if (onExhausted === 'answer') return { kind: 'answer' }
  return {
    kind: 'refused',
    detail: `limits.${limit} ${most} is used up`,
    hint: 'Raise the limit, or set onExhausted to "answer".',
  }
}
