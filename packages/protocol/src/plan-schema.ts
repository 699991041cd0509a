/** The schema of a plan as readers see it. */
import { z } from 'zod'
import { type Plan, stepStatuses } from './plan.ts'

/** The schema of `Plan`. */
export const planSchema: z.ZodType<Plan> = z.object({
  revision: z.number().int(),
  steps: z.array(
    z.object({
      id: z.string(),
      title: z.string(),
      status: z.enum(stepStatuses),
      note: z.string().nullable(),
      calls: z.array(z.string()),
    }),
  ),
})
