/** How an agent's view of a long document is kept within bounds [Rb38]: exactly one way, and the log itself stays whole. */
import { z } from 'zod'

const text = z.string().max(100_000)
const tokens = z.number().int().min(1).max(100_000_000)
const messages = z.number().int().min(1).max(1_000_000)

/** What is summarised is replaced by words of the agent's own model; both counts are of tokens. */
const summarizeSchema = z
  .strictObject({
    kind: z.literal('summarize'),
    /** A history that was longer at its last model call is summarised. */
    maxTokensBefore: tokens.default(32_768),
    /** How long the summary may be; 1024 unless told, or all of `maxTokensBefore` where that is less. */
    maxTokensAfter: tokens.optional(),
    /** Stands before the history, and what stands after it. */
    beginningPrompt: text.default('This is a conversation so far. Read it; then you are told what to do.'),
    endPrompt: text.default(
      'Summarise the conversation above: what was asked, what was found out and by which means, what was decided, and what is still open. Keep names, ids and numbers. Give the summary and nothing else.',
    ),
    /** Stands before the summary where the agent reads it. */
    resultPrefix: text.default('Summary of the conversation so far: '),
  })
  .overwrite((trim) => ({ ...trim, maxTokensAfter: trim.maxTokensAfter ?? Math.min(1024, trim.maxTokensBefore) }))
  .refine(({ maxTokensAfter = 1, maxTokensBefore }) => maxTokensAfter <= maxTokensBefore, {
    path: ['maxTokensAfter'],
    message: 'must not be above maxTokensBefore',
  })

/** The oldest messages go, and nothing takes their place. */
const truncateSchema = z
  .strictObject({
    kind: z.literal('truncate'),
    messagesBefore: messages.default(500),
    /** How many stay; 250 unless told, or all of `messagesBefore` where that is less. */
    messagesAfter: messages.optional(),
  })
  .overwrite((trim) => ({ ...trim, messagesAfter: trim.messagesAfter ?? Math.min(250, trim.messagesBefore) }))
  .refine(({ messagesAfter = 1, messagesBefore }) => messagesAfter <= messagesBefore, {
    path: ['messagesAfter'],
    message: 'must not be above messagesBefore',
  })

/** One of the two ways. */
export const trimSchema = z.discriminatedUnion('kind', [summarizeSchema, truncateSchema])
export type Trim = z.infer<typeof trimSchema>

/** What becomes of a long history. */
export const historySchema = z.strictObject({ trim: trimSchema })
