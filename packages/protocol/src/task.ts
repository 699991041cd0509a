/** Tasks: calls with a job of their own, whose parent does not wait for them. */
import { z } from 'zod'
import { problemSchema } from './problem.ts'
import { usageSchema } from './usage.ts'
import { wordsSchema } from './words.ts'

/** The statuses of a task; the last three are final. */
export const taskStatuses = ['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled'] as const
export type TaskStatus = (typeof taskStatuses)[number]

/** A task. Its id is the id of its call; `toolCallId` is the calling model's own id [F21]. `text`, `output` and `error` are set when it has ended. */
export const taskSchema = z.object({
  taskId: z.string(),
  toolCallId: z.string(),
  callId: z.string(),
  conversationId: z.string(),
  agent: z.string(),
  /** The ids of the agents below the root. */
  path: z.string(),
  status: z.enum(taskStatuses),
  text: z.string(),
  output: z.unknown(),
  error: problemSchema.nullable(),
  usage: usageSchema,
  createdAt: z.string(),
  startedAt: z.string().nullable(),
  endedAt: z.string().nullable(),
})
export type Task = z.infer<typeof taskSchema>

/** A message to a running task. `send` only stores it; `send_and_wait` also waits until the task says something. */
export const taskMessageSchema = z.strictObject({
  text: wordsSchema.max(100_000),
  mode: z.enum(['send', 'send_and_wait']).default('send'),
  timeoutSeconds: z.number().min(0).max(600).default(30),
})
export type TaskMessageInput = z.input<typeof taskMessageSchema>

/** The result: `saved` (did not wait), `replied`, `waiting` (no reply in time), `completed` (the task ended without a reply). */
export const taskReplySchema = z.object({
  status: z.enum(['saved', 'replied', 'waiting', 'completed']),
  reply: z.string().nullable(),
})
export type TaskReply = z.infer<typeof taskReplySchema>

/** A question about the current work of a task. */
export const taskQuestionSchema = z.strictObject({ question: wordsSchema.max(10_000) })
export type TaskQuestion = z.infer<typeof taskQuestionSchema>
/** The answer, based on the log up to that seq. */
export const taskProgressSchema = z.object({ text: z.string(), asOfSeq: z.number().int() })
export type TaskProgress = z.infer<typeof taskProgressSchema>
