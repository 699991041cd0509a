/** The error of a run or a task, as data. */
import { z } from 'zod'

/** The schema of a `Problem` inside a result. */
export const problemSchema = z.object({
  type: z.string(),
  code: z.string(),
  title: z.string(),
  detail: z.string(),
  path: z.string().nullable(),
  hint: z.string().nullable(),
  requestId: z.string().optional(),
})
