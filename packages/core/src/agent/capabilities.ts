/** What a calling model is told that a delegate can do: what its edge says, and what the delegate itself can call [Rb04]. */
import type { AgentData, SubAgentEdge } from '@witan/protocol'
import type { FindAgent } from '../tool/delegation.ts'
import type { Caller } from '../tool/tool.ts'

const mostLines = 40
const longestLine = 160

interface Described {
  readonly child: AgentData
  readonly others: readonly (AgentData | null)[]
  readonly text: string
}

/**
 * Describes a delegate: the words of the edge, or else the agent's own, and a list of its queries, actions and sub-agents with
 * their descriptions; at most 40 lines of 160 characters. What its model may not call is not in the list, nor is a parameter or a
 * word of its instructions. Made once per edge, and again when an agent changes.
 */
export function describeDelegate(find: FindAgent): (edge: SubAgentEdge, child: AgentData, caller: Caller) => string {
  const known = new WeakMap<SubAgentEdge, Described>()
  return (edge, child, caller) => {
    // A delegate at the last level has nobody to ask.
    const deeper = caller.depth + 1 < caller.maxDepth
    const others = child.subAgents.map(({ agent }) => (deeper ? find(caller, agent) : null))
    const found = known.get(edge)
    if (found?.child === child && others.every((one, index) => one === found.others[index])) return found.text
    const text = [edge.description || child.description, listOf(child, others)]
      .filter((part) => part !== '')
      .join('\n\n')
    known.set(edge, { child, others, text })
    return text
  }
}

function listOf(child: AgentData, others: Described['others']): string {
  const lines = [
    ...child.queries.filter((query) => query.allowModelQueries).map(({ name, description }) => line(name, description)),
    ...child.actions.map(({ name, description }) => line(name, description)),
    ...child.subAgents.flatMap(({ agent, description }, index) => {
      const other = others[index] ?? null
      return other === null ? [] : [line(agent, description || other.description)]
    }),
  ]
  if (lines.length === 0) return ''
  const more = lines.length - mostLines
  return ['It can use:', ...lines.slice(0, mostLines), ...(more > 0 ? [`and ${more} more`] : [])].join('\n')
}

function line(name: string, description: string): string {
  const plain = description.trim().replace(/\s+/g, ' ')
  const whole = plain === '' ? `- ${name}` : `- ${name}: ${plain}`
  return whole.length > longestLine ? `${whole.slice(0, longestLine - 1)}…` : whole
}
