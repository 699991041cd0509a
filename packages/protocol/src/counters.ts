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

/**
 * What one request to an embedding model used for a search. It counts in usage alone: in no limit of a run, and as no call of a model.
 * `inputTokens` is null if that is unknown: it was not told, or there was no reply and the request may have cost something.
 */
export interface EmbeddingUse {
  /** The name by which the knowledge base has it. */
  readonly model: string
  readonly inputTokens: number | null
  /** See the usage of a model call. */
  readonly costUsd?: number
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

/** Whether anything in a sum has a cost, be it unknown: the reply of a model, or tokens that an embedding model read. */
function hasCost({ modelCalls, inputTokens, costUsd }: UsageCounters): boolean {
  return modelCalls > 0 || inputTokens > 0 || costUsd !== null
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
  counters.costUsd = hasCost(counters) ? addCost(counters.costUsd, costUsd) : costUsd
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

/** Adds what embedding models used, in place. What is unknown makes the sum incomplete, and its cost a lower bound. */
export function addEmbeddings(counters: UsageCounters, used: readonly EmbeddingUse[]): void {
  for (const { inputTokens, costUsd = null, ...rest } of used) {
    if (inputTokens === null) counters.complete = false
    if (inputTokens === null || inputTokens === 0) continue
    counters.costUsd = hasCost(counters) ? addCost(counters.costUsd, costUsd) : costUsd
    counters.inputTokens += inputTokens
    counters.totalTokens += inputTokens
    addRest(counters, rest)
  }
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
  if (hasCost(more)) sum.costUsd = hasCost(sum) ? addCost(sum.costUsd, more.costUsd) : more.costUsd
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
