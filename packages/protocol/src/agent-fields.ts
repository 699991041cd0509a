/** Fields that an agent and its edges share. */
import { z } from 'zod'
import { agentIdPattern, hookNamePattern, parameterNamePattern, toolNamePattern } from './id.ts'

/** A text of an agent, such as a description. */
export const text = z.string().max(100_000)
/** The name of a tool. */
export const toolName = z.string().regex(toolNamePattern)
/** The name of a hook. */
export const hookName = z.string().regex(hookNamePattern, {
  error: 'expected the name of a hook: lower-case letters, digits, `-` and `_`, at most 64',
})
/** A JSON Schema, which `check` reads. */
export const jsonSchema = z.record(z.string(), z.unknown())
/** The id of an agent. */
export const agentId = z.string().regex(agentIdPattern)
/** The temperature of a model. */
export const temperature = z.number().min(0).max(2)
/** The parent's parameter for a child's parameter, or null for none [E17]. */
export const nameMap = z.record(
  z.string().regex(parameterNamePattern),
  z.string().regex(parameterNamePattern).nullable(),
)
