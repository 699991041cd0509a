/** Checks that a limit in money can be held: what the models of the tree cost must be known. */
import type { AgentData, Finding } from '@witan/protocol'
import { type AgentSet, reachable } from './graph.ts'
import { modelsOf, type Surroundings } from './names.ts'

/** A warning for each model below a root with `maxCostUsd` whose price is not known: its calls count as nothing. */
export function checkPrices(root: AgentData, agents: AgentSet, around: Surroundings): Finding[] {
  if (root.limits.maxCostUsd === null) return []
  const unknown = new Map<string, string>()
  for (const agent of reachable(root, agents)) {
    for (const [, model] of modelsOf(agent)) {
      if (around.hasModel(model) && !around.hasPrice(model) && !unknown.has(model)) unknown.set(model, agent.id)
    }
  }
  return [...unknown].map(([model, id]) => ({
    code: 'PRICE_UNKNOWN',
    severity: 'warning',
    agent: root.id,
    path: 'limits.maxCostUsd',
    detail: `\`${root.id}\` limits what a run costs, and nobody knows what \`${model}\` of \`${id}\` costs: its calls count as nothing.`,
    hint: 'Give the price: `prices` of the connection, or `price` of the model.',
  }))
}
