/** Conversations, runs and documents as they cross the wire. */
import { z } from 'zod'
import { toolModes } from './agent.ts'
import { type OutsideCaller, outsideCallerSchema } from './caller.ts'
import { finishReasons } from './entry-sets.ts'
import { authorKinds } from './event.ts'
import { filePartSchema, fileReferenceSchema } from './file-schema.ts'
import { toolNamePattern } from './id.ts'
import { interruptionSchema } from './interruption.ts'
import { sourceSchema } from './knowledge-schema.ts'
import { nameSchema } from './name-schema.ts'
import { planSchema } from './plan-schema.ts'
import type { Plan } from './plan.ts'
import { problemSchema } from './problem.ts'
import { taskSchema } from './task.ts'
import { usageCountersSchema, usageSchema } from './usage.ts'
import { isSaid, saysNothing, wordsSchema } from './words.ts'

const textPartSchema = z.strictObject({ type: z.literal('text'), text: z.string() })
/** A part of a stored message: a text, or a reference to a file. */
const storedPartSchema = z.discriminatedUnion('type', [
  textPartSchema,
  fileReferenceSchema.extend({ type: z.literal('file') }),
])
/** A part of a sent prompt; a text may not be empty. A stored one may be: an older version accepted it. */
const sentPartSchema = z.discriminatedUnion('type', [
  textPartSchema.extend({ text: z.string().min(1) }),
  filePartSchema,
])
/**
 * What a person says: text, or parts [Rb53]. Texts are joined in order, one per line; files come after them. A part of another
 * type is refused by name. A prompt of blanks is refused like an empty one, because no model could answer it.
 */
const promptSchema = z.union(
  [
    wordsSchema,
    z
      .array(sentPartSchema)
      .min(1)
      .refine((parts) => parts.some((part) => part.type === 'file' || isSaid(part.text)), saysNothing),
  ],
  { error: ({ input }) => foreignPart(input) },
)
export type Prompt = z.infer<typeof promptSchema>

/** Why a prompt is refused: its expected form, or what is wrong with its first part that this version does not know. */
function foreignPart(prompt: unknown): string | undefined {
  if (typeof prompt === 'string') return undefined
  const form = 'it must be text, or a list of parts such as { "type": "text", "text": "Hello" }'
  if (!Array.isArray(prompt)) return form
  for (const [index, part] of prompt.entries() as Iterable<[number, { readonly type?: unknown } | null]>) {
    const type = part?.type
    if (type === 'file') {
      const [issue] = filePartSchema.safeParse(part).error?.issues ?? []
      if (issue !== undefined) return `part ${index} is no file: ${fileProblem(issue)}`
    } else if (typeof type === 'string' && type !== 'text')
      return `part ${index} has type \`${type.slice(0, 40)}\`, which this version does not support; send parts of type \`text\` or \`file\``
  }
  return form
}

function fileProblem(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `\`${issue.keys[0]?.slice(0, 40)}\` is not a known key`
  return `\`${issue.path.join('.')}\` ${issue.code === 'invalid_type' ? 'must be text' : issue.message}`
}

const cap = z.number().int().min(1).max(100_000)

/** A person who joins a conversation. A name or roles that are left out are those of the first agent that names this person. */
export const participantRequestSchema = z.strictObject({
  id: nameSchema('id', 100),
  name: nameSchema('name', 200).optional(),
  roles: z.array(nameSchema('name', 100)).max(50).optional(),
})
export type ParticipantRequest = z.infer<typeof participantRequestSchema>

/** The people of a new conversation. */
const startingUsersSchema = z
  .array(z.union([z.string(), participantRequestSchema]))
  .max(200)
  .nullable()
  .default(null)

/** A person of a conversation; `leftAt` is null while this person takes part. */
export const participantSchema = z.object({
  id: z.string(),
  name: z.string().nullable(),
  roles: z.array(z.string()),
  joinedAt: z.string(),
  leftAt: z.string().nullable(),
})
export type ConversationParticipant = z.infer<typeof participantSchema>

/** The body that starts or continues a conversation. */
export const conversationRequestSchema = z.strictObject({
  agent: z.string(),
  id: z.string().default('chats/'),
  parameters: z.record(z.string(), z.unknown()).default({}),
  /** Who takes part: ids of people that the agents below name, or people with their names. Null: everybody whom these agents name. */
  users: startingUsersSchema,
  /** Counted from creation; at expiry the complete document tree is deleted [Rb35]. */
  expiresInSeconds: z.number().int().min(1).max(315_360_000).nullable().default(null),
  maxModelIterationsPerCall: cap.nullable().default(null),
  prompt: promptSchema.optional(),
})
export type ConversationRequest = z.infer<typeof conversationRequestSchema>
/** The same as it is sent: what has a default may be left out. */
export type ConversationInput = z.input<typeof conversationRequestSchema>

