/** How an agent's view of a long document is limited [Rb38], in exactly one way. The log itself keeps every entry. */
import { z } from 'zod'

const text = z.string().max(100_000)
const tokens = z.number().int().min(1).max(100_000_000)
const messages = z.number().int().min(1).max(1_000_000)

/** A summary by the agent's own model replaces older messages. Both limits are in tokens. */
const summarizeSchema = z
  .strictObject({
    kind: z.literal('summarize'),
    /** The history is summarised if it was longer than this at the last model call. */
    maxTokensBefore: tokens.default(32_768),
    /** Maximum length of the summary. Default: 1024, or `maxTokensBefore` if that is less. */
    maxTokensAfter: tokens.optional(),
    /** The prompts before and after the history when the summary is requested. */
    beginningPrompt: text.default('This is a conversation so far. Read it; then you are told what to do.'),
    endPrompt: text.default(
      'Summarise the conversation above: what was asked, what was found out and by which means, what was decided, and what is still open. Keep names, ids and numbers. Give the summary and nothing else.',
    ),
    /** Precedes the summary in the agent's view. */
    resultPrefix: text.default('Summary of the conversation so far: '),
  })
  .overwrite((trim) => ({ ...trim, maxTokensAfter: trim.maxTokensAfter ?? Math.min(1024, trim.maxTokensBefore) }))
  .refine(({ maxTokensAfter = 1, maxTokensBefore }) => maxTokensAfter <= maxTokensBefore, {
    path: ['maxTokensAfter'],
    message: 'must not be above maxTokensBefore',
  })

/** The oldest messages are dropped and not replaced. */
const truncateSchema = z
  .strictObject({
    kind: z.literal('truncate'),
    messagesBefore: messages.default(500),
    /** How many messages remain. Default: 250, or `messagesBefore` if that is less. */
    messagesAfter: messages.optional(),
  })
  .overwrite((trim) => ({ ...trim, messagesAfter: trim.messagesAfter ?? Math.min(250, trim.messagesBefore) }))
  .refine(({ messagesAfter = 1, messagesBefore }) => messagesAfter <= messagesBefore, {
    path: ['messagesAfter'],
    message: 'must not be above messagesBefore',
  })

/** One of the two kinds of trim. */
const trimSchema = z.discriminatedUnion('kind', [summarizeSchema, truncateSchema])
export type Trim = z.infer<typeof trimSchema>

/** What happens to a long history. */
export const historySchema = z.strictObject({ trim: trimSchema })
