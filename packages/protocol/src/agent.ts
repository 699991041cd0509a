/** An agent as data: the one schema that code, files and the API share. */
import { z } from 'zod'
import { agentId, hookName, jsonSchema, nameMap, temperature, text, toolName } from './agent-fields.ts'
import { demandShape } from './demand-shape.ts'
import { remoteSchema, speaksSchema, subAgentEdgeSchema, transferSchema } from './edge-schema.ts'
import { guardrailsSchema } from './guardrail-schema.ts'
import { userIdPattern } from './id.ts'
import { mcpUseSchema } from './mcp-schema.ts'
import { memorySettingsSchema } from './memory-schema.ts'
import { knowledgeUseSchema } from './knowledge-schema.ts'
import { parameterSchema } from './parameter.ts'
import { storedFields } from './stored.ts'
import { historySchema } from './trim.ts'

const cap = (most: number) => z.number().int().min(1).max(most)

/** A typed read-only query on a named source [R49, Rb40–Rb42]. */
export const querySchema = z.strictObject({
  name: toolName,
  description: text.default(''),
  source: z.string().min(1).max(64),
  query: text.min(1),
  parametersSchema: jsonSchema.nullable().default(null),
  parametersSample: z.unknown().optional(),
  /**
   * Runs when a document begins, with bound values only. Its rows appear to the model as the result of a call of its own
   * [Rb40].
   */
  addToInitialContext: z.boolean().default(false),
  /** Whether the model may call it too. */
  allowModelQueries: z.boolean().default(true),
})
export type Query = z.infer<typeof querySchema>

/** A typed request to the client: the runtime never executes it [R25]. A schema wins over a sample [Rb41]. */
export const actionSchema = z.strictObject({
  name: toolName,
  description: text.default(''),
  parametersSchema: jsonSchema.nullable().default(null),
  parametersSample: z.unknown().optional(),
})
export type Action = z.infer<typeof actionSchema>

/** The most steps that the plan of any agent may have. */
export const mostSteps = 100

/** What an agent may spend. A limit can only lower the ceiling of the configuration. */
export const limitsSchema = z.strictObject({
  /** Model calls with tools in one activation of this agent. */
  maxIterations: cap(1000).default(16),
  /** Model calls with tools in the complete tree for one user message; read from the root [R17]. */
  maxModelIterationsPerCall: cap(100_000).nullable().default(null),
  maxDepth: cap(1000).default(8),
  maxModelCalls: cap(100_000).default(500),
  maxTokens: cap(1_000_000_000).nullable().default(null),
  /** US dollars. Calls of a model without a known price count as 0. */
  maxCostUsd: z.number().positive().max(1_000_000).nullable().default(null),
  maxSeconds: cap(31_536_000).nullable().default(null),
  maxParallel: cap(1000).default(8),
  /** Hand-overs that models make in one job; read from the root, for a task from the task's own agent. */
  maxTransfers: cap(1000).default(8),
  /** Steps of its plan [F08]. */
  maxPlanSteps: cap(mostSteps).default(20),
  /** Revisions of its plan in one activation. */
  maxPlanRevisions: cap(1000).default(30),
})

/**
 * How an agent's answers are criticised: by another agent, by `model`, or by its own model, and by these criteria. `onFail`: what a critique comes to that cannot be made or
 * used. `answer`: the answer stands.
 */
const reflectionSchema = z.strictObject({
  agent: agentId.nullable().default(null),
  model: z.string().min(1).max(200).nullable().default(null),
  criteria: z.string().max(4000).default(''),
  onFail: z.enum(['answer', 'error']).default('answer'),
})

/** The tool mode of an agent's model calls [T12]. `force` applies until the model has called a tool, or `end_tool_mode`. */
export const toolModes = ['auto', 'force', 'none'] as const
export type ToolMode = (typeof toolModes)[number]

/**
 * A step of a workflow: an agent's id, or the agent with settings. `map` and `history` are those of a sub-agent; `toolMode` null:
 * the agent's own.
 */
