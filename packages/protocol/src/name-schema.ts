/** Schemas of ids and names that somebody sends. What is stored is read by looser ones: a rule that came later refuses nothing at a read. */
import { z } from 'zod'
import { type NameKind, nameProblem } from './name.ts'

/** A name of 1 to `most` characters that keeps the rule for names. */
export function nameSchema(kind: NameKind, most: number): z.ZodString {
  return z
    .string()
    .min(1)
    .max(most)
    .refine((text) => text.length > most || nameProblem(text, kind) === null, {
      error: ({ input }) => nameProblem(String(input), kind) ?? 'is not valid',
    })
}
