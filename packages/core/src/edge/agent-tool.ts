/** The edge to an agent that is wrapped as a plain tool: takes one request, returns text and possibly an error [K15–K22]. */
import { type DelegationStyle, delegationTools, type FindAgent } from '../tool/delegation.ts'
import { titled } from '../tool/description.ts'
import type { ToolSource } from '../tool/tool.ts'

const style: DelegationStyle = {
  kind: 'agentTool',
  task: { name: 'request', description: 'What is asked, complete in itself.' },
  // No capabilities are added: the author who wraps an agent describes it [K16].
  describe: (edge, child) => titled(child, edge.description || child.description).text,
  answer: ({ collect }) => ({ form: 'textAndError', collect }),
}

/** The wrapped agents of an agent as tools, named by their ids. Each call is a child of the caller: one budget, one cancel [K18]. */
export function agentTools(find: FindAgent): ToolSource {
  return delegationTools('agentTool', { style, find })
}