const workflowStepSchema = z.union(
  [
    agentId,
    z.strictObject({
      agent: agentId,
      map: nameMap.default({}),
      history: z.enum(['agent', 'isolated', 'shared']).default('agent'),
      toolMode: z.enum(toolModes).nullable().default(null),
    }),
  ],
  { error: 'expected the id of an agent, or { "agent": "its id", "map": {…}, "history": "agent", "toolMode": null }' },
)

/**
 * Agents that work in an order instead of a model's choice. `pass` says what a step reads below the workflow's input: the
 * latest answers of all earlier steps, that of the step before it, or nothing more. `onError` applies to `sequence` and
 * `loop`. `maxIterations` (rounds) and `exitBy` (the agents that may call `exit_loop`; null: all with a model) apply to `loop`.
 */
const workflowSchema = z.strictObject({
  kind: z.enum(['sequence', 'parallel', 'loop']),
  agents: z.array(workflowStepSchema).min(1).max(200),
  pass: z.enum(['all', 'previous', 'input']).default('all'),
  onError: z.enum(['stop', 'continue']).default('stop'),
  maxIterations: cap(100).default(5),
  exitBy: z.array(agentId).max(200).nullable().default(null),
})
export type Workflow = z.infer<typeof workflowSchema>

/** How a structured answer is requested: as the form of the final text, or by one forced call of `set_output` after it [Tb10]. */
const outputModes = ['response_format', 'tool'] as const
/** Keys of a chat completion that the adapter writes itself, from the agent's settings. */
const writtenKeys = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'response_format',
  'temperature',
  'reasoning_effort',
  'max_tokens',
  'max_completion_tokens',
]

/**
 * Settings of one provider, by its name, such as `anthropic` or `openai`. `openaiCompatible` addresses our own connections,
 * which send them unchanged. Everybody who can read the agent can read them, so they must not contain a key.
 */
export const providerOptionsSchema = z
  .record(z.string().min(1).max(64), z.record(z.string().min(1).max(200), z.unknown()))
  .superRefine(({ openaiCompatible = {} }, context) => {
    for (const key of Object.keys(openaiCompatible)) {
      if (!writtenKeys.includes(key)) continue
      const message = `the connection writes \`${key}\` itself; use the setting of the agent`
      context.addIssue({ code: 'custom', path: ['openaiCompatible', key], message })
    }
  })
export type ProviderOptions = z.infer<typeof providerOptionsSchema>

/** The maximum length of one reply, reasoning included. */
export const maxOutputTokensSchema = z.number().int().min(1).max(10_000_000)

/** How much a model may reason before it answers, if it has such a setting [F08]; from nothing on. */
export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high'] as const
export type ReasoningEffort = (typeof reasoningEfforts)[number]

const principalName = z
  .string()
  .regex(/^(?:(?:user|key|role):[^\s]{1,200}|@[^\s@]{1,100}@[^\s@]{1,255}|@\*|anonymous|(?:for|from):[^\s]{1,320})$/)

const accessEntries = z
  .array(
    z.union([principalName, z.array(principalName).min(1).max(100)], {
      error:
        'expected `user:anna`, `role:staff`, `key:ab12`, `@a@b.example`, `@*@b.example`, `@*` or `anonymous`, or a list of at least one of these, which must all hold; `for:` and `from:` with a URI stand in such a list beside an address',
    }),
  )
  .max(1000)

/**
 * Who may use the agent. One entry that holds is enough; an entry that is a list holds if all of its names do, with one piece of evidence. In a
 * list with an address, `for:<uri>` is whom the caller acts for, and `from:<uri>` with whom everything began [M24].
 *
 * `call`: the principals that may start a conversation, a run or a direct run with the agent as its root. Null: every principal of
 * the database (tenant), and nobody from outside. Others get the error for an unknown agent. Delegation does not ask it: edges decide
 * about that [E10].
 * `tools`: by the name of one of its tools, the principals in whose runs the agent may use the tool [C31].
 */
const accessSchema = z.strictObject({
  call: accessEntries.nullable().default(null),
  tools: z.record(toolName, accessEntries).optional(),
})
/**
 * A person whom an agent may ask by name [T22]; the principal `user:<id>` answers. Models and people see `name`, by default
 * the id.
 */
