/** What model calls cost, summed over a tree. */
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
  costUsd: z.number().nonnegative().nullable(),
  complete: z.boolean(),
}

/** Counters of one agent path. `complete` is false where a provider did not say what a call used: unknown is never counted as 0 [E83]. */
export const usageCountersSchema = z.object(counters)
export type UsageCounters = z.infer<typeof usageCountersSchema>

/** The sum over a whole tree and a whole run, and the same by agent path. */
export const usageSchema = z.object({ ...counters, byAgent: z.record(z.string(), usageCountersSchema) })
export type Usage = z.infer<typeof usageSchema>
