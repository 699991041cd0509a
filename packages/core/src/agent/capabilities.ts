/** The description of a delegate for a calling model: the edge's description, and what the delegate itself can call [Rb04]. */
import type { AgentData, SubAgentEdge } from '@witan/protocol'
import { type Edge, edgesOf } from '@witan/protocol/edges'
import { mayUseTool } from '../identity/agent-access.ts'
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
 * Describes a delegate: the edge's description, or else the agent's own, and a list of its queries, actions and sub-agents
 * with their descriptions. At most 40 lines of 160 characters. The list never contains what its model may not call, its
 * parameters or its instructions. Computed once per edge, and again when an agent changes.
 */
export function describeDelegate(find: FindAgent): (edge: SubAgentEdge, child: AgentData, caller: Caller) => string {
  const known = new WeakMap<SubAgentEdge, Described>()
  return (edge, child, caller) => {
    // A delegate at the maximum depth cannot delegate.
    const deeper = caller.depth + 1 < caller.maxDepth
    const other = ({ agent }: Edge) => (deeper ? find(caller, agent) : null)
    const isSecret = hidesTools(child, caller)
    const found = isSecret ? undefined : known.get(edge)
    if (found?.child === child && edgesOf(child).every((one, index) => other(one) === found.others[index]))
      return found.text
    const others = edgesOf(child).map(other)
    const isShown = (name: string) => mayUseTool(child.access, name, caller.principal)
    const text = [edge.description || child.description, listOf(child, { others, isShown })]
      .filter((part) => part !== '')
      .join('\n\n')
    if (!isSecret) known.set(edge, { child, others, text })
    return text
  }
}

/** Whether a delegate has tools that it may not use in this run. They are left out of its description. */
function hidesTools({ access }: AgentData, { principal }: Caller): boolean {
  if (access.tools === undefined) return false
  return Object.keys(access.tools).some((name) => !mayUseTool(access, name, principal))
}

function listOf(
  child: AgentData,
  { others, isShown }: Pick<Described, 'others'> & { readonly isShown: (tool: string) => boolean },
): string {
  const lines = [
    ...[...child.queries.filter((query) => query.allowModelQueries), ...child.actions]
      .filter(({ name }) => isShown(name))
      .map(({ name, description }) => line(name, description)),
    ...edgesOf(child).flatMap(({ at, tool, description, addsDepth }, index, edges) => {
      const other = others[index] ?? null
      return other === null || !addsDepth || tool === null || !isShown(tool) || edges[index - 1]?.at === at
        ? []
        : [line(tool, description || other.description)]
    }),
  ]
  if (lines.length === 0) return ''
  const more = lines.length - mostLines
  return ['It can use:', ...lines.slice(0, mostLines), ...(more > 0 ? [`and ${more} more`] : [])].join('\n')
}

function line(name: string, description: string): string {
  const plain = description.trim().replace(/\s+/g, ' ')
  const full = plain === '' ? `- ${name}` : `- ${name}: ${plain}`
  return full.length > longestLine ? `${full.slice(0, longestLine - 1)}…` : full
}
