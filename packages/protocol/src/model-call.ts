/** Model calls as readers see them: what a model was asked, computed from the log, and what it replied. */
import { z } from 'zod'
import { reasoningEfforts } from './agent.ts'

const count = z.number().int().nonnegative()

/** A tool call as a model wrote it. */
const callSchema = z.object({ id: z.string(), name: z.string(), arguments: z.string() })

/** A message of a request. Of sealed parts that only the model's adapter can read it has the size alone. */
const messageSchema = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string(),
  toolCalls: z.array(callSchema).optional(),
  toolCallId: z.string().optional(),
  name: z.string().optional(),
  attached: z
    .array(z.object({ name: z.string().nullable(), mediaType: z.string(), bytes: count, digest: z.string() }))
    .optional(),
  kept: z.object({ by: z.string(), bytes: count }).optional(),
})

/** What an adapter got. */
const requestSchema = z.object({
  messages: z.array(messageSchema),
  tools: z.array(
    z.object({ name: z.string(), description: z.string(), parameters: z.record(z.string(), z.unknown()) }),
  ),
  toolChoice: z.enum(['auto', 'required', 'none']),
  temperature: z.number().nullable(),
  reasoningEffort: z.enum(reasoningEfforts).nullable(),
  maxOutputTokens: count.nullable(),
  output: z.object({ name: z.string(), schema: z.record(z.string(), z.unknown()) }).nullable(),
})

/** A line of the list of model calls. */
export const modelCallLineSchema = z.object({
  /** The seq of the entry that ended it; while it works, the id of its agent's call. */
  id: z.string(),
  runId: z.string(),
  callId: z.string(),
  agent: z.string(),
  agentPath: z.string(),
  document: z.string(),
  revision: count.nullable(),
  /** Counts the model calls of the agent's call from 1. */
  number: count,
  purpose: z.enum(['answer', 'output', 'summary', 'progress', 'critique']),
  status: z.enum(['completed', 'failed', 'running']),
  /** The one that was asked, and what its provider calls it; null if it says nothing, or the same. */
  model: z.string(),
  answeredBy: z.string().nullable(),
  attempt: count,
  tries: count,
  retries: z.array(z.object({ at: z.string(), detail: z.string() })),
  startedAt: z.string().nullable(),
  endedAt: z.string().nullable(),
  finishReason: z.string().nullable(),
  usage: z
    .object({
      inputTokens: count.nullable(),
      outputTokens: count.nullable(),
      cachedInputTokens: count,
      reasoningTokens: count,
      cacheWriteTokens: count.optional(),
      costUsd: z.number().optional(),
      priceDate: z.string().optional(),
    })
    .nullable(),
  costUsd: z.number().nullable(),
  error: z.object({ code: z.string(), detail: z.string() }).nullable(),
  /** How many messages it read; how many of them, from the first on, the last model call of its document had read too. */
  messages: count,
  sameAsBefore: count,
  tools: z.array(z.string()),
  /** The seq of the last message of a person that it had read. */
  readUpTo: count.nullable(),
  /** Whether what is computed is what was asked, by the digest in the log; null if the log has none. `changed`: what differs. */
  exact: z.boolean().nullable(),
  changed: z.array(z.enum(['system', 'tools', 'settings'])).optional(),
  /** Whether a hidden value was replaced in what is shown. */
  masked: z.boolean(),
})
/** A line of the list of model calls. */
export type ModelCallLine = z.infer<typeof modelCallLineSchema>

/** A model call, whole. */
export const modelCallSchema = modelCallLineSchema.extend({
  /** Null for a `summary` and a `progress`. */
  request: requestSchema.nullable(),
  /** Null while it works, and if it failed. */
  reply: z.object({ text: z.string(), toolCalls: z.array(callSchema), reasoning: z.string().nullable() }).nullable(),
  /** How many messages, the oldest, are left out because the answer would be too long. */
  leftOut: count.optional(),
})
/** A model call, whole. */
export type ModelCall = z.infer<typeof modelCallSchema>

/** Which models read an entry. */
export const entryReadersSchema = z.object({
  items: z.array(
    z.object({
      callId: z.string(),
      agent: z.string(),
      document: z.string(),
      /** The id of the first model call of it that read the entry. */
      first: z.string(),
      /** How it came to read it: it said it, it was said to it, it is the result of its own call, it is what another agent said or got. */
      as: z.enum(['own', 'message', 'result', 'attributed', 'shared', 'summary']),
    }),
  ),
})
/** Which models read an entry. */
export type EntryReaders = z.infer<typeof entryReadersSchema>
