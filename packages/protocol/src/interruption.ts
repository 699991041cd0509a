/** A parked call that waits for somebody outside the run. */
import { z } from 'zod'

/** What is waited for: the client's code, a choice, the release of one tool call, a named person's words, a remote's condition. */
export const interruptionKinds = ['action', 'question', 'approval', 'message', 'policy'] as const
export type InterruptionKind = (typeof interruptionKinds)[number]
/** `open` until somebody settles it, once. */
export const interruptionStates = ['open', 'answered', 'expired', 'cancelled'] as const
export type InterruptionState = (typeof interruptionStates)[number]

const optionSchema = z.object({ id: z.string(), label: z.string() })
/** One question: choices by id, one or several, and free text where it is allowed. */
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
  /** The agent ids below the root, then the tool: what a handler registers [R26, R27]. */
  path: z.string(),
  agent: z.string(),
  callId: z.string(),
  /** A person's id, or `role:<name>`; null for whoever may answer. */
  addressee: z.string().nullable(),
  state: z.enum(interruptionStates),
  expiresAt: z.string().nullable(),
})
const json = z.record(z.string(), z.unknown())

/** One durable row [D11]; the kind says what the rest of it is. */
export const interruptionSchema = z.discriminatedUnion('kind', [
  base.extend({ kind: z.literal('action'), name: z.string(), arguments: json }),
  base.extend({ kind: z.literal('question'), questions: z.array(questionSchema) }),
  base.extend({ kind: z.literal('approval'), tool: z.string(), arguments: json, digest: z.string() }),
  base.extend({ kind: z.literal('message'), prompt: z.string() }),
  base.extend({ kind: z.literal('policy'), issuer: z.string(), policy: json }),
])
export type Interruption = z.infer<typeof interruptionSchema>
