/** Agents as code: a checked, frozen value, and one of them wrapped as a tool of another. */
import { type AgentData, type AgentInput, WitanError } from '@witan/protocol'
import { isModel, type Model } from '../model/model.ts'
import type { FunctionTool } from '../tool/define.ts'
import { parseAgent } from './parse.ts'

type EdgeInput = NonNullable<AgentInput['subAgents']>[number]

/**
 * An agent as code writes it: like data, but `model` may be a live model, `tools` may be live tools, `outputSchema` any JSON
 * Schema, and wrapped agents may stand among the tools and the sub-agents.
 */
export type AgentDefinition = Omit<AgentInput, 'model' | 'tools' | 'subAgents'> & {
  readonly model: string | Model
  readonly tools?: readonly (string | FunctionTool | AgentTool)[]
  readonly subAgents?: readonly (EdgeInput | AgentTool)[]
}

/** A defined agent: its data, and the live parts that the runtime registers under their names. */
export interface Agent {
  readonly data: AgentData
  readonly model: Model | null
  readonly tools: readonly FunctionTool[]
  /** The agents that it wraps: a runtime that gets this agent gets them too. */
  readonly agents: readonly Agent[]
}

/** An agent wrapped as a tool: the edge, and the agent that it leads to. */
export interface AgentTool {
  readonly wrapped: Agent
  readonly edge: EdgeInput
}

/** Checks and freezes an agent. Throws the first problem found, with code, path and hint. */
export function defineAgent(definition: AgentDefinition): Agent {
  const { model, tools = [], subAgents = [], ...rest } = definition
  refuseNoModel(definition)
  const wrapped = [...subAgents, ...tools].filter(isWrapped)
  const named = tools.filter((tool) => !isWrapped(tool)) as readonly (string | FunctionTool)[]
  const data = parseAgent({
    ...rest,
    model: typeof model === 'string' ? model : model?.id,
    tools: named.map((tool) => (typeof tool === 'string' ? tool : tool.name)),
    subAgents: [...subAgents.filter((edge) => !isWrapped(edge)), ...wrapped.map(({ edge }) => edge)],
  })
  return Object.freeze({
    data,
    model: typeof model === 'string' ? null : model,
    tools: Object.freeze(named.filter((tool) => typeof tool !== 'string')),
    agents: Object.freeze(wrapped.map((one) => one.wrapped)),
  })
}

/** Whatever has no name is no model, and a runtime could find neither it nor what it should have been. */
function refuseNoModel({ id, model }: { readonly id?: unknown; readonly model?: unknown }): void {
  if (model === undefined || typeof model === 'string' || isModel(model)) return
  throw new WitanError('AGENT_INVALID', `Agent \`${String(id).slice(0, 80)}\`: \`model\` is not a model.`, {
    path: 'model',
    hint: 'Give a name such as `local/qwen3`, or a live model: `openaiCompatible(…)`, `aiSdkModel(…)`, or an object with `id` and `stream`.',
  })
}

/**
 * Wraps an agent as a tool that takes one `request` and gives `{ text }`, with `error` where something went wrong: an edge with
 * style `agentTool` [K15–K17]. `description` says what it is for to this caller only; without it the agent's own stands [K16].
 */
export function agentTool(agent: Agent, options: Omit<EdgeInput, 'agent' | 'style'> = {}): AgentTool {
  return Object.freeze({
    wrapped: agent,
    edge: Object.freeze({ ...options, agent: agent.data.id, style: 'agentTool' }),
  })
}

/** All agents that a runtime is given, with the ones they wrap, each once. */
export function withWrapped(agents: readonly (Agent | object)[]): readonly (Agent | object)[] {
  const all = new Set(agents)
  for (const agent of all) for (const one of 'agents' in agent ? (agent as Agent).agents : []) all.add(one)
  return [...all]
}

function isWrapped(part: string | FunctionTool | EdgeInput | AgentTool): part is AgentTool {
  return typeof part === 'object' && 'wrapped' in part
}
