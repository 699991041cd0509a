/** `exit_loop`: an agent in a loop says that the loop is done [K26, C26]. */
import { result } from '../outcome.ts'
import type { ImmediateTool, ToolSource } from '../tool.ts'

const name = 'exit_loop'
const description =
  'Call it once the work of the loop is done: no further round begins. The text that you write with it is the answer; without any, the answer before it is.'
const parameters = Object.freeze({ type: 'object', properties: {}, additionalProperties: false })

const tool: ImmediateTool = Object.freeze({
  name,
  kind: 'loop',
  offer: { name, description, parameters },
  notice: null,
  effect: 'none',
  misuse: 'TRANSFER_REFUSED',
  bound: [],
  immediate: true,
  isLast: true,
  check: (args) => ({ ok: true, arguments: args }),
  invoke: () => ({ ...result({ status: 'ok' }), exitsLoop: true }),
} satisfies ImmediateTool)

const tools: readonly ImmediateTool[] = [tool]

/** `exit_loop`, for the agents of a loop that may leave it. */
export const exitLoopTools: ToolSource = ({ agent, loop }) => {
  if (loop === null) return []
  return loop.exitBy === null || loop.exitBy.includes(agent.id) ? tools : []
}