export const userSchema = z.strictObject({
  id: z.string().regex(userIdPattern),
  name: z.string().min(1).max(200).optional(),
  roles: z.array(z.string().min(1).max(100)).max(50).default([]),
  /** How the person is notified: `inbox` is the list of open interruptions. */
  channel: z.enum(['inbox']).default('inbox'),
})
export type User = z.infer<typeof userSchema>

/** A person by id, or any person in a role. */
const userEntrySchema = z.union([userSchema, z.strictObject({ role: z.string().min(1).max(100) })], {
  error: 'expected a person, such as { "id": "anna", "name": "Anna", "roles": ["buyer"] }, or { "role": "buyer" }',
})

/**
 * A tool of any kind whose calls wait for a person's approval [Fb06]: every call, or with `when` those whose arguments fit
 * a JSON Schema. `code` refers to a predicate in the program that defines the agent; a process without it asks for every
 * call.
 */
const approvalSchema = z.union(
  [z.strictObject({ tool: toolName, when: z.union([jsonSchema, z.literal('code')]) }), toolName],
  { error: 'expected the name of a tool, or { "tool": "its name", "when": a JSON Schema of its arguments }' },
)

/**
 * What an agent demands before its work, such as consent or a payment. It waits as an interruption `policy` until it is met; no model reads it.
 * Its caller on another server meets it if `of` admits that one, and so do the people who may answer here [C21].
 */
const demandSchema = z.strictObject({
  ...demandShape,
  of: accessEntries.default(['@*']),
  /** `call`: before each call of the agent; `conversation`: once, then it stays met in the conversation. */
  per: z.enum(['call', 'conversation']).default('call'),
})

const demandsSchema = z
  .array(demandSchema)
  .max(20)
  .refine((all) => new Set(all.map(({ kind, message }) => JSON.stringify([kind, message]))).size === all.length, {
    error: 'two demands with one kind and one message are the same',
  })

function hasEachOnce(bases: readonly z.infer<typeof knowledgeUseSchema>[]): boolean {
  return new Set(bases.map((one) => (typeof one === 'string' ? one : one.id))).size === bases.length
}

