/** Defines agents in code: checked, frozen values. Also wraps an agent as a tool of another. */
import { type AgentData, type AgentInput, WitanError } from '@witan/protocol'
import { isModel, type Model } from '../model/model.ts'
import type { ApprovalPredicate } from '../tool/approval.ts'
import type { FunctionTool } from '../tool/define-tool.ts'
import { runWithoutPause } from '../identity/pausable.ts'
import { readingOnce } from '../identity/read-once.ts'
import { parseAgent } from './parse.ts'

type EdgeInput = NonNullable<AgentInput['subAgents']>[number]

type ApprovalInput = NonNullable<AgentInput['approvals']>[number]

/** A workflow as written in code: it has no model, and none of the keys that need one. */
type WorkflowDefinition = Pick<
  AgentInput,
  | 'id'
  | 'name'
  | 'description'
  | 'parents'
  | 'access'
  | 'parameters'
  | 'acceptTransfer'
  | 'limits'
  | 'onExhausted'
  | 'disabled'
> & { readonly workflow: NonNullable<AgentInput['workflow']>; readonly model?: never }

/**
 * An agent as written in code: like data, but `model` may be a live model, `tools` may be live tools, `outputSchema` any
 * JSON Schema, `when` of an approval a predicate, and wrapped agents may be listed among the tools and the sub-agents.
 */
export type AgentDefinition = Omit<
  AgentInput,
  'model' | 'instructions' | 'tools' | 'subAgents' | 'approvals' | 'workflow'
> & {
  readonly model: string | Model
  readonly instructions: string
  readonly workflow?: null
  readonly tools?: readonly (string | FunctionTool | AgentTool)[]
  readonly subAgents?: readonly (EdgeInput | AgentTool)[]
  readonly approvals?: readonly (ApprovalInput | { readonly tool: string; readonly when: ApprovalPredicate })[]
}

/** A defined agent: its data, and the live parts that the runtime registers under their names. */
export interface Agent {
  readonly data: AgentData
  readonly model: Model | null
  readonly tools: readonly FunctionTool[]
  /** The predicates of its approvals, by tool. */
  readonly predicates: ReadonlyMap<string, ApprovalPredicate>
  /** The agents that it wraps. A runtime that registers this agent registers them too. */
  readonly agents: readonly Agent[]
}

/** An agent wrapped as a tool: the agent, and the edge to it. */
export interface AgentTool {
  readonly wrapped: Agent
  readonly edge: EdgeInput
}

/** Checks and freezes an agent. Throws the first problem found, with code, path and hint. */
export function defineAgent(given: AgentDefinition | WorkflowDefinition): Agent {
  const definition = { ...given }
  if (definition.workflow !== undefined && definition.workflow !== null) return defineWorkflow(definition as object)
  return defineModelAgent(definition as AgentDefinition)
}

function defineWorkflow(definition: object): Agent {
  const data = parseAgent(definition)
  return Object.freeze({ data, model: null, tools: nothing, predicates: new Map(), agents: nothing })
}

const nothing: readonly never[] = Object.freeze([])

function defineModelAgent(definition: AgentDefinition): Agent {
  const { model, tools: toolsGiven = [], subAgents: edgesGiven = [], approvals: written = [], ...rest } = definition
  const [tools, subAgents] = [[...toolsGiven], [...edgesGiven]]
  const approvals = written.map((one) => (typeof one === 'object' && one !== null ? { ...one } : one))
  refuseNoModel(definition)
  const wrapped = [...subAgents, ...tools].filter(isWrapped)
  const named = tools.filter((tool) => !isWrapped(tool)) as readonly (string | FunctionTool)[]
  const data = parseAgent({
    ...rest,
    model: typeof model === 'string' ? model : model?.id,
    tools: named.map((tool) => (typeof tool === 'string' ? tool : tool.name)),
    subAgents: [...subAgents.filter((edge) => !isWrapped(edge)), ...wrapped.map(({ edge }) => edge)],
    approvals: approvals.map((one) => (isPredicate(one) ? { ...one, when: 'code' } : one)),
  })
  return Object.freeze({
    data,
    model: typeof model === 'string' ? null : model,
    tools: Object.freeze(named.filter((tool) => typeof tool !== 'string')),
    predicates: predicatesOf(data.id, approvals),
    agents: Object.freeze(wrapped.map((one) => one.wrapped)),
  })
}

type ApprovalOfCode = NonNullable<AgentDefinition['approvals']>[number]

function isPredicate(
  approval: ApprovalOfCode,
): approval is { readonly tool: string; readonly when: ApprovalPredicate } {
  return typeof approval === 'object' && approval !== null && typeof approval.when === 'function'
}

function predicatesOf(id: string, approvals: readonly ApprovalOfCode[]): ReadonlyMap<string, ApprovalPredicate> {
  const predicates = new Map<string, ApprovalPredicate>()
  for (const [index, approval] of approvals.entries()) {
    if (!isPredicate(approval)) continue
    const { tool, when } = approval
    const path = `approvals.${index}`
    const wrong = (detail: string, hint: string) =>
      new WitanError('AGENT_INVALID', `Agent \`${id}\`: ${detail}`, { path, hint })
    if (predicates.has(tool))
      throw wrong(`\`${tool}\` has two predicates for its approval.`, 'Combine them into one predicate.')
    if (when.constructor.name === 'AsyncFunction')
      throw wrong(
        `the predicate of \`${tool}\` is asynchronous.`,
        'Decide from the arguments alone, and return true or false.',
      )
    predicates.set(tool, when)
  }
  return predicates
}

/** A model without an id cannot be found, and an error could not name it. */
function refuseNoModel({ id, model }: { readonly id?: unknown; readonly model?: unknown }): void {
  if (model === undefined || typeof model === 'string' || isModel(model)) return
  throw new WitanError('AGENT_INVALID', `Agent \`${String(id).slice(0, 80)}\`: \`model\` is not a model.`, {
    path: 'model',
    hint: 'Pass a name such as `local/qwen3`, or a live model: `openaiCompatible(…)`, `aiSdkModel(…)`, or an object with `id` and `stream`.',
  })
}

/**
 * Wraps an agent as a tool that takes one `request` and returns `{ text }`, with `error` after a failure: an edge with
 * style `agentTool` [K15–K17]. `description` is shown to this caller only; its default is the agent's own [K16].
 */
export function agentTool(agent: Agent, options: Omit<EdgeInput, 'agent' | 'style'> = {}): AgentTool {
  return Object.freeze({
    wrapped: agent,
    edge: Object.freeze({ ...options, agent: agent.data.id, style: 'agentTool' }),
  })
}

/** All agents passed to a runtime and the agents that they wrap, each once. Those that are data are copied. */
export function withWrapped(agents: readonly (Agent | object)[]): readonly (Agent | object)[] {
  const all = new Set([...new Set(agents)].map((one) => ('data' in one ? one : runWithoutPause(readingOnce(one)))))
  for (const agent of all) for (const one of 'agents' in agent ? (agent as Agent).agents : []) all.add(one)
  return [...all]
}

function isWrapped(part: string | FunctionTool | EdgeInput | AgentTool): part is AgentTool {
  return typeof part === 'object' && 'wrapped' in part
}
