/** The usage of model calls, summed over a tree. */
import { z } from 'zod'

const count = z.number().int().nonnegative()

const counters = {
  modelCalls: count,
  toolCalls: count,
  inputTokens: count,
  outputTokens: count,
  cachedInputTokens: count,
  reasoningTokens: count,
  totalTokens: count,
  /** Tokens of the input that were written to a cache; absent if none were. */
  cacheWriteTokens: count.optional(),
  costUsd: z.number().nonnegative().nullable(),
  /** The date of the price table, if a part of the cost was computed from it; of several tables the oldest. */
  priceDate: z.string().optional(),
  complete: z.boolean(),
}

/**
 * Counters of one agent path. `complete` is false if a provider did not report the usage of a call, or if a call that may have cost
 * something gave no reply: unknown usage never counts as 0 [E83].
 */
export const usageCountersSchema = z.object(counters)
export type UsageCounters = z.infer<typeof usageCountersSchema>

/** The sum over the complete tree and the complete run, and the same by agent path. */
export const usageSchema = z.object({ ...counters, byAgent: z.record(z.string(), usageCountersSchema) })
export type Usage = z.infer<typeof usageSchema>
