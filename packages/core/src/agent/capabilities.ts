/** The description of a delegate for a calling model: the edge's description, and what the delegate itself can call [Rb04]. */
import type { AgentData, SubAgentEdge } from '@witan/protocol'
import { type AgentEdge, agentEdgesOf } from '@witan/protocol/edges'
import { remotesOf } from './remote-agent.ts'
import { mayUseTool } from '../identity/agent-access.ts'
import type { FindAgent } from '../tool/delegation.ts'
import { listWithin, oneLine, roomBeside, titled } from '../tool/description.ts'
import type { Caller } from '../tool/tool.ts'

const mostLines = 40
/** Lines are tried in these lengths until all fit; the last one stands for names alone. */
const lineLengths = [160, 80, 0]

interface Described {
  readonly child: AgentData
  readonly others: readonly (AgentData | null)[]
  readonly deeper: boolean
  readonly text: string
}

/**
 * Describes a delegate: its display name, the edge's description or else the agent's own, and a list of its queries, actions and
 * sub-agents with their descriptions. The list has at most 40 lines, and ends where the text would have more than 1,024 characters,
 * which some providers refuse. It never contains what its model may not call, its parameters or its instructions. Computed once per
 * edge, and again when an agent changes.
 */
export function describeDelegate(find: FindAgent): (edge: SubAgentEdge, child: AgentData, caller: Caller) => string {
  const known = new WeakMap<SubAgentEdge, Described>()
  return (edge, child, caller) => {
    // A delegate at the maximum depth cannot delegate.
    const deeper = caller.depth + 1 < caller.maxDepth
    const other = ({ agent }: AgentEdge) => (deeper ? find(caller, agent) : null)
    const isSecret = hidesTools(child, caller)
    const found = isSecret ? undefined : known.get(edge)
    if (
      found?.child === child &&
      found.deeper === deeper &&
      agentEdgesOf(child).every((one, index) => other(one) === found.others[index])
    )
      return found.text
    const others = agentEdgesOf(child).map(other)
    const isShown = (name: string) => mayUseTool(child.access, name, caller.principal)
    const own = titled(child, edge.description || child.description).text
    const list = listOf(child, { others, deeper, isShown, room: roomBeside(own) }).text
    const text = [own, list].filter((part) => part !== '').join('\n\n')
    if (!isSecret) known.set(edge, { child, others, deeper, text })
    return text
  }
}

/** Whether a delegate has tools that it may not use in this run. They are left out of its description. */
function hidesTools({ access }: AgentData, { principal }: Caller): boolean {
  if (access.tools === undefined) return false
  return Object.keys(access.tools).some((name) => !mayUseTool(access, name, principal))
}

/** The list of what a delegate can use, in at most `room` characters, and how many of it are left out. */
export function listOf(
  child: AgentData,
  {
    others,
    deeper,
    isShown,
    room,
  }: Pick<Described, 'others' | 'deeper'> & { readonly isShown: (tool: string) => boolean; readonly room: number },
): { readonly text: string; readonly leftOut: number } {
  const able = [
    ...[...child.queries.filter((query) => query.allowModelQueries), ...child.actions].filter(({ name }) =>
      isShown(name),
    ),
    ...agentEdgesOf(child).flatMap(({ at, tool, description, addsDepth }, index, edges) => {
      const other = others[index] ?? null
      return other === null || !addsDepth || tool === null || !isShown(tool) || edges[index - 1]?.at === at
        ? []
        : [{ name: tool, description: description || other.description }]
    }),
    ...(deeper ? remotesOf(child).filter(({ name }) => isShown(name)) : []),
  ]
  if (able.length === 0) return { text: '', leftOut: 0 }
  const forms = lineLengths.map(
    (longest) => () => able.map(({ name, description }) => line(name, description, longest)),
  )
  return listWithin(room, forms, { before: 'It can use:\n', between: '\n', after: '', most: mostLines })
}

function line(name: string, description: string, longest: number): string {
  if (longest === 0 || description.trim() === '') return `- ${name}`
  return oneLine(`- ${name}: ${description}`, longest).text
}