/** A complete agent. Unknown keys are refused, including those of features that are not built yet. */
export const agentSchema = z.strictObject({
  id: agentId,
  name: z.string().min(1).max(200).optional(),
  description: text.default(''),
  model: z.string().max(200).default(''),
  instructions: text.default(''),
  /** Which agents may list it: null for any [F03]. */
  parents: z.array(agentId).max(1000).nullable().default(null),
  access: accessSchema.prefault({}),
  /**
   * Where agents and people on other servers reach it: a local part, or whole; null: nowhere. It is stored whole, as `@local@domain`
   * [M01].
   */
  address: z.string().min(1).max(400).nullable().default(null),
  parameters: z.array(parameterSchema).max(100).default([]),
  queries: z.array(querySchema).max(200).default([]),
  actions: z.array(actionSchema).max(200).default([]),
  subAgents: z.array(subAgentEdgeSchema).max(200).default([]),
  /** The agents that its model may hand the conversation over to [K01]. */
  transfers: z.array(transferSchema).max(200).default([]),
  /** The protocols that it speaks with its peers [T16, T19]. */
  speaks: z.array(speaksSchema).max(200).default([]),
  /** The agents on other servers that its model may call [M18]. */
  remotes: z.array(remoteSchema).max(200).default([]),
  /** The knowledge bases that it searches; its sub-agents have their own [F02]. */
  knowledgeBases: z
    .array(knowledgeUseSchema)
    .max(50)
    .default([])
    .refine(hasEachOnce, { error: 'a base is there twice' }),
  /** Tools of MCP servers of the configuration, each server once. */
  mcp: z
    .array(mcpUseSchema)
    .max(50)
    .default([])
    .refine((uses) => new Set(uses.map(({ server }) => server)).size === uses.length, {
      error: 'a server is listed twice',
    }),
  /** What it remembers, and of whom; null: nothing. Its sub-agents have their own [F39]. */
  memory: memorySettingsSchema.nullable().default(null),
  /** True if its model keeps a plan of its work [F08]. */
  enablePlanning: z.boolean().default(false),
  /** True if each of its final answers is criticised once, and then given again where that finds something [F08]. */
  enableReflection: z.boolean().default(false),
  reflection: reflectionSchema.prefault({}),
  /** What is checked of the messages that it reads, and of what it says. */
  guardrails: guardrailsSchema.prefault({}),
  /** The hooks without which it may not run, by their names [F02]. */
  hooks: z
    .array(hookName)
    .max(20)
    .default([])
    .refine((names) => new Set(names).size === names.length, { error: 'a hook is there twice' }),
  /** What must be met before it begins to work [C21]. */
  demands: demandsSchema.default([]),
  /** `tree`: also every agent that the run's root reaches; in a delegated call, every agent that it reaches itself [C10]. */
  transferReach: z.enum(['edges', 'tree']).default('edges'),
  /** True: its model cannot hand over [K12]. */
  disableTransfer: z.boolean().default(false),
  /** False: no model can hand over to it. */
  acceptTransfer: z.boolean().default(true),
  /** Set for an agent without a model: it runs these agents in an order. */
  workflow: workflowSchema.nullable().default(null),
  tools: z.array(toolName).max(200).default([]),
  /** The people that its model may ask; `participants`: those who take part in the conversation [T22, T25]. */
  users: z.union([z.array(userEntrySchema).max(200), z.literal('participants')]).default([]),
  /** Set if its model knows people by other names: the beginning of these, such as `process owner` for `process-owner-0` [C36]. */
  anonymizeUsers: z.string().trim().min(1).max(60).nullable().default(null),
  /** Its tools that need a person's approval, call by call [Fb06]. */
  approvals: z.array(approvalSchema).max(1000).default([]),
  /** True if its model may ask questions with choices [F29]. */
  questions: z.boolean().default(false),
  /** True if its model may save and read artifacts [T31]. */
  artifacts: z.boolean().default(false),
  /** How long its interruptions wait for an answer; null: for ever. */
  interruptionExpiresInSeconds: z.number().int().min(1).max(315_360_000).nullable().default(null),
  toolMode: z.enum(toolModes).default('auto'),
  /** True: `force` applies until the model calls `end_tool_mode`, not only until its first tool call [Tb09]. */
  endToolMode: z.boolean().default(false),
  temperature: temperature.nullable().default(null),
  reasoningEffort: z.enum(reasoningEfforts).nullable().default(null),
  /** Whether people may read what its model reasoned; absent means no. No model ever reads it. */
  showReasoning: z.boolean().optional(),
  /** Absent: the connection's limit, or else the provider's. */
  maxOutputTokens: maxOutputTokensSchema.optional(),
  providerOptions: providerOptionsSchema.optional(),
  /** Models to try in this order if the agent's own is not available; absent and `[]` mean none. */
  fallbacks: z.array(z.string().min(1).max(200)).max(10).optional(),
  outputSchema: jsonSchema.nullable().default(null),
  outputSample: z.unknown().optional(),
  outputMode: z.enum(outputModes).default('response_format'),
  /** Null: the complete history is sent, however long [Rb39]. */
  history: historySchema.nullable().default(null),
  limits: limitsSchema.prefault({}),
  onExhausted: z.enum(['answer', 'error']).default('answer'),
  disabled: z.boolean().default(false),
})
/** A checked agent: every default filled in. */
export type AgentData = z.infer<typeof agentSchema>
/** An agent as written: only `id`, `model` and `instructions` are required. */
export type AgentInput = z.input<typeof agentSchema>

/** What runs an agent: a language model, or a script that calls none. */
const modelKinds = ['language', 'script'] as const
/**
 * An agent as stored: its data, its revision and the warnings of its check. `modelKind` is null if the server has no such
 * model.
 */
export const storedAgentSchema = agentSchema.extend({
  ...storedFields,
  modelKind: z.enum(modelKinds).nullable(),
})
export type StoredAgent = z.infer<typeof storedAgentSchema>

/** What somebody reads of an agent that they may call, but not change. */
export const agentViewSchema = agentSchema.pick({ id: true, name: true, description: true, parameters: true })
export type AgentView = z.infer<typeof agentViewSchema>
