/** Work that its parent does not wait for. No edge starts any yet; the shape is part of every run's result. */
import { z } from 'zod'

/** The schema of a task. */
export const taskSchema = z.object({
  taskId: z.string(),
  toolCallId: z.string(),
  callId: z.string(),
  conversationId: z.string(),
  agent: z.string(),
  path: z.string(),
  status: z.enum(['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled']),
})
export type Task = z.infer<typeof taskSchema>
