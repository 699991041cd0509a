/** The two fields that every demand has, of an agent or of a tool. */
import { z } from 'zod'

/** `kind` is one of the known words, such as `payment_required`, or any other; `message` says to a person what is demanded. */
export const demandShape = {
  kind: z.string().regex(/^[\w.-]{1,64}$/, 'expected 1 to 64 letters, digits, `_`, `.` or `-`'),
  message: z.string().trim().min(1).max(10_000),
}
