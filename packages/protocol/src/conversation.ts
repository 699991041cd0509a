/** Conversations, runs and documents as they cross the wire. */
import { z } from 'zod'
import { finishReasons } from './event.ts'
import { toolNamePattern } from './id.ts'
import { interruptionSchema } from './interruption.ts'
import { problemSchema } from './problem.ts'
import { taskSchema } from './task.ts'
import { usageCountersSchema, usageSchema } from './usage.ts'
import { isSaid, saysNothing, wordsSchema } from './words.ts'

/** A part of a prompt. Text is the only type so far. */
export const promptPartSchema = z.strictObject({ type: z.literal('text'), text: z.string() })
/** A part that somebody sends. A part may be stored empty: what an older version took stays readable. */
const sentPartSchema = promptPartSchema.extend({ text: z.string().min(1) })
/**
 * What a person says: text, or parts that are joined in order, one to a line [Rb53]. Parts of other types are refused by name, and
 * a prompt of nothing but blanks like an empty one: no model could answer it.
 */
export const promptSchema = z.union(
  [
    wordsSchema,
    z
      .array(sentPartSchema)
      .min(1)
      .refine((parts) => parts.some(({ text }) => isSaid(text)), saysNothing),
  ],
  { error: ({ input }) => foreignPart(input) },
)
export type Prompt = z.infer<typeof promptSchema>

/** Why a prompt is refused: what it must be, or which of its parts has a type of another version. */
function foreignPart(prompt: unknown): string | undefined {
  if (typeof prompt === 'string') return undefined
  const form = 'it must be text, or a list of parts such as { "type": "text", "text": "Hello" }'
  if (!Array.isArray(prompt)) return form
  for (const [index, part] of prompt.entries() as Iterable<[number, { readonly type?: unknown } | null]>) {
    const type = part?.type
    if (typeof type !== 'string' || type === 'text') continue
    return `part ${index} has type \`${type.slice(0, 40)}\`, which this version does not take; send parts of type \`text\``
  }
  return form
}

const cap = z.number().int().min(1).max(100_000)

/** The body that starts, or goes on with, a conversation. */
export const conversationRequestSchema = z.strictObject({
  agent: z.string(),
  id: z.string().default('chats/'),
  parameters: z.record(z.string(), z.unknown()).default({}),
  /** Who takes part: ids of people whom the agents below name; null for all of them. */
  users: z.array(z.string()).max(200).nullable().default(null),
  /** From its creation on; then the whole tree of documents goes [Rb35]. */
  expiresInSeconds: z.number().int().min(1).max(315_360_000).nullable().default(null),
  maxModelIterationsPerCall: cap.nullable().default(null),
  prompt: promptSchema.optional(),
})
export type ConversationRequest = z.infer<typeof conversationRequestSchema>

/** One answer to an open action. */
export const actionResponseSchema = z.strictObject({ id: z.string(), response: z.unknown() })
/** One answer to an open interruption of any kind. */
export const answerSchema = z.strictObject({ id: z.string(), answer: z.unknown() })

/** A call that the model seems to have made, without arguments, and the response it got [Rb52]. */
export const artificialActionSchema = z.strictObject({ name: z.string().regex(toolNamePattern), response: z.unknown() })
export type ArtificialAction = z.infer<typeof artificialActionSchema>

/** The body of a run: exactly one of a prompt, or responses that resume the waiting run. */
export const runRequestSchema = z.strictObject({
  prompt: promptSchema.optional(),
  actionResponses: z.array(actionResponseSchema).max(1000).default([]),
  answers: z.array(answerSchema).max(1000).default([]),
  /** They stand behind the prompt, before its answer; only together with one. */
  artificialActions: z.array(artificialActionSchema).max(100).default([]),
  ifLastSeq: z.number().int().nonnegative().nullable().default(null),
  cancelPendingActions: z.boolean().default(false),
  onActive: z.enum(['enqueue', 'reject', 'interrupt']).default('enqueue'),
  onDisconnect: z.enum(['continue', 'cancel']).default('continue'),
  wait: z.boolean().default(true),
  verbose: z.boolean().default(false),
})
export type RunRequest = z.infer<typeof runRequestSchema>

/** The body of a direct run of a sub-agent: a run, the conversation it belongs in (a new one without), and the values and people a new one starts with. */
export const directRunRequestSchema = runRequestSchema.extend({
  conversationId: z.string().nullable().default(null),
  parameters: z.record(z.string(), z.unknown()).default({}),
  users: z.array(z.string()).max(200).nullable().default(null),
})

/**
 * A direct run as it is asked for over HTTP. `messageId` is the caller's own id of the message: sent again with it, also after a lost
 * reply, the message is said once and its reply is the first one [F40].
 */
export const directRunBodySchema = directRunRequestSchema.extend({ messageId: z.string().min(1).max(200).optional() })

/** How a run can stand when its result is told. */
export const runStatuses = ['completed', 'waiting', 'failed', 'cancelled'] as const

