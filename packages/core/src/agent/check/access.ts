/** Checks access lists: the agent has each tool that its `access.tools` names. A name that it lacks would guard nothing. */
import type { AgentData, Finding } from '@witan/protocol'
import { nearest } from '../../identity/nearest.ts'
import { peerMessagesIn } from '../protocol/peer-messages.ts'
import { hasTool, ownTools } from './approvals.ts'
import type { AgentSet } from './graph.ts'
import { errorAt, type Surroundings } from './names.ts'

/** Findings about the access lists of one agent. */
export function checkAccess(
  agent: AgentData,
  { agents, protocols }: Pick<Surroundings, 'protocols'> & { readonly agents: AgentSet },
): Finding[] {
  const { tools } = agent.access
  if (tools === undefined) return []
  const own = ownTools(agent, peerMessagesIn(agent, { agents, protocols }))
  return Object.keys(tools).flatMap((name) => {
    if (hasTool(agent, own, name)) return []
    const near = nearest(name, own)
    const list = own.length === 0 ? 'It has no tools.' : `Its tools: ${own.join(', ')}.`
    const detail = `Agent \`${agent.id}\` restricts access to \`${name}\`, which is not one of its tools.`
    const hint = near === null ? list : `Did you mean \`${near}\`?`
    return [errorAt(agent, `access.tools.${name}`, { code: 'TOOL_UNKNOWN', detail, hint })]
  })
}
