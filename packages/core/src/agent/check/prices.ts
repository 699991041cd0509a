/** Checks that a cost limit can be enforced, and costs be told: the prices of all models in the tree must be known. */
import type { AgentData, Finding } from '@witan/protocol'
import { knowledgeUses } from '@witan/protocol/knowledge'
import { type AgentSet, reachable } from './graph.ts'
import { modelsOf, type Surroundings } from './names.ts'

/**
 * Warnings for each model without a known price below a root with `maxCostUsd`: its calls count as 0. For each embedding model, too: no limit
 * counts it, but the cost of a run that it searches for is unknown.
 */
export function checkPrices(root: AgentData, agents: AgentSet, around: Surroundings): Finding[] {
  if (root.limits.maxCostUsd === null) return []
  const unknown = new Map<string, string>()
  const embeddings = new Map<string, string>()
  for (const agent of reachable(root, agents)) {
    for (const [, model] of modelsOf(agent)) {
      if (around.hasModel(model) && !around.hasPrice(model) && !unknown.has(model)) unknown.set(model, agent.id)
    }
    for (const { id } of knowledgeUses(agent)) {
      const model = around.bases.get(id)?.embedding ?? null
      if (model !== null && !embeddings.has(model) && around.lacksEmbeddingPrice(model))
        embeddings.set(model, `knowledge base \`${id}\` of \`${agent.id}\``)
    }
  }
  return [
    ...Array.from(unknown, ([model, id]) =>
      priceUnknown(root, `the price of \`${model}\` of \`${id}\` is unknown: its calls count as 0`),
    ),
    ...Array.from(embeddings, ([model, where]) =>
      priceUnknown(
        root,
        `the price of the embedding model \`${model}\` of ${where} is unknown: the cost of a run that searches there is unknown, too`,
      ),
    ),
  ]
}

function priceUnknown({ id }: AgentData, what: string): Finding {
  return {
    code: 'PRICE_UNKNOWN',
    severity: 'warning',
    agent: id,
    path: 'limits.maxCostUsd',
    detail: `\`${id}\` has a cost limit, but ${what}.`,
    hint: 'Give the price: `prices` of the connection, or `price` of the model.',
  }
}
