/** Interruptions: parked calls that wait for somebody outside the run. */
import { z } from 'zod'
import { outsideCallerSchema } from './caller.ts'

/**
 * What a call waits for: the client's code, a choice, the approval of one tool call, a named person's message, a remote's
 * condition.
 */
export const interruptionKinds = ['action', 'question', 'approval', 'message', 'policy'] as const
export type InterruptionKind = (typeof interruptionKinds)[number]
/** `open` until it is settled, exactly once. */
export const interruptionStates = ['open', 'answered', 'expired', 'cancelled'] as const
export type InterruptionState = (typeof interruptionStates)[number]

/** What answers an interruption: the answer, or for an action also the reason why there is none. */
export type InterruptionAnswer = { readonly answer: unknown } | { readonly error: string }

const optionSchema = z.object({ id: z.string(), label: z.string() })
/** One question: options by id, one or several to choose, and free text if it is allowed. */
export const questionSchema = z.object({
  id: z.string(),
  text: z.string(),
  options: z.array(optionSchema),
  multiple: z.boolean(),
  freeText: z.boolean(),
  required: z.boolean(),
})
export type Question = z.infer<typeof questionSchema>

const base = z.object({
  id: z.string(),
  /** The agent ids below the root, then the tool: what a handler registers [R26, R27]. Where the root itself demands, its id. */
  path: z.string(),
  agent: z.string(),
  callId: z.string(),
  /** A person's id, or `role:<name>`; null: anybody who may answer. */
  addressee: z.string().nullable(),
  state: z.enum(interruptionStates),
  expiresAt: z.string().nullable(),
  /** Who called from another server; absent in any other run. */
  caller: outsideCallerSchema.optional(),
  /**
   * The conversation and the creation time: set in lists, conversations, results and answers. Events and documents have
   * these fields of their own.
   */
  conversationId: z.string().optional(),
  createdAt: z.string().optional(),
})
const json = z.record(z.string(), z.unknown())

/** One durable row [D11]; `kind` determines the other fields. */
export const interruptionSchema = z.discriminatedUnion('kind', [
  base.extend({ kind: z.literal('action'), name: z.string(), arguments: json }),
  base.extend({
    kind: z.literal('question'),
    questions: z.array(questionSchema),
    /** The MCP server that asks, and what it says with its questions; absent for an agent's. Such questions may be declined. */
    server: z.string().optional(),
    message: z.string().optional(),
  }),
  base.extend({ kind: z.literal('approval'), tool: z.string(), arguments: json, digest: z.string() }),
  base.extend({ kind: z.literal('message'), prompt: z.string() }),
  base.extend({ kind: z.literal('policy'), issuer: z.string(), policy: json }),
])
export type Interruption = z.infer<typeof interruptionSchema>
