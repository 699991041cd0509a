/** Parses input into a checked agent, or into the first problem with it. */
import { type AgentData, type ErrorCode, WitanError } from '@witan/protocol'
import { shownName } from '@witan/protocol/names'
import { agentSchema, maxJsonDepth, reservedParameterNames } from '@witan/protocol/schemas'
import { z } from 'zod'
import { freezing } from '../identity/frozen.ts'
import { type Pausable, runWithoutPause } from '../identity/pausable.ts'
import { readingOnce } from '../identity/read-once.ts'
import { definitionExcess, type FreeKeys, maxDefinitionValues, maxValuesInOne } from './definition-size.ts'
import { isReservedName } from './naming.ts'
import { nearest } from '../identity/nearest.ts'
import { readingAccess } from './parse-access.ts'
import { nameProblems } from './parse-names.ts'
import { plainDefinition } from './plain-definition.ts'
import { workflowProblems } from './parse-workflow.ts'

/**
 * Parses an agent, fills in the defaults and freezes the result. Throws `JSON_TOO_DEEP`, `UNKNOWN_KEY`, `ID_INVALID`,
 * `LIMIT_INVALID`, `PARAM_NAME_RESERVED` or `AGENT_INVALID`.
 */
export function parseAgent(input: unknown): AgentData {
  return runWithoutPause(parsingAgent(runWithoutPause(readingOnce(input))))
}

/** Parses an agent in pieces, so that a large one does not hold the process. */
export function* parsingAgent(input: unknown): Pausable<AgentData> {
  const [wrong] = [...(yield* excess(input)), ...reserved(input), ...ofItsKind(input)]
  if (wrong !== undefined) throw wrong
  yield
  const parsed = agentSchema.safeParse(input)
  yield
  if (!parsed.success) throw [...problemsOf(parsed.error, input, 1)][0] as WitanError
  for (const problem of nameProblems(parsed.data, whoIs(input))) throw problem
  yield
  return yield* complete(parsed.data)
}

/** The most problems that are reported for one agent. */
const mostProblems = 50

/** The problems with the form of an agent, each once, at most fifty; empty if `parseAgent` accepts it. */
export function* agentProblems(input: unknown): Pausable<readonly WitanError[]> {
  const large = yield* excess(input)
  if (large.length > 0) return large
  yield
  const parsed = agentSchema.safeParse(input)
  yield
  const wrong = parsed.success ? [] : problemsOf(parsed.error, input, mostProblems)
  const problems = [...reserved(input), ...ofItsKind(input), ...wrong]
  for (const problem of nameProblems(input, whoIs(input))) {
    if (problems.length >= mostProblems) break
    problems.push(problem)
  }
  if (parsed.success) problems.push(...(yield* readingAccess(parsed.data, whoIs(input))).problems)
  return problems.slice(0, mostProblems)
}

function* problemsOf(error: z.ZodError, input: unknown, most: number): Generator<WitanError> {
  let left = most
  for (const issue of error.issues) {
    if (left-- === 0) return
    if (issue.code !== 'unrecognized_keys') yield toError(issue, input)
    else for (const key of issue.keys.slice(0, most)) yield unknownKey(whoIs(input), issue, key)
  }
}

function* complete(parsed: AgentData): Pausable<AgentData> {
  const agent = yield* plainDefinition(parsed, whoIs(parsed))
  const outputSchema = agent.outputSchema ?? (yield* samplingSchema(agent.outputSample ?? undefined))
  const actions = yield* withSchemas(agent.actions)
  const queries = yield* withSchemas(agent.queries)
  const { access, demands, problems } = yield* readingAccess(agent, whoIs(parsed))
  for (const problem of problems) throw problem
  return yield* freezing({ ...agent, access, demands, actions, queries, outputSchema })
}

interface WithSchema {
  parametersSchema: Record<string, unknown> | null
  parametersSample?: unknown
}

function* withSchemas<Tool extends WithSchema>(tools: readonly Tool[]): Pausable<Tool[]> {
  const complete: Tool[] = []
  for (const tool of tools) {
    const parametersSchema = tool.parametersSchema ?? (yield* samplingSchema(tool.parametersSample ?? undefined))
    complete.push({ ...tool, parametersSchema })
  }
  return complete
}

/** The JSON Schema of a sample; a schema wins over a sample [Rb41]. In pieces. */
function* samplingSchema(sample: unknown): Pausable<Record<string, unknown> | null> {
  if (sample === undefined) return null
  if (Array.isArray(sample)) return { type: 'array', items: (yield* samplingSchema(sample[0])) ?? {} }
  if (typeof sample !== 'object' || sample === null) return { type: sample === null ? 'null' : typeof sample }
  yield
  const properties: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(sample)) properties[name] = (yield* samplingSchema(value)) ?? {}
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

/** Content of these keys is no agent's form: each may have as many values as JSON may. */
const freeKeys: FreeKeys = {
  outputSchema: true,
  outputSample: true,
  actions: ['parametersSchema', 'parametersSample'],
  queries: ['parametersSchema', 'parametersSample'],
  approvals: ['when'],
}

