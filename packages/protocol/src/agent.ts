/** An agent as data: the one schema that code, files and the API share. */
import { z } from 'zod'
import { agentIdPattern, parameterNamePattern, toolNamePattern, userIdPattern } from './id.ts'
import { parameterSchema } from './parameter.ts'
import { historySchema } from './trim.ts'

const jsonSchema = z.record(z.string(), z.unknown())
const text = z.string().max(100_000)
const toolName = z.string().regex(toolNamePattern)
const agentId = z.string().regex(agentIdPattern)
const cap = (most: number) => z.number().int().min(1).max(most)

/** A typed read-only query on a named source [R49, Rb40–Rb42]. */
export const querySchema = z.strictObject({
  name: toolName,
  description: text.default(''),
  source: z.string().min(1).max(64),
  query: text.min(1),
  parametersSchema: jsonSchema.nullable().default(null),
  parametersSample: z.unknown().optional(),
  /** Runs by itself when a document begins, with bound values only; its rows stand as a call the model seems to have made [Rb40]. */
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

const temperature = z.number().min(0).max(2)

/** What a calling model may choose for one delegation: from these models, within these temperatures [F14, D22]. */
export const overridesSchema = z.strictObject({
  model: z.array(z.string().min(1).max(200)).max(50).default([]),
  temperature: z
    .tuple([temperature, temperature])
    .refine(([least, most]) => least <= most, 'the first must not be above the second')
    .nullable()
    .default(null),
})

/**
 * An edge to a sub-agent that is called as a tool [R02]: as a delegate, or wrapped with one `request` [K15]. `map` names the
 * parent's parameter for a child's, or `null` for none [E17]. Its model reads of what was said before its own delegations, none of
 * them, or them and its caller's document [C5]; its caller reads its last words, or with `collect: all` all of them [K20].
 */
export const subAgentEdgeSchema = z.strictObject({
  agent: agentId,
  description: text.default(''),
  style: z.enum(['delegate', 'agentTool']).default('delegate'),
  /** Whether the caller waits: always, never, or as its model chooses by an argument `blocking` [F14]. */
  blocking: z.enum(['always', 'never', 'model']).default('always'),
  history: z.enum(['agent', 'isolated', 'shared']).default('agent'),
  collect: z.enum(['final', 'all']).default('final'),
  overrides: overridesSchema.nullable().default(null),
  map: z.record(z.string().regex(parameterNamePattern), z.string().regex(parameterNamePattern).nullable()).default({}),
})
export type SubAgentEdge = z.infer<typeof subAgentEdgeSchema>

/** What an agent may spend; a ceiling of the configuration is only ever lowered. */
export const limitsSchema = z.strictObject({
  /** Model calls with tools in one activation of this agent. */
  maxIterations: cap(1000).default(16),
  /** Model calls with tools in the whole tree for one user message; read on the root [R17]. */
  maxModelIterationsPerCall: cap(100_000).nullable().default(null),
  maxDepth: cap(1000).default(8),
  maxModelCalls: cap(100_000).default(500),
  maxTokens: cap(1_000_000_000).nullable().default(null),
  /** US dollars; calls of a model whose price is not known count as nothing. */
  maxCostUsd: z.number().positive().max(1_000_000).nullable().default(null),
  maxSeconds: cap(31_536_000).nullable().default(null),
  maxParallel: cap(1000).default(8),
})
export type Limits = z.infer<typeof limitsSchema>

/** The tool mode of an agent's model calls [T12]: `force` holds until the model has called a tool once. */
export const toolModes = ['auto', 'force', 'none'] as const
export type ToolMode = (typeof toolModes)[number]

/** How much a model may think before it answers, where it can be told [F08]. */
export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high'] as const
export type ReasoningEffort = (typeof reasoningEfforts)[number]

const principalName = z.string().regex(/^(?:(?:user|key|role):[^\s]{1,200}|@[^\s@]{1,100}@[^\s@]{1,255})$/)

/**
 * Who may start a conversation, a run or a direct run with the agent as its root: ids of principals and `role:<name>`; null for
 * everybody of the database. Others hear that it is not there. Delegation is decided by edges alone, never by this [E10].
 */
export const accessSchema = z.strictObject({ call: z.array(principalName).max(1000).nullable().default(null) })

/** A person whom an agent may ask by name [T22]: the principal `user:<id>` answers. Models and people read `name`, by default the id. */
export const userSchema = z.strictObject({
  id: z.string().regex(userIdPattern),
  name: z.string().min(1).max(200).optional(),
  roles: z.array(z.string().min(1).max(100)).max(50).default([]),
  /** How the person hears of it: `inbox` is the list of open interruptions. */
  channel: z.enum(['inbox']).default('inbox'),
})
export type User = z.infer<typeof userSchema>

/** A whole agent. Unknown keys are refused, also those of features that are not built yet. */
export const agentSchema = z.strictObject({
  id: agentId,
  name: z.string().min(1).max(200).optional(),
  description: text.default(''),
  model: z.string().min(1).max(200),
  instructions: text,
  /** Which agents may list it: null for any [F03]. */
  parents: z.array(agentId).max(1000).nullable().default(null),
  access: accessSchema.prefault({}),
  parameters: z.array(parameterSchema).max(100).default([]),
  queries: z.array(querySchema).max(200).default([]),
  actions: z.array(actionSchema).max(200).default([]),
  subAgents: z.array(subAgentEdgeSchema).max(200).default([]),
  tools: z.array(toolName).max(200).default([]),
  /** The people whom its model may ask [T22, T25]. */
  users: z.array(userSchema).max(200).default([]),
  /** Names of its tools, of any kind, that a person must release one call at a time [Fb06]. */
  approvals: z.array(toolName).max(1000).default([]),
  /** Whether its model may ask questions with choices [F29]. */
  questions: z.boolean().default(false),
  /** How long whatever it asks waits for an answer; null for ever. */
  interruptionExpiresInSeconds: z.number().int().min(1).max(315_360_000).nullable().default(null),
  toolMode: z.enum(toolModes).default('auto'),
  temperature: temperature.nullable().default(null),
  reasoningEffort: z.enum(reasoningEfforts).nullable().default(null),
  outputSchema: jsonSchema.nullable().default(null),
  outputSample: z.unknown().optional(),
  /** Null: the whole history is sent, however long [Rb39]. */
  history: historySchema.nullable().default(null),
  limits: limitsSchema.prefault({}),
  onExhausted: z.enum(['answer', 'error']).default('answer'),
  disabled: z.boolean().default(false),
})
/** A checked agent: every default filled in. */
export type AgentData = z.infer<typeof agentSchema>
/** An agent as somebody writes it: only `id`, `model` and `instructions` are needed. */
export type AgentInput = z.input<typeof agentSchema>

/** One finding of a check. Errors refuse a save; warnings are kept with the agent. */
export const findingSchema = z.object({
  code: z.string(),
  severity: z.enum(['error', 'warning']),
  agent: z.string(),
  path: z.string(),
  detail: z.string(),
  hint: z.string(),
})
export type Finding = z.infer<typeof findingSchema>

/** Where a parameter of an agent comes from on one path, and what its model may do with it. */
export const matrixRowSchema = z.object({
  path: z.string(),
  agent: z.string(),
  parameter: z.string(),
  boundFrom: z.enum(['parent', 'conversation', 'model', 'missing']),
  shown: z.boolean(),
  mayGenerate: z.boolean(),
})
export type MatrixRow = z.infer<typeof matrixRowSchema>

/** What `check` finds out before anything runs. */
export const checkReportSchema = z.object({
  errors: z.array(findingSchema),
  warnings: z.array(findingSchema),
  matrix: z.array(matrixRowSchema),
  handlers: z.array(z.string()),
})
export type CheckReport = z.infer<typeof checkReportSchema>

/** An agent as it is stored: its data, its revision, and what the check said. */
export const storedAgentSchema = agentSchema.extend({
  revision: z.number().int(),
  source: z.enum(['code', 'data']),
  warnings: z.array(findingSchema),
})
export type StoredAgent = z.infer<typeof storedAgentSchema>
