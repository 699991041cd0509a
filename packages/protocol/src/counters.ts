/** Adds up the usage of model calls. */
import type { UsageCounters } from './usage.ts'

/** The usage of one model call; `null` if the provider did not report it. */
export interface ModelUsage {
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly cachedInputTokens: number
  readonly reasoningTokens: number
  /** Those of the input that were written to a cache; absent if none were. */
  readonly cacheWriteTokens?: number
  /** In US dollars, if the price of the model was known when it replied. */
  readonly costUsd?: number
  /** The date of the price table that the cost was computed from; absent if the configuration gave the price. */
  readonly priceDate?: string
}

/** Rounds dollars to 1e-12, so that a sum does not depend on its order. */
export function roundCost(costUsd: number): number {
  return Math.round(costUsd * 1e12) / 1e12
}

/** A sum with an unknown part is unknown. */
function addCost(sum: number | null, more: number | null): number | null {
  return sum === null || more === null ? null : roundCost(sum + more)
}

/** What only some sums have: an absent number is 0, and of two dates the older one stays. */
function addRest(sum: UsageCounters, more: Pick<UsageCounters, 'cacheWriteTokens' | 'priceDate'>): void {
  const { cacheWriteTokens: written = 0, priceDate: date } = more
  if (written > 0) sum.cacheWriteTokens = (sum.cacheWriteTokens ?? 0) + written
  if (date !== undefined && (sum.priceDate === undefined || date < sum.priceDate)) sum.priceDate = date
}

/** All zero, complete, and without a price. */
export function emptyCounters(): UsageCounters {
  return {
    modelCalls: 0,
    toolCalls: 0,
    inputTokens: 0,
    outputTokens: 0,
    cachedInputTokens: 0,
    reasoningTokens: 0,
    totalTokens: 0,
    costUsd: null,
    complete: true,
  }
}

/** Adds one model call to the counters, in place. */
export function addModelCall(counters: UsageCounters, used: ModelUsage | null): void {
  const costUsd = used?.costUsd ?? null
  counters.costUsd = counters.modelCalls === 0 ? costUsd : addCost(counters.costUsd, costUsd)
  counters.modelCalls += 1
  if (used === null || used.inputTokens === null || used.outputTokens === null) counters.complete = false
  if (used === null) return
  counters.inputTokens += used.inputTokens ?? 0
  counters.outputTokens += used.outputTokens ?? 0
  counters.cachedInputTokens += used.cachedInputTokens
  counters.reasoningTokens += used.reasoningTokens
  counters.totalTokens += (used.inputTokens ?? 0) + (used.outputTokens ?? 0)
  addRest(counters, used)
}

/** Adds what the answer of an agent on another server has cost, in place. What is unknown makes the sum incomplete. */
export function addRemoteUsage(counters: UsageCounters, { usage }: { readonly usage: UsageCounters | null }): void {
  if (usage === null) counters.complete = false
  else addCounters(counters, usage)
}

/** Adds what a checkpoint says of the cost of an agent on another server, in place. */
export function addSpentElsewhere(
  counters: UsageCounters,
  {
    spent,
    answered,
  }: { readonly spent?: UsageCounters | null; readonly answered?: Parameters<typeof addRemoteUsage>[1] },
): void {
  if (spent !== undefined) addRemoteUsage(counters, { usage: spent })
  if (answered !== undefined) addRemoteUsage(counters, answered)
}

/** Adds `more` to `sum`, in place. */
export function addCounters(sum: UsageCounters, more: UsageCounters): void {
  const isFirst = sum.modelCalls === 0 && sum.costUsd === null
  if (more.modelCalls > 0 || more.costUsd !== null)
    sum.costUsd = isFirst ? more.costUsd : addCost(sum.costUsd, more.costUsd)
  sum.modelCalls += more.modelCalls
  sum.toolCalls += more.toolCalls
  sum.inputTokens += more.inputTokens
  sum.outputTokens += more.outputTokens
  sum.cachedInputTokens += more.cachedInputTokens
  sum.reasoningTokens += more.reasoningTokens
  sum.totalTokens += more.totalTokens
  sum.complete = sum.complete && more.complete
  addRest(sum, more)
}
