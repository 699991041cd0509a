/** Parameters as an agent declares them and as a caller passes them. */
import { z } from 'zod'
import { parameterNamePattern } from './id.ts'
import { type ParameterValue, parameterTypes } from './parameter-type.ts'

/** One declared parameter. `sendToModel` unset means shown [R36]; `forbidModelGeneration` accepts a value only from a caller or author [R41]. */
export const parameterSchema = z.strictObject({
  name: z.string().regex(parameterNamePattern),
  type: z.enum(parameterTypes).default('string'),
  description: z.string().max(2000).default(''),
  sendToModel: z.boolean().default(true),
  policy: z.literal('forbidModelGeneration').nullable().default(null),
  secret: z.boolean().default(false),
})
export type Parameter = z.infer<typeof parameterSchema>

/**
 * What a caller passes for a parameter: a bare value, or a value that may be hidden from every model of the conversation
 * [R37, Rb16].
 */
export const givenParameterSchema = z.union([
  z.strictObject({ value: z.unknown(), sendToModel: z.boolean().default(true) }),
  z.unknown(),
])
/** A passed value in either form. */
export type GivenParameter = ParameterValue | { readonly value: ParameterValue; readonly sendToModel?: boolean }
