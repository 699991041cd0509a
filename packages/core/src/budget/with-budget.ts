/** The limits of a tree that somebody from outside pays for: what the caller allows only lowers what the agent allows. */
import type { AgentData } from '@witan/protocol'
import type { CallBudget } from '@witan/protocol/entries'

type Limited = Pick<AgentData, 'limits' | 'onExhausted'>

/** The terms of a tree under its caller's budget; without one, those of its agent. */
export function withBudget(agent: Limited, budget: CallBudget | undefined): Limited {
  if (budget === undefined) return agent
  const { limits, onExhausted } = agent
  const { modelCalls, tokens, costUsd, seconds, depth } = budget
  const lowered = {
    ...limits,
    maxModelCalls: Math.min(limits.maxModelCalls, modelCalls ?? limits.maxModelCalls),
    maxTokens: lower(limits.maxTokens, tokens),
    maxCostUsd: lower(limits.maxCostUsd, costUsd),
    maxSeconds: lower(limits.maxSeconds, seconds),
    maxDepth: Math.min(limits.maxDepth, depth ?? limits.maxDepth),
  }
  return { limits: lowered, onExhausted }
}

function lower(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}
