/** What a database has used, by agent, conversation, user, model or day. */
import { z } from 'zod'
import { usageCountersSchema } from './usage.ts'

/** By what usage is listed. */
export const usageDimensions = ['agent', 'conversation', 'user', 'model', 'day'] as const
export type UsageDimension = (typeof usageDimensions)[number]

/**
 * The usage of one agent, conversation, user, model or day (`2026-11-25`, UTC). By model no calls of tools are counted: a tool belongs
 * to an agent. The usage of a deleted conversation stays in all sums but its own [T27].
 */
export const usageItemSchema = z.object({ key: z.string(), ...usageCountersSchema.shape })
export type UsageItem = z.infer<typeof usageItemSchema>
