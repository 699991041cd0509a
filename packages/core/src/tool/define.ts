/** Function tools as code: a name, a schema, and a function. */
import { WitanError, toolNamePattern } from '@witan/protocol'
import { z } from 'zod'
import type { ArgumentCheck, Effect } from './tool.ts'

/** Any Standard Schema: zod, valibot, arktype and others. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}
type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
      }[]
    }

/** What a function tool may know of its call. */
export interface FunctionContext {
  /** Unique per call: the idempotency key of a `keyed` effect. */
  readonly callId: string
  readonly conversationId: string
  readonly agent: string
  readonly agentPath: string
  /** The bound values of the parameters that the agent declares, hidden ones included. Lists are frozen: copy one to change it. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** Aborts at cancel and at the time-out. */
  readonly signal: AbortSignal
}

/** A tool as it is defined. */
export interface FunctionToolDefinition<Arguments> {
  readonly name: string
  readonly description: string
  /** What the model must give: a zod schema, or another Standard Schema together with `jsonSchema`. */
  readonly parameters: StandardSchema<Arguments>
  /** The JSON Schema that the model sees; made from a zod schema by itself. */
  readonly jsonSchema?: Readonly<Record<string, unknown>>
  /** Default `once`: never repeated after a crash [D1]. */
  readonly effect?: Effect
  /** Default 60,000. */
  readonly timeoutMs?: number
  execute(args: Arguments, context: FunctionContext): unknown
}

/** A defined function tool. */
export interface FunctionTool {
  readonly name: string
  readonly description: string
  readonly jsonSchema: Readonly<Record<string, unknown>>
  readonly effect: Effect
  readonly timeoutMs: number
  check(args: Readonly<Record<string, unknown>>): ArgumentCheck
  execute(args: unknown, context: FunctionContext): unknown
}

/** Defines a tool that runs in the process. Throws `ID_INVALID` for a name that providers refuse, `UNKNOWN_KEY` for an option that does not exist, `AGENT_INVALID` for what else cannot be right. */
export function defineTool<Arguments>(definition: FunctionToolDefinition<Arguments>): FunctionTool {
  if (!toolNamePattern.test(definition.name)) {
    throw new WitanError(
      'ID_INVALID',
      `Tool name \`${definition.name}\`: use letters, digits, \`_\` and \`-\`, at most 64.`,
      { path: 'name', hint: 'Providers refuse other names.' },
    )
  }
  refuseMisspelt(definition)
  const { name, description, effect = 'once', timeoutMs = 60_000, parameters } = definition
  return Object.freeze({
    name,
    description,
    effect,
    timeoutMs,
    jsonSchema: definition.jsonSchema ?? zodJsonSchema(name, parameters),
    check: (args: Readonly<Record<string, unknown>>) => checkWith(parameters, args),
    execute: (args: unknown, context: FunctionContext) => definition.execute(args as Arguments, context),
  })
}

const optionNames: readonly string[] = [
  'name',
  'description',
  'parameters',
  'jsonSchema',
  'effect',
  'timeoutMs',
  'execute',
] satisfies (keyof FunctionToolDefinition<unknown>)[]
const effects: readonly string[] = ['none', 'keyed', 'once'] satisfies Effect[]

/** A misspelt option would be taken for one left out, and a function that is missing be found out when a model calls it. */
function refuseMisspelt(
  given: Omit<FunctionToolDefinition<unknown>, 'execute' | 'parameters'> & {
    readonly execute: unknown
    readonly parameters: StandardSchema | undefined
  },
): void {
  const who = `Tool \`${given.name}\``
  for (const key of Object.keys(given)) {
    if (optionNames.includes(key)) continue
    const hint = `Known: ${optionNames.join(', ')}.`
    throw new WitanError('UNKNOWN_KEY', `${who}: \`${key}\` is no option of defineTool.`, { path: key, hint })
  }
  const wrong = (path: string, what: string, hint: string) =>
    new WitanError('AGENT_INVALID', `${who}: \`${path}\` ${what}.`, { path, hint })
  if (typeof given.execute !== 'function')
    throw wrong('execute', 'is not a function', 'Give the function that does it: `execute: ({ … }) => …`.')
  if (typeof given.description !== 'string')
    throw wrong('description', 'is missing', 'Say what it does: that is what a model decides by.')
  if (given.parameters?.['~standard'] === undefined)
    throw wrong('parameters', 'is not a schema', 'Give a zod schema, such as `z.object({})` for no arguments.')
  if (given.effect !== undefined && !effects.includes(given.effect))
    throw wrong('effect', 'is not an effect', `One of ${effects.join(', ')}.`)
}

function zodJsonSchema(name: string, schema: StandardSchema): Readonly<Record<string, unknown>> {
  if (schema['~standard'].vendor !== 'zod') {
    throw new WitanError(
      'AGENT_INVALID',
      `Tool \`${name}\`: give \`jsonSchema\` beside a schema of \`${schema['~standard'].vendor}\`.`,
      {
        path: 'jsonSchema',
        hint: 'Only zod schemas are turned into JSON Schema by themselves.',
      },
    )
  }
  const { $schema: _, ...json } = z.toJSONSchema(schema as unknown as z.ZodType, { io: 'input' })
  return Object.freeze(json)
}

function checkWith(schema: StandardSchema, args: Readonly<Record<string, unknown>>): ArgumentCheck {
  const checked = schema['~standard'].validate(args)
  if (checked instanceof Promise)
    return { ok: false, issues: ['this tool has an asynchronous schema, which cannot check arguments'] }
  if (checked.issues === undefined) return { ok: true, arguments: checked.value as Readonly<Record<string, unknown>> }
  return {
    ok: false,
    issues: checked.issues.map(({ message, path }) => {
      const where = (path ?? []).map((step) => String(typeof step === 'object' ? step.key : step)).join('.')
      return where === '' ? message : `\`${where}\`: ${message}`
    }),
  }
}
