/** Adding up what model calls used. */
import type { UsageCounters } from './usage.ts'

/** What one model call used; `null` where the provider did not say. */
export interface ModelUsage {
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly cachedInputTokens: number
  readonly reasoningTokens: number
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
  counters.modelCalls += 1
  if (used === null || used.inputTokens === null || used.outputTokens === null) counters.complete = false
  if (used === null) return
  counters.inputTokens += used.inputTokens ?? 0
  counters.outputTokens += used.outputTokens ?? 0
  counters.cachedInputTokens += used.cachedInputTokens
  counters.reasoningTokens += used.reasoningTokens
  counters.totalTokens += (used.inputTokens ?? 0) + (used.outputTokens ?? 0)
}

/** Adds `more` to `sum`, in place. */
export function addCounters(sum: UsageCounters, more: UsageCounters): void {
  sum.modelCalls += more.modelCalls
  sum.toolCalls += more.toolCalls
  sum.inputTokens += more.inputTokens
  sum.outputTokens += more.outputTokens
  sum.cachedInputTokens += more.cachedInputTokens
  sum.reasoningTokens += more.reasoningTokens
  sum.totalTokens += more.totalTokens
  if (more.costUsd !== null) sum.costUsd = (sum.costUsd ?? 0) + more.costUsd
  sum.complete = sum.complete && more.complete
}
