/** What a model call may still spend: the caps of the agent, and those of the whole tree. */
import type { AgentData } from '@witan/protocol'
import { roundCost } from '@witan/protocol/entries'

/** The counters of the tree that the caps look at; `run` in the fold has this shape. */
export interface TreeSpending {
  readonly tree: Pick<AgentData, 'limits' | 'onExhausted'>
  /** What its tasks have spent, and what those that live may still. */
  readonly lent: Readonly<Spending>
  readonly modelCalls: number
  /** Model calls that failed: they may have cost, and are in no sum of usage. */
  readonly failedCalls: number
  readonly toolIterations: number
  readonly tokens: number
  /** In US dollars, of the calls whose price is known. */
  readonly costUsd: number
}

/** An amount of what the caps of a tree count. */
export interface Spending {
  modelCalls: number
  iterations: number
  tokens: number
  costUsd: number
}

/** The counters of one agent call. */
export interface CallSpending {
  readonly agent: AgentData
  readonly iterations: number
}

/** Circumstances: the ceiling of the configuration, the conversation's own cap, and what is under way besides. */
export interface Circumstances {
  readonly maxModelCalls: number
  readonly maxModelIterationsPerCall: number | null
  /** What is not told of its own calls, and of a run what others before it have spent on the same words of a person [R17]. */
  readonly earlier: Readonly<Spending>
  /** How long the run has been worked on; waiting for somebody does not count. */
  readonly workedMs: number
  /** Model calls under way: each holds one of the tree's. */
  readonly thinking: number
  /** Those of them that were offered tools: each holds a round of the tree. A last answer under way holds none. */
  readonly offering: number
}

/** A call with tools, a last answer without, or none at all. */
export type Allowance =
  | { readonly kind: 'tools' }
  | { readonly kind: 'answer' }
  | { readonly kind: 'refused'; readonly detail: string; readonly hint: string }

/**
 * Decides what the next model call of `call` may do. What is under way counts as spent, so parallel siblings can never take the
 * same last unit [E23]. The iteration caps end in one more call without tools, which takes nothing from either cap: whoever lives
 * when the rounds of the tree are gone has its answer [E24]. With `onExhausted: error` they fail the run; the limits of the tree
 * always do [C3].
 */
export function spend(tree: TreeSpending, call: CallSpending, at: Circumstances): Allowance {
  const { limits, onExhausted } = tree.tree
  const spent = spentBy(tree, at.earlier)
  const most = Math.min(limits.maxModelCalls, at.maxModelCalls)
  if (spent.modelCalls + at.thinking >= most) {
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
  if (call.iterations >= call.agent.limits.maxIterations)
    return exhausted('maxIterations', call.agent.limits.maxIterations, call.agent.onExhausted)
  const rounds = at.maxModelIterationsPerCall ?? limits.maxModelIterationsPerCall
  if (rounds !== null && spent.iterations + at.offering >= rounds)
    return exhausted('maxModelIterationsPerCall', rounds, onExhausted)
  return { kind: 'tools' }
}

/** What counts as spent of a tree's caps: its own, what its tasks spent or may spend, and what came before. */
export function spentBy(
  { modelCalls, failedCalls, toolIterations, tokens, costUsd, lent }: Omit<TreeSpending, 'tree'>,
  earlier: Readonly<Spending>,
): Spending {
  return {
    modelCalls: modelCalls + failedCalls + lent.modelCalls + earlier.modelCalls,
    iterations: toolIterations + lent.iterations + earlier.iterations,
    tokens: tokens + lent.tokens + earlier.tokens,
    costUsd: roundCost(costUsd + lent.costUsd + earlier.costUsd),
  }
}

/** `whose` limit it is: the one that somebody must raise. */
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