/** One answer to an open action. */
const actionResponseSchema = z.strictObject({ id: z.string(), response: z.unknown() })
/** One answer to an open interruption of any kind. */
const answerSchema = z.strictObject({ id: z.string(), answer: z.unknown() })

/** A call that appears to the model as its own, without arguments, and its response [Rb52]. */
const artificialActionSchema = z.strictObject({ name: z.string().regex(toolNamePattern), response: z.unknown() })
export type ArtificialAction = z.infer<typeof artificialActionSchema>

/** The body of a run: exactly one of a prompt, or responses that resume the waiting run. */
export const runRequestSchema = z.strictObject({
  prompt: promptSchema.optional(),
  actionResponses: z.array(actionResponseSchema).max(1000).default([]),
  answers: z.array(answerSchema).max(1000).default([]),
  /** Inserted after the prompt and before its answer; allowed only with a prompt. */
  artificialActions: z.array(artificialActionSchema).max(100).default([]),
  ifLastSeq: z.number().int().nonnegative().nullable().default(null),
  cancelPendingActions: z.boolean().default(false),
  /** The tool mode of the root's call in this run; null: the agent's own. Allowed only with a prompt [T12]. */
  toolMode: z.enum(toolModes).nullable().default(null),
  /** Who speaks: a person who takes part. Null: the principal itself. Another needs the role `admin`. Allowed only with a prompt. */
  author: z.string().max(200).nullable().default(null),
  onActive: z.enum(['enqueue', 'reject', 'interrupt']).default('enqueue'),
  onDisconnect: z.enum(['continue', 'cancel']).default('continue'),
  wait: z.boolean().default(true),
  verbose: z.boolean().default(false),
})
export type RunRequest = z.infer<typeof runRequestSchema>
/** The same as it is sent: what has a default may be left out. */
export type RunInput = z.input<typeof runRequestSchema>

/**
 * The body of a direct run of a sub-agent: a run request, and the conversation that it belongs to. Without a conversation
 * it starts a new one, with the values and participants named here.
 */
export const directRunRequestSchema = runRequestSchema.extend({
  conversationId: z.string().nullable().default(null),
  parameters: z.record(z.string(), z.unknown()).default({}),
  users: startingUsersSchema,
})
export type DirectRunInput = z.input<typeof directRunRequestSchema>

/**
 * A direct run as requested over HTTP. `messageId` is the caller's own message id. A repeated request with the same id, for
 * example after a lost reply, does not send the message again: it returns the first reply [F40].
 */
export const directRunBodySchema = directRunRequestSchema.extend({ messageId: z.string().min(1).max(200).optional() })

/** The statuses of a run when its result is reported. */
const runStatuses = ['completed', 'waiting', 'failed', 'cancelled'] as const

/** The result of a run, or what it waits for. `usage` is the sum over the complete tree and the complete run. */
export const runResultSchema = z.object({
  runId: z.string(),
  conversationId: z.string(),
  status: z.enum(runStatuses),
  /** The agent whose words `text` is: after a hand-over its target. `output` follows the output schema of that agent. */
  agent: z.string(),
  text: z.string(),
  /** Set only if further messages arrived while an answer was being written: the answers before `text`, oldest first. */
  earlierAnswers: z.array(z.string()).optional(),
  output: z.unknown(),
  /** The passages of documents that the text or the output names in brackets, in the order of first mention; absent if there are none. */
  sources: z.array(sourceSchema).optional(),
  finishReason: z.enum(finishReasons),
  interruptions: z.array(interruptionSchema),
  tasks: z.array(taskSchema),
  usage: usageSchema,
  /** Wall-clock time from the message to this result, including waits for people; `maxSeconds` counts only the work. */
  elapsedMs: z.number(),
  error: problemSchema.nullable(),
  /** The id of the run's trace, 32 hexadecimal digits; set whether traces are exported or not. */
  traceId: z.string(),
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
  /** A full id, or a prefix that the server completes. Default: the prefix of the original. */
  id: z.string().nullable().default(null),
})
/** One line of a conversation's list of runs. */
export const runLineSchema = z.object({
  runId: z.string(),
  status: z.enum([...runStatuses, 'running']),
  hidden: z.boolean(),
  originRunId: z.string().nullable(),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
  /** Who called from another server; absent for any other run. */
  caller: outsideCallerSchema.optional(),
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
  /** The latest 50 runs, in order of their start; the list of runs has all of them. */
  runs: z.array(runLineSchema),
  runCount: z.number().int().nonnegative(),
})
export type Conversation = z.infer<typeof conversationSchema>

/** A line of the list of conversations: its first message, cut at 200 characters, and its latest run. */
export const conversationLineSchema = conversationSchema
  .omit({ interruptions: true, tasks: true, runs: true, runCount: true })
  .extend({
    firstMessage: z.string().nullable(),
    lastRun: runLineSchema.nullable(),
  })
