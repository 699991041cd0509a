/** The metrics of an MLflow run: what the jobs of a conversation used so far, in total and for each agent [Tb15, Tb28]. */
import { agentIdPattern, type UsageCounters } from '@witan/protocol'
import { addCounters, emptyCounters } from '@witan/protocol/entries'
import type { JobSummary } from './job-summary.ts'

/** Metrics by name. */
export type Metrics = ReadonlyMap<string, number>

/** The most agents with metrics of their own: MLflow takes 1,000 metrics in a request. */
const mostAgents = 100

/**
 * The sums after a job, from those before it. Only metrics that may have changed are in them. `cost_usd` is absent while no cost is known;
 * `cost_incomplete` and `usage_incomplete` are 1 once a sum lacks something, and absent before [E83].
 */
export function metricsAfter(before: Metrics, { isRun, isFailed, byAgent }: JobSummary): Metrics {
  const after = new Map<string, number>()
  const total = emptyCounters()
  for (const used of byAgent.values()) addCounters(total, used)
  if (isRun) after.set('runs', (before.get('runs') ?? 0) + 1)
  if (isRun) after.set('failed_runs', (before.get('failed_runs') ?? 0) + (isFailed ? 1 : 0))
  add(after, before, { prefix: '', used: total })
  const agents = [...byAgent.keys()].filter((agent) => agentIdPattern.test(agent)).sort()
  for (const agent of agents.slice(0, mostAgents))
    add(after, before, { prefix: `${agent}/`, used: byAgent.get(agent) ?? emptyCounters() })
  return after
}

function add(
  after: Map<string, number>,
  before: Metrics,
  { prefix, used }: { readonly prefix: string; readonly used: UsageCounters },
): void {
  const known = (name: string) => before.get(`${prefix}${name}`)
  const put = (name: string, more: number) => after.set(`${prefix}${name}`, (known(name) ?? 0) + more)
  put('model_calls', used.modelCalls)
  put('tool_calls', used.toolCalls)
  put('input_tokens', used.inputTokens)
  put('output_tokens', used.outputTokens)
  put('total_tokens', used.totalTokens)
  const isCostKnown = used.costUsd !== null
  const hadCost = known('cost_usd') !== undefined
  if (isCostKnown) put('cost_usd', used.costUsd ?? 0)
  const lacks = isCostKnown ? !hadCost && (known('model_calls') ?? 0) > 0 : hadCost && used.modelCalls > 0
  if (lacks) after.set(`${prefix}cost_incomplete`, 1)
  if (!used.complete) after.set(`${prefix}usage_incomplete`, 1)
}
