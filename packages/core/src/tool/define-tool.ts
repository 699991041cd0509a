/** Function tools as code: a name, a schema, and a function. */
import { toolNamePattern, WitanError } from '@witan/protocol'
import { isNumberAsText, numberAsText } from '@witan/protocol/digits'
import type { Artifact } from '@witan/protocol/entries'
import type { OutsideCaller } from '@witan/protocol/schemas'
import { z } from 'zod'
import type { ArtifactContent, ArtifactDraft } from './artifact.ts'
import type { DemandInput } from './demand.ts'
import type { QuestionInput } from './questions.ts'
import { refused } from './schema.ts'
import type { Principal } from '../identity/principal.ts'
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

/** What a function tool may know about its call. */
export interface FunctionContext {
  /** Unique per call: the idempotency key of a `keyed` effect. */
  readonly callId: string
  readonly conversationId: string
  readonly agent: string
  readonly agentPath: string
  /** Whom the run works for: the principal with which it began. Frozen [C31]. */
  readonly principal: Principal
  /**
   * Who called from another server: its address, the hop, and for whom it acts as its evidence proved, the immediate principal first; null in a
   * run of this server. So a tool can demand of callers alone what people here need not meet [C21, M23].
   */
  readonly caller: OutsideCaller | null
  /**
   * The bound values of the parameters that the agent declares, including hidden ones. Lists are frozen: copy a list to
   * change it.
   */
  readonly parameters: Readonly<Record<string, unknown>>
  /** Aborts at a cancel or time-out. */
  readonly signal: AbortSignal
  /**
   * Asks questions of anybody who may answer, or of the person `to`, and waits as long as necessary; nothing stays in
   * memory. After the answer, the call runs again from its beginning, and this returns the answer by question id. So ask
   * before you change anything, or save a checkpoint. Values that are scrubbed for the calling agent are taken out of all texts. Throws if
   * nobody answers in time or the question is cancelled; the call may catch that and continue.
   */
  ask(questions: readonly QuestionInput[], options?: { readonly to?: string }): Promise<Answers>
  /** Asks for approval of exactly what is shown, and waits as `ask` does. */
  approve(what: Readonly<Record<string, unknown>>, options?: { readonly to?: string }): Promise<Approval>
  /**
   * Demands something of whoever wants the effect of this call, such as consent or a payment, and waits as `ask` does: call it before you change
   * anything. Here the people who may answer read it, in a run that another server began its caller does; no model ever does. Returns the
   * resolution that was sent. The same demand is made once; another message, or another price in `data`, is another demand. Its texts are scrubbed as
   * those of `ask` are. Throws a
   * `TypeError` for a demand that cannot be made, and an error in neutral words if it is declined or not met in time [C21].
   */
  demand(demand: DemandInput): Promise<Readonly<Record<string, unknown>>>
  /** The resolution of this call's last demand that was met, when it runs again; null before, and without one. Data for the tool: no model reads it. */
  readonly resolution: Readonly<Record<string, unknown>> | null
  /** Runs other agents in the same tree, budget and log, and waits for them as `ask` does. */
  readonly agents: {
    /**
     * Runs an agent that lets this agent list it, or that no agent may list (`parents: []`) [F06]. Its parameters bind by
     * name; the message is scrubbed as texts of `ask` are. Throws if it does not exist, needs a value that nobody supplies, would go too deep, or fails.
     */
    run(id: string, message: string): Promise<AgentReply>
  }
  /** The artifacts of the conversation: files that agents make, with what each was made from. */
  readonly artifacts: {
    /**
     * Saves a file of at most 16 MiB, and resolves once it is stored. The same file in the same call is saved once, also if the
     * call runs again. Values that are scrubbed for the calling agent are taken out of text. Throws `ARTIFACT_TOO_LARGE`, and
     * `BODY_INVALID` for a name or media type that is not valid.
     */
    save(draft: ArtifactDraft): Promise<Artifact>
    /** Reads any artifact of the conversation. Later artifacts of the agent name it as an input. Throws `NOT_FOUND`. */
    read(id: string): Promise<ArtifactContent>
  }
  readonly checkpoint: {
    /** The last value that this call saved; undefined if none. */
    readonly value: unknown
    /**
     * Saves JSON of at most 16,000 characters for this call. The call can read it when it runs again: after an answer, and
     * after a crash, even if its effect is `once`. Resolves once the value is stored.
     */
    save(value: unknown): Promise<void>
  }
}

