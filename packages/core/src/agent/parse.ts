/** From whatever somebody sent to a checked agent, or to the first thing that is wrong with it. */
import { type AgentData, type ErrorCode, WitanError } from '@witan/protocol'
import { reservedParameterNames } from '@witan/protocol/schemas'
import { agentSchema } from '@witan/protocol/schemas'
import { z } from 'zod'
import { nearest } from './nearest.ts'

/** Parses an agent; defaults are filled in and the value is frozen. Throws `UNKNOWN_KEY`, `ID_INVALID`, `LIMIT_INVALID`, `PARAM_NAME_RESERVED` or `AGENT_INVALID`. */
export function parseAgent(input: unknown): AgentData {
  refuseReserved(input)
  const parsed = agentSchema.safeParse(input)
  if (!parsed.success) throw toError(parsed.error, input)
  const agent = parsed.data
  const actions = agent.actions.map(withSchema)
  const queries = agent.queries.map(withSchema)
  return freeze({ ...agent, actions, queries, outputSchema: agent.outputSchema ?? sampleSchema(agent.outputSample) })
}

function withSchema<Tool extends { parametersSchema: Record<string, unknown> | null; parametersSample?: unknown }>(
  tool: Tool,
): Tool {
  return { ...tool, parametersSchema: tool.parametersSchema ?? sampleSchema(tool.parametersSample) }
}

/** The JSON Schema of a sample; a schema wins over a sample [Rb41]. */
export function sampleSchema(sample: unknown): Record<string, unknown> | null {
  if (sample === undefined) return null
  if (Array.isArray(sample)) return { type: 'array', items: sampleSchema(sample[0]) ?? {} }
  if (typeof sample !== 'object' || sample === null) return { type: sample === null ? 'null' : typeof sample }
  const properties: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(sample)) properties[name] = sampleSchema(value) ?? {}
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

function refuseReserved(input: unknown): void {
  const parameters = (input as { parameters?: unknown } | null)?.parameters
  if (!Array.isArray(parameters)) return
  for (const [index, parameter] of parameters.entries()) {
    const name = (parameter as { name?: unknown } | null)?.name
    if (typeof name === 'string' && reservedParameterNames.has(name)) {
      throw new WitanError('PARAM_NAME_RESERVED', `Parameter name \`${name}\` is reserved.`, {
        path: `parameters.${index}.name`,
        hint: 'Names that mean something in a tool call or to JavaScript cannot be parameters; choose another.',
      })
    }
  }
}

function toError(error: z.ZodError, input: unknown): WitanError {
  const issue = error.issues[0] as z.core.$ZodIssue
  const path = issue.path.join('.')
  const id = (input as { id?: unknown } | null)?.id
  const who = typeof id === 'string' ? `Agent \`${id.slice(0, 80)}\`` : 'The agent'
  if (issue.code === 'unrecognized_keys') return unknownKey(who, issue)
  if (path === 'id') {
    return new WitanError(
      'ID_INVALID',
      `${typeof id === 'string' ? `Agent id \`${id.slice(0, 80)}\`` : 'The agent id'}: use a-z, 0-9 and \`-\`, at most 64.`,
      { path, hint: 'Ids appear in paths and as tool names.' },
    )
  }
  if (path.startsWith('limits.'))
    return new WitanError('LIMIT_INVALID', `${path} ${bounds(issue)}.`, {
      path,
      hint: 'Leave a limit out to take its default.',
    })
  if (path.startsWith('history.trim.') && issue.code !== 'invalid_union') return badTrim(path, issue)
  const code: ErrorCode = 'AGENT_INVALID'
  if (issue.code === 'invalid_format' && issue.path.length > 0) return badName(who, issue, input)
  return new WitanError(code, `${who}: \`${path || 'body'}\` is not valid: ${issue.message}.`, {
    path,
    hint: 'The OpenAPI document at /api/v1/openapi.json has the schema.',
  })
}

function badTrim(path: string, issue: z.core.$ZodIssue): WitanError {
  const what = issue.code === 'custom' ? issue.message : 'must be a positive integer within its range'
  return new WitanError('LIMIT_INVALID', `${path} ${what}.`, {
    path,
    hint: 'Leave it out to take its default; what remains after a trim cannot be more than what starts it.',
  })
}

/** A name that providers, queries or paths would trip over; names are no secrets and are shown. */
function badName(who: string, issue: z.core.$ZodIssue, input: unknown): WitanError {
  const path = issue.path.join('.')
  const name = issue.path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], input)
  return new WitanError(
    'AGENT_INVALID',
    `${who}: \`${path}\` is \`${String(name).slice(0, 80)}\`, which is no valid name there.`,
    {
      path,
      hint: 'Tools: letters, digits, `_` and `-`. Agents: a-z, 0-9 and `-`. Parameters: letters, digits and `_`. At most 64 characters. In `access`: `user:anna`, `role:staff`, `key:ab12`, `@a@b.example`.',
    },
  )
}

/** The allowed range of a limit, from the schema itself. */
function bounds(issue: z.core.$ZodIssue): string {
  const node = issue.path
    .slice(1)
    .reduce<unknown>(
      (at, key) => (at as { properties?: Record<string, unknown> })?.properties?.[String(key)],
      limitsJson(),
    )
  const one = (node as { anyOf?: unknown[] })?.anyOf?.[0] ?? node
  const { minimum, maximum } = (one ?? {}) as { minimum?: number; maximum?: number }
  return minimum === undefined ? issue.message : `must be an integer ${minimum}–${maximum}`
}

let limits: unknown
function limitsJson(): unknown {
  limits ??= z.toJSONSchema(agentSchema, { io: 'input', unrepresentable: 'any' }).properties?.['limits']
  return limits
}

function unknownKey(who: string, issue: z.core.$ZodIssueUnrecognizedKeys): WitanError {
  const key = issue.keys[0] ?? ''
  const path = [...issue.path, key].join('.')
  const known = knownKeys(issue.path)
  const near = nearest(key, known)
  const nearby = near === null ? '' : `, nearest is \`${near}\``
  return new WitanError('UNKNOWN_KEY', `${who}: unknown key \`${path.slice(0, 200)}\`${nearby}.`, {
    path,
    hint:
      near === null
        ? `Known keys: ${known.join(', ')}. A key of a feature that this version does not have is refused too.`
        : `Did you mean \`${near}\`?`,
  })
}

function knownKeys(path: readonly PropertyKey[]): string[] {
  let node: unknown = z.toJSONSchema(agentSchema, { io: 'input', unrepresentable: 'any' })
  for (const step of path) {
    const at = node as { properties?: Record<string, unknown>; items?: unknown }
    const next = typeof step === 'number' ? at.items : at.properties?.[String(step)]
    node = (next as { anyOf?: unknown[] } | undefined)?.anyOf?.[0] ?? next
  }
  return Object.keys((node as { properties?: object } | undefined)?.properties ?? {})
}

function freeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const inner of Object.values(value)) freeze(inner)
  return value
}
