/** Checks that a cost limit can be enforced: the prices of all models in the tree must be known. */
import type { AgentData, Finding } from '@witan/protocol'
import { type AgentSet, reachable } from './graph.ts'
import { modelsOf, type Surroundings } from './names.ts'

/** A warning for each model without a known price below a root with `maxCostUsd`: its calls count as 0. */
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
    detail: `\`${root.id}\` has a cost limit, but the price of \`${model}\` of \`${id}\` is unknown: its calls count as 0.`,
    hint: 'Give the price: `prices` of the connection, or `price` of the model.',
  }))
}