/** The answers to questions, by question id. */
export type Answers = Readonly<Record<string, { readonly options?: readonly string[]; readonly text?: string }>>

/** The result of an approval. */
export interface Approval {
  readonly approved: boolean
  readonly reason: string | null
}

/** An agent's answer: its final text, and its output if it has an output schema. */
export interface AgentReply {
  readonly text: string
  readonly output: unknown
}

/** The definition of a tool. */
export interface FunctionToolDefinition<Arguments> {
  readonly name: string
  readonly description: string
  /** What the model must supply: a zod schema, or another Standard Schema together with `jsonSchema`. */
  readonly parameters: StandardSchema<Arguments>
  /** The JSON Schema that the model sees; generated for a zod schema. */
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

/**
 * Defines a tool that runs in the process. Throws `ID_INVALID` for a name that providers refuse, `UNKNOWN_KEY` for an
 * unknown option, `AGENT_INVALID` for other mistakes.
 */
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

/**
 * Refuses unknown options and a missing function. Otherwise a misspelt option would be ignored, and a missing function
 * would fail only at its first call.
 */
function refuseMisspelt(
  definition: Omit<FunctionToolDefinition<unknown>, 'execute' | 'parameters'> & {
    readonly execute: unknown
    readonly parameters: StandardSchema | undefined
  },
): void {
  const who = `Tool \`${definition.name}\``
  for (const key of Object.keys(definition)) {
    if (optionNames.includes(key)) continue
    const hint = `Known: ${optionNames.join(', ')}.`
    throw new WitanError('UNKNOWN_KEY', `${who}: \`${key}\` is not an option of defineTool.`, { path: key, hint })
  }
  const wrong = (path: string, what: string, hint: string) =>
    new WitanError('AGENT_INVALID', `${who}: \`${path}\` ${what}.`, { path, hint })
  if (typeof definition.execute !== 'function')
    throw wrong('execute', 'is not a function', 'Pass a function: `execute: ({ … }) => …`.')
  if (typeof definition.description !== 'string')
    throw wrong('description', 'is missing', 'Describe what it does: a model decides by the description.')
  if (definition.parameters?.['~standard'] === undefined)
    throw wrong('parameters', 'is not a schema', 'Pass a zod schema, such as `z.object({})` for no arguments.')
  if (definition.effect !== undefined && !effects.includes(definition.effect))
    throw wrong('effect', 'is not an effect', `One of ${effects.join(', ')}.`)
}

function zodJsonSchema(name: string, schema: StandardSchema): Readonly<Record<string, unknown>> {
  if (schema['~standard'].vendor !== 'zod') {
    throw new WitanError(
      'AGENT_INVALID',
      `Tool \`${name}\`: pass \`jsonSchema\` with a schema of \`${schema['~standard'].vendor}\`.`,
      {
        path: 'jsonSchema',
        hint: 'Only zod schemas are converted to JSON Schema automatically.',
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
  const issues = checked.issues.map(({ message, path }) => {
    const steps = (path ?? []).map((step) => (typeof step === 'object' ? step.key : step))
    const value = steps.reduce<unknown>((at, step) => (at as Record<PropertyKey, unknown> | undefined)?.[step], args)
    const what = isNumberAsText(value) ? `${message}; it is ${numberAsText}` : message
    return steps.length === 0 ? what : `\`${steps.map(String).join('.')}\`: ${what}`
  })
  return refused(issues)
}
