/** The edge to a sub-agent that is called as a tool and whose answer the caller waits for [R01, F15–F20]. */
import { describeDelegate } from '../agent/capabilities.ts'
import { type DelegationStyle, delegationTools, type FindAgent } from '../tool/delegation.ts'
import type { ToolSource } from '../tool/tool.ts'

/** The sub-agents of an agent as tools, named by their ids. The caller reads the final text or output, or all texts [C13]. */
export function subAgentTools(find: FindAgent): ToolSource {
  const style: DelegationStyle = {
    kind: 'subAgent',
    task: { name: 'message', description: 'The task or question, complete in itself.' },
    describe: describeDelegate(find),
    answer: ({ collect }) => (collect === 'all' ? { form: 'plain', collect } : undefined),
  }
  return delegationTools('delegate', { style, find })
}