/** A value that nests too deep exhausts the stack of code that reads it, so nothing else in it is examined. */
function* excess(input: unknown): Pausable<WitanError[]> {
  const found = yield* definitionExcess(input, freeKeys, maxValuesInOne)
  if (found === null) return []
  if (found === 'depth') {
    const detail = `${whoIs(input)} is nested deeper than ${maxJsonDepth}, or contains itself.`
    return [new WitanError('JSON_TOO_DEEP', detail, { hint: 'Flatten the value.' })]
  }
  const detail = `${whoIs(input)} has more than ${maxDefinitionValues} values beside its schemas and samples, or ${maxValuesInOne} in one list.`
  return [
    new WitanError('AGENT_INVALID', detail, { path: '', hint: 'Shorten its lists, or make several agents of it.' }),
  ]
}

/** Reserved words: as names of parameters, as the id or name of an agent, and as a tool whose access a schema would drop. */
function reserved(input: unknown): WitanError[] {
  const { id, name, parameters } = (input ?? {}) as { id?: unknown; name?: unknown; parameters?: unknown }
  const found: WitanError[] = []
  for (const [path, word] of Object.entries({ id, name })) {
    if (typeof word !== 'string' || !isReservedName(word)) continue
    found.push(
      new WitanError(
        'ID_INVALID',
        `No agent can be called \`${shownName(word.slice(0, 80))}\`: the word is reserved.`,
        {
          path,
          hint: '`user`, `all` and the names of built-in tools mean something else; choose another.',
        },
      ),
    )
  }
  for (const [index, parameter] of (Array.isArray(parameters) ? parameters : []).entries()) {
    const word = (parameter as { name?: unknown } | null)?.name
    if (typeof word !== 'string' || !reservedParameterNames.has(word)) continue
    found.push(
      new WitanError('PARAM_NAME_RESERVED', `Parameter name \`${word}\` is reserved.`, {
        path: `parameters.${index}.name`,
        hint: 'Names that mean something in a tool call or to JavaScript cannot be parameters; choose another.',
      }),
    )
  }
  if (Object.hasOwn(Object(valueAt(['access', 'tools'], input)), '__proto__'))
    found.push(
      new WitanError('AGENT_INVALID', `${whoIs(input)}: no tool can be named \`__proto__\`.`, {
        path: 'access.tools.__proto__',
        hint: 'Remove it.',
      }),
    )
  const uses = valueAt(['knowledgeBases'], input)
  for (const [index, use] of (Array.isArray(uses) ? uses : []).entries()) {
    if (!Object.hasOwn(Object(valueAt(['filter'], use)), '__proto__')) continue
    const path = `knowledgeBases.${index}.filter.__proto__`
    found.push(
      new WitanError('AGENT_INVALID', `${whoIs(input)}: no attribute is named \`__proto__\`.`, {
        path,
        hint: 'Remove it.',
      }),
    )
  }
  return found
}

/** What an agent with a model needs, and what a workflow cannot have. */
function ofItsKind(input: unknown): WitanError[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return []
  return isWorkflow(input) ? workflowProblems(input) : missingParts(input)
}

function isWorkflow(input: object): input is { readonly workflow: object } {
  const { workflow } = input as { workflow?: unknown }
  return typeof workflow === 'object' && workflow !== null && !Array.isArray(workflow)
}

function missingParts(input: object): WitanError[] {
  return (['model', 'instructions'] as const).flatMap((key) => {
    const value = (input as Record<string, unknown>)[key]
    const what = value === undefined ? 'is missing: string expected' : 'is not valid: it names no model'
    if (value !== undefined && (key !== 'model' || value !== '')) return []
    const hint = 'Add it: an agent needs `id`, and either `model` and `instructions` or `workflow`.'
    return [new WitanError('AGENT_INVALID', `${whoIs(input)}: \`${key}\` ${what}.`, { path: key, hint })]
  })
}

function whoIs(input: unknown): string {
  const id = (input as { id?: unknown } | null)?.id
  return typeof id === 'string' ? `Agent \`${shownName(id.slice(0, 80))}\`` : 'The agent'
}

function toError(issue: z.core.$ZodIssue, input: unknown): WitanError {
  const path = issue.path.join('.')
  const id = (input as { id?: unknown } | null)?.id
  const who = whoIs(input)
  if (path === 'id') {
    return new WitanError(
      'ID_INVALID',
      `${typeof id === 'string' ? `Agent id \`${shownName(id.slice(0, 80))}\`` : 'The agent id'}: use a-z, 0-9 and \`-\`, at most 64.`,
      { path, hint: 'Ids appear in paths and as tool names.' },
    )
  }
  if (path.startsWith('limits.'))
    return new WitanError('LIMIT_INVALID', `${path} ${bounds(issue)}.`, {
      path,
      hint: 'Leave a limit out to take its default.',
    })
  if (path.startsWith('history.trim.') && isAboutNumber(issue)) return badTrim(path, issue)
  const code: ErrorCode = 'AGENT_INVALID'
  if (issue.code === 'invalid_format' && issue.path.length > 0) return badName(who, issue, input)
  const what = path === '' ? 'must be an object' : `\`${path}\` ${trouble(issue)}`
  return new WitanError(code, `${who}${path === '' ? '' : ':'} ${what}.`, { path, hint: nextStep(issue, input) })
}

