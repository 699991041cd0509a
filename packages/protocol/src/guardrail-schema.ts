/** Guardrails as data: what is checked of the messages and the answers of an agent. */
import { z } from 'zod'
import { agentId, jsonSchema } from './agent-fields.ts'

/** What a hit does: the call fails, or an answer is asked for once more; matches are replaced; or there is only a notice. */
export const guardrailActions = ['refuse', 'redact', 'flag'] as const
export type GuardrailAction = (typeof guardrailActions)[number]

/** Where a check stands: before the agent reads something, or before anybody reads what it says. */
export const guardrailSides = ['input', 'output'] as const
export type GuardrailSide = (typeof guardrailSides)[number]

const name = z.string().regex(/^[A-Za-z0-9_. -]{1,64}$/, {
  error: 'expected a name: letters, digits, `-`, `_`, `.` and spaces, at most 64',
})
/** What a model or a person reads of a refusal; empty: `guardrail <name> refused`. */
const message = z.string().max(1_000).default('')

const patternCheck = z.strictObject({
  name,
  kind: z.literal('pattern'),
  /** A regular expression of RE2: searched anywhere in the text, in linear time. */
  pattern: z.string().min(1).max(1_000),
  action: z.enum(guardrailActions).default('refuse'),
  message,
})

const schemaCheck = z.strictObject({
  name,
  kind: z.literal('schema'),
  /** What `output` must fit, beside the output schema of the agent. */
  schema: jsonSchema,
  action: z.enum(['refuse', 'flag']).default('refuse'),
  message,
})

const agentCheck = z.strictObject({
  name,
  kind: z.literal('agent'),
  /** It reads `{"text"}` as JSON, and answers `{"allow": boolean, "reason": string}`. One that fails refuses. */
  agent: agentId,
  action: z.enum(['refuse', 'flag']).default('refuse'),
  message,
})

/** One check. */
export type Guardrail = z.infer<typeof patternCheck> | z.infer<typeof schemaCheck> | z.infer<typeof agentCheck>

const mostChecks = 20

function listOf<Check extends z.ZodType<{ readonly name: string }>>(check: Check) {
  return z
    .array(check)
    .max(mostChecks)
    .default([])
    .refine((all) => new Set(all.map((one) => one.name)).size === all.length, { error: 'a name is there twice' })
}

/** The checks of an agent. */
export const guardrailsSchema = z.strictObject({
  /** Of each message that begins or joins its work. */
  input: listOf(z.discriminatedUnion('kind', [patternCheck, agentCheck])),
  /** Of what it says. */
  output: listOf(z.discriminatedUnion('kind', [patternCheck, schemaCheck, agentCheck])),
})
