/** Agents as code: a checked, frozen value. */
import type { AgentData, AgentInput } from '@witan/protocol'
import type { Model } from '../model/model.ts'
import type { FunctionTool } from '../tool/define.ts'
import { parseAgent } from './parse.ts'

/** An agent as code writes it: like data, but `model` may be a live model, `tools` may be live tools, and `outputSchema` any JSON Schema. */
export type AgentDefinition = Omit<AgentInput, 'model' | 'tools'> & {
  readonly model: string | Model
  readonly tools?: readonly (string | FunctionTool)[]
}

/** A defined agent: its data, and the live parts that the runtime registers under their names. */
export interface Agent {
  readonly data: AgentData
  readonly model: Model | null
  readonly tools: readonly FunctionTool[]
}

/** Checks and freezes an agent. Throws the first problem found, with code, path and hint. */
export function defineAgent(definition: AgentDefinition): Agent {
  const { model, tools = [], ...rest } = definition
  const live = tools.filter((tool) => typeof tool !== 'string')
  const data = parseAgent({
    ...rest,
    model: typeof model === 'string' ? model : model.id,
    tools: tools.map((tool) => (typeof tool === 'string' ? tool : tool.name)),
  })
  return Object.freeze({ data, model: typeof model === 'string' ? null : model, tools: Object.freeze(live) })
}