/** How to fix it, if that can be said; otherwise where to find the schema. */
function nextStep(issue: z.core.$ZodIssue, input: unknown): string {
  const [key, ...below] = issue.path
  const value = valueAt(issue.path, input)
  if (isMissing(issue))
    return below.length === 0
      ? 'Add it: an agent needs `id`, and either `model` and `instructions` or `workflow`.'
      : 'Add it.'
  if (key === 'model') return 'Name one, such as `local/qwen3`. Only `defineAgent` accepts a live model.'
  if (key === 'subAgents' && below.length === 1 && typeof value === 'string')
    return `Write \`{ agent: ${JSON.stringify(value.slice(0, 80))} }\`.`
  if (isStandardSchema(value)) return 'Pass a JSON Schema; `z.toJSONSchema(…)` generates one from a zod schema.'
  return 'The OpenAPI document at /api/v1/openapi.json has the schema.'
}

function isStandardSchema(value: unknown): boolean {
  return typeof value === 'object' && value !== null && '~standard' in value
}

function isMissing(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'invalid_type' && issue.message.includes('received undefined')
}

function valueAt(path: readonly PropertyKey[], input: unknown): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | null | undefined)?.[key], input)
}

function trouble(issue: z.core.$ZodIssue): string {
  return isMissing(issue) && issue.code === 'invalid_type'
    ? `is missing: ${issue.expected} expected`
    : `is not valid: ${issue.message}`
}

/** True for numbers of a trim; its texts are reported like those of any other key. */
function isAboutNumber(issue: z.core.$ZodIssue): boolean {
  if (issue.code === 'custom') return true
  if (issue.code === 'invalid_type') return issue.expected === 'number' || issue.expected === 'int'
  return (issue.code === 'too_small' || issue.code === 'too_big') && issue.origin !== 'string'
}

function badTrim(path: string, issue: z.core.$ZodIssue): WitanError {
  const what = issue.code === 'custom' ? issue.message : 'must be a positive integer within its range'
  return new WitanError('LIMIT_INVALID', `${path} ${what}.`, {
    path,
    hint: 'Omit it for its default; the size after a trim cannot exceed the size that starts it.',
  })
}

/** A name that providers, queries or paths could not handle. Names are not secret, so the error shows it. */
function badName(who: string, issue: z.core.$ZodIssue, input: unknown): WitanError {
  const path = issue.path.join('.')
  const name = valueAt(issue.path, input)
  return new WitanError(
    'AGENT_INVALID',
    `${who}: \`${path}\` is \`${shownName(String(name).slice(0, 80))}\`, which is not a valid name there.`,
    {
      path,
      hint: 'Tools: letters, digits, `_` and `-`. Agents: a-z, 0-9 and `-`. Parameters: letters, digits and `_`. At most 64 characters. In `access` and `of`: `user:anna`, `role:staff`, `key:ab12`, `@a@b.example`, `@*@b.example`, `@*`, `anonymous`; beside an address `for:mailto:a@b.example`, `from:…`.',
    },
  )
}

/** The allowed range of a limit, from the schema itself. */
function bounds(issue: z.core.$ZodIssue): string {
  const node = issue.path
    .slice(1)
    .reduce<unknown>(
      (at, key) => (at as { properties?: Record<string, unknown> })?.properties?.[String(key)],
      agentJson().properties?.['limits'],
    )
  const one = (node as { anyOf?: unknown[] })?.anyOf?.[0] ?? node
  const { minimum, exclusiveMinimum, maximum } = (one ?? {}) as Record<string, number | undefined>
  if (exclusiveMinimum !== undefined) return `must be a number above ${exclusiveMinimum}, at most ${maximum}`
  return minimum === undefined ? issue.message : `must be an integer ${minimum}–${maximum}`
}

let json: z.core.JSONSchema.BaseSchema | undefined
/** The schema as JSON Schema, made once. */
function agentJson(): z.core.JSONSchema.BaseSchema {
  json ??= z.toJSONSchema(agentSchema, { io: 'input', unrepresentable: 'any' })
  return json
}

function unknownKey(who: string, issue: z.core.$ZodIssueUnrecognizedKeys, key: string): WitanError {
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
  let node: unknown = agentJson()
  for (const step of path) {
    const at = node as { properties?: Record<string, unknown>; items?: unknown }
    const next = typeof step === 'number' ? at.items : at.properties?.[String(step)]
    node = (next as { anyOf?: unknown[] } | undefined)?.anyOf?.[0] ?? next
  }
  const { oneOf = [node] } = (node ?? {}) as { oneOf?: unknown[] }
  return [
    ...new Set(oneOf.flatMap((one) => Object.keys((one as { properties?: object } | undefined)?.properties ?? {}))),
  ]
}
