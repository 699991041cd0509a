/** The schemas of files: as a prompt sends one, and as the log and documents refer to one. */
import { z } from 'zod'
import { fileNameProblem, mediaTypePattern } from './files.ts'

const fileName = z.string().refine((name) => fileNameProblem(name) === null, {
  error: ({ input }) => fileNameProblem(String(input)) ?? 'is not valid',
})

const mediaType = z
  .string()
  .regex(mediaTypePattern, { error: 'must be a media type in lower case without parameters, such as image/png' })

/** A file of a sent prompt: its bytes as base64, with padding and without a `data:` prefix. */
export const filePartSchema = z.strictObject({
  type: z.literal('file'),
  mediaType,
  data: z.string().min(1, { error: 'is empty' }),
  name: fileName.optional(),
})

/** A file as the log and documents refer to it. `digest` is `sha256:` and 64 hexadecimal digits; `name` is null without one. */
export const fileReferenceSchema = z.object({
  digest: z.string(),
  mediaType: z.string(),
  bytes: z.number().int().nonnegative(),
  name: z.string().nullable(),
})