export type ConversationLine = z.infer<typeof conversationLineSchema>

/** A node of a run's call tree. */
export interface CallNode {
  readonly callId: string
  /** `remote`: an agent on another server, under the name that its caller has for it. */
  readonly kind: 'agent' | 'tool' | 'remote'
  readonly name: string
  /** The agent whose call it is, by its address if it is on another server; for a tool, the agent that called it. */
  readonly agent: string
  /** The call that handed over to it. */
  readonly handedFrom: string | null
  /** On the root of a run that came from another server: who called. */
  readonly caller?: OutsideCaller | undefined
  /** Its place in the workflow that started it. */
  readonly step: { readonly index: number; readonly round: number } | null
  readonly document: string
  /** The plan of its agent as the call has it, or had it last; null for none, and in a tree of very many plans for those that came first. */
  readonly plan: Plan | null
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
    kind: z.enum(['agent', 'tool', 'remote']),
    name: z.string(),
    agent: z.string(),
    handedFrom: z.string().nullable(),
    caller: outsideCallerSchema.optional(),
    step: z.object({ index: z.number().int(), round: z.number().int() }).nullable(),
    document: z.string(),
    plan: planSchema.nullable(),
    status: z.enum(['running', 'waiting', 'completed', 'failed', 'cancelled']),
    startedAt: z.string(),
    endedAt: z.string().nullable(),
    usage: usageCountersSchema,
    children: z.array(callNodeSchema),
  }),
)

/**
 * The state of a run, with its call tree; `result` is null while it runs. `toolRounds` counts the replies with tool calls,
 * in the complete tree so far [C4].
 */
export const runStateSchema = z.object({
  runId: z.string(),
  conversationId: z.string(),
  traceId: z.string(),
  status: z.enum([...runStatuses, 'running']),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
  result: runResultSchema.nullable(),
  toolRounds: z.number().int().nonnegative(),
  /** The plan of the root's agent: that of the tree's root. */
  plan: planSchema.nullable(),
  tree: callNodeSchema,
})
export type RunState = z.infer<typeof runStateSchema>

/** A tool call as a document shows it: the model's own arguments, never the bound values. */
const documentToolCallSchema = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.unknown(),
  result: z.unknown(),
  document: z.string().nullable(),
  /** Only in full detail: start and end times, and the usage of the complete subtree that it delegated to. */
  startedAt: z.string().nullable().optional(),
  endedAt: z.string().nullable().optional(),
  usage: usageCountersSchema.nullable().optional(),
})
/** A message of a document with its tool calls. */
const documentMessageSchema = z.object({
  seq: z.number().int(),
  role: z.enum(['user', 'assistant']),
  author: z.string(),
  authorKind: z.enum(authorKinds),
  to: z.string().nullable(),
  text: z.string(),
  parts: z.array(storedPartSchema),
  toolCalls: z.array(documentToolCallSchema),
  date: z.string(),
  usage: usageCountersSchema.nullable(),
  /** Only in full detail: what the model reasoned, if its agent shows it. */
  reasoning: z.string().optional(),
  /** The passages of documents that the text names in brackets; absent if there are none. */
  sources: z.array(sourceSchema).optional(),
  /** Set for an answer that a critique has sent back: another one stands in its place [F08]. */
  draft: z.literal(true).optional(),
})
/** The part of the log that belongs to one agent on one path, folded [R18–R22, Rb37]. */
export const documentSchema = z.object({
  id: z.string(),
  agent: z.string(),
  /** The agents that spoke in it, in the order of their first words. */
  agents: z.array(z.string()),
  parameters: z.record(z.string(), z.object({ value: z.unknown().optional(), sendToModel: z.boolean() })),
  messages: z.array(documentMessageSchema),
  linkedConversations: z.array(z.string()),
  openCalls: z.array(interruptionSchema),
  /** The plan of the agent that wrote one last; null for none. */
  plan: planSchema.nullable(),
  totalUsage: usageCountersSchema,
  createdAt: z.string(),
  lastMessageAt: z.string(),
  expiresAt: z.string().nullable(),
  /** Cursors for the messages before and after this page; null if there are none. The order is by seq, not by date. */
  olderCursor: z.string().nullable(),
  newerCursor: z.string().nullable(),
  /** True if the direction of paging has more messages: newer ones after `after` or a `newerCursor`, otherwise older ones. */
  hasMore: z.boolean(),
})
export type Document = z.infer<typeof documentSchema>

/** The detail of each message: `simple` omits tool calls, `full` adds their times and usage [Rb54]. */
export const detailLevels = ['simple', 'detailed', 'full'] as const
export type DetailLevel = (typeof detailLevels)[number]
