/** The usage of model calls, and of what searches placed by embedding models, summed over a tree. */
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
 * something gave no reply: unknown usage never counts as 0 [E83]. Embeddings count in `inputTokens`, `totalTokens` and `costUsd` alone.
 */
export const usageCountersSchema = z.object(counters)
export type UsageCounters = z.infer<typeof usageCountersSchema>

/** The sum over the complete tree and the complete run, and the same by agent path. */
export const usageSchema = z.object({ ...counters, byAgent: z.record(z.string(), usageCountersSchema) })
export type Usage = z.infer<typeof usageSchema>

/** By what usage is listed. */
export const usageDimensions = ['agent', 'conversation', 'user', 'model', 'day'] as const
export type UsageDimension = (typeof usageDimensions)[number]

/**
 * The usage of one agent, conversation, user, model or day (`2026-11-25`, UTC). By model no calls of tools are counted: a tool belongs
 * to an agent; a model that only placed texts has no `modelCalls`. The usage of a deleted conversation stays in all sums but its own [T27].
 */
export const usageItemSchema = z.object({ key: z.string(), ...usageCountersSchema.shape })
export type UsageItem = z.infer<typeof usageItemSchema>
