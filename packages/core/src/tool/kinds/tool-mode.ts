/** `end_tool_mode`: a model that must call tools says that it needs none any more [Tb09]. */
import { result } from '../outcome.ts'
import type { ImmediateTool, ToolSource } from '../tool.ts'

const name = 'end_tool_mode'
const description = 'Call it once you need no more tools: after it you may answer in text.'
const parameters = Object.freeze({ type: 'object', properties: {}, additionalProperties: false })

const tool: ImmediateTool = Object.freeze({
  name,
  kind: 'toolMode',
  offer: { name, description, parameters },
  isExtra: true,
  notice: null,
  effect: 'none',
  bound: [],
  immediate: true,
  check: (args) => ({ ok: true, arguments: args }),
  invoke: (_, { agent }) => {
    const detail = `The model of \`${agent.id}\` ended its tool mode \`force\`.`
    return { ...result({ status: 'ok' }), endsToolMode: { code: 'TOOL_MODE_ENDED', detail } }
  },
} satisfies ImmediateTool)

/** `end_tool_mode`, for a call that must call tools until it says that it needs none any more. */
export const toolModeTools: ToolSource = ({ agent, toolMode }) =>
  agent.endToolMode && toolMode === 'force' ? [tool] : []
