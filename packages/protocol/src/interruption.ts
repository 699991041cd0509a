/** A parked call that waits for somebody outside the run. */
import { z } from 'zod'

/** The kinds that exist; `question`, `approval`, `message` and `policy` are rows of the same table. */
export const interruptionKinds = ['action'] as const
/** `open` until somebody settles it, once. */
export const interruptionStates = ['open', 'answered', 'expired', 'cancelled'] as const
export type InterruptionState = (typeof interruptionStates)[number]

/** One durable row [D11]. `path` is the agent ids below the root, then the tool: what a handler registers [R26, R27]. */
export const interruptionSchema = z.object({
  id: z.string(),
  kind: z.enum(interruptionKinds),
  path: z.string(),
  agent: z.string(),
  callId: z.string(),
  addressee: z.string().nullable(),
  state: z.enum(interruptionStates),
  expiresAt: z.string().nullable(),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
})
export type Interruption = z.infer<typeof interruptionSchema>
