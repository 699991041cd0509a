/** The edge to an agent that is wrapped as a plain tool: one request in, text and perhaps an error out [K15–K22]. */
import { type DelegationStyle, delegationTool, type FindAgent } from '../tool/delegation.ts'
import type { ToolSource } from '../tool/tool.ts'

const style: DelegationStyle = {
  task: { name: 'request', description: 'What is asked, complete in itself.' },
  // Nothing is added: whoever wraps an agent says what it is for [K16].
  describe: (edge, child) => edge.description || child.description,
  answer: ({ collect }) => ({ form: 'textAndError', collect }),
}

/** The wrapped agents of an agent as tools, named by their ids. Each call is a child of the caller: one budget, one cancel [K18]. */
export function agentTools(find: FindAgent): ToolSource {
  return (caller) =>
    caller.agent.subAgents
      .filter((edge) => edge.style === 'agentTool')
      .map((edge) => delegationTool(edge, caller, { style, find }))
}