/** What a run came to, or what it waits for. `usage` is the sum over the whole tree and the whole run. */
export const runResultSchema = z.object({
  runId: z.string(),
  conversationId: z.string(),
  status: z.enum(runStatuses),
  text: z.string(),
  output: z.unknown(),
  finishReason: z.enum(finishReasons),
  interruptions: z.array(interruptionSchema),
  tasks: z.array(taskSchema),
  usage: usageSchema,
  /** From the message to this result on the clock, with all waiting for somebody; `maxSeconds` counts the work alone. */
  elapsedMs: z.number(),
  error: problemSchema.nullable(),
})
export type RunResult = z.infer<typeof runResultSchema>

/** A conversation after it was started. */
export const startedConversationSchema = z.object({
  id: z.string(),
  agent: z.string(),
  run: runResultSchema.nullable(),
})
export type StartedConversation = z.infer<typeof startedConversationSchema>

/** The body of a fork: the last seq that is copied. */
export const forkRequestSchema = z.strictObject({
  seq: z.number().int().nonnegative(),
  /** Whole, or a prefix that the server finishes; by default the original's own prefix. */
  id: z.string().nullable().default(null),
})
export type ForkRequest = z.infer<typeof forkRequestSchema>

/** One line of a conversation's list of runs. */
export const runLineSchema = z.object({
  runId: z.string(),
  status: z.enum([...runStatuses, 'running']),
  hidden: z.boolean(),
  originRunId: z.string().nullable(),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
})
export type RunLine = z.infer<typeof runLineSchema>

/** What a second client reads before it follows the stream from `lastSeq`. */
export const conversationSchema = z.object({
  id: z.string(),
  agent: z.string(),
  createdAt: z.string(),
  lastMessageAt: z.string(),
  expiresAt: z.string().nullable(),
  lastSeq: z.number().int(),
  activeRunId: z.string().nullable(),
  status: z.enum(['idle', 'running', 'waiting']),
  interruptions: z.array(interruptionSchema),
  tasks: z.array(taskSchema),
  runs: z.array(runLineSchema),
})
export type Conversation = z.infer<typeof conversationSchema>

/** A node of a run's call tree. */
export interface CallNode {
  readonly callId: string
  readonly kind: 'agent' | 'tool'
  readonly name: string
  readonly document: string
  readonly status: 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled'
  readonly startedAt: string
  readonly endedAt: string | null
  readonly usage: z.infer<typeof usageCountersSchema>
  readonly children: readonly CallNode[]
}
/** The schema of a call tree. */
export const callNodeSchema: z.ZodType<CallNode> = z.lazy(() =>
  z.object({
    callId: z.string(),
    kind: z.enum(['agent', 'tool']),
    name: z.string(),
    document: z.string(),
    status: z.enum(['running', 'waiting', 'completed', 'failed', 'cancelled']),
    startedAt: z.string(),
    endedAt: z.string().nullable(),
    usage: usageCountersSchema,
    children: z.array(callNodeSchema),
  }),
)

/** The state of a run, with its call tree; `result` is null while it runs. `toolRounds`: replies in which a model called tools, in the whole tree so far [C4]. */
export const runStateSchema = z.object({
  runId: z.string(),
  conversationId: z.string(),
  status: z.enum([...runStatuses, 'running']),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
  result: runResultSchema.nullable(),
  toolRounds: z.number().int().nonnegative(),
  tree: callNodeSchema,
})
export type RunState = z.infer<typeof runStateSchema>

/** A tool call as a document shows it: the model's own arguments, never the bound values. */
export const documentToolCallSchema = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.unknown(),
  result: z.unknown(),
  document: z.string().nullable(),
  /** Only in full detail: when it began and ended, and the usage of what it delegated to, all of its tree. */
  startedAt: z.string().nullable().optional(),
  endedAt: z.string().nullable().optional(),
  usage: usageCountersSchema.nullable().optional(),
})
/** A message of a document with its tool calls. */
export const documentMessageSchema = z.object({
  seq: z.number().int(),
  role: z.enum(['user', 'assistant']),
  author: z.string(),
  to: z.string().nullable(),
  text: z.string(),
  parts: z.array(promptPartSchema),
  toolCalls: z.array(documentToolCallSchema),
  date: z.string(),
  usage: usageCountersSchema.nullable(),
})
export type DocumentMessage = z.infer<typeof documentMessageSchema>

/** The part of the log that belongs to one agent on one path, folded [R18–R22, Rb37]. */
export const documentSchema = z.object({
  id: z.string(),
  agent: z.string(),
  parameters: z.record(z.string(), z.object({ value: z.unknown().optional(), sendToModel: z.boolean() })),
  messages: z.array(documentMessageSchema),
  linkedConversations: z.array(z.string()),
  openCalls: z.array(interruptionSchema),
  totalUsage: usageCountersSchema,
  createdAt: z.string(),
  lastMessageAt: z.string(),
  expiresAt: z.string().nullable(),
  hasMore: z.boolean(),
})
export type Document = z.infer<typeof documentSchema>

/** How much of each message a reader wants: `simple` leaves the tool calls out, `full` adds their times and what they cost [Rb54]. */
export const detailLevels = ['simple', 'detailed', 'full'] as const
export type DetailLevel = (typeof detailLevels)[number]
