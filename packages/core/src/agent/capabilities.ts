/** The description of a delegate for a calling model: the edge's description, and what the delegate itself can call [Rb04]. */
import type { AgentData, SubAgentEdge } from '@witan/protocol'
import { type Edge, edgesOf } from '@witan/protocol/edges'
import { mayUseTool } from '../identity/agent-access.ts'
import type { FindAgent } from '../tool/delegation.ts'
import type { Caller } from '../tool/tool.ts'

const mostLines = 40
/** Lines are tried in these lengths until all fit; the last one stands for names alone. */
const lineLengths = [160, 80, 0]

/** The most characters that every provider takes as the description of a tool. */
export const longestDescription = 1_024

interface Described {
  readonly child: AgentData
  readonly others: readonly (AgentData | null)[]
  readonly text: string
}

/**
 * Describes a delegate: the edge's description, or else the agent's own, and a list of its queries, actions and sub-agents
 * with their descriptions. The list has at most 40 lines, and ends where the
 * text would have more than 1,024 characters, which some providers refuse. It never contains what its model may not call, its
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
    const own = edge.description || child.description
    const list = listOf(child, { others, isShown, room: roomBeside(own) }).text
    const text = [own, list].filter((part) => part !== '').join('\n\n')
    if (!isSecret) known.set(edge, { child, others, text })
    return text
  }
}

/** What a description of an author leaves for the list. His own words are never cut. */
export function roomBeside(own: string): number {
  return longestDescription - (own === '' ? 0 : own.length + 2)
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
    isShown,
    room,
  }: Pick<Described, 'others'> & { readonly isShown: (tool: string) => boolean; readonly room: number },
): { readonly text: string; readonly leftOut: number } {
  const able = [
    ...[...child.queries.filter((query) => query.allowModelQueries), ...child.actions].filter(({ name }) =>
      isShown(name),
    ),
    ...edgesOf(child).flatMap(({ at, tool, description, addsDepth }, index, edges) => {
      const other = others[index] ?? null
      return other === null || !addsDepth || tool === null || !isShown(tool) || edges[index - 1]?.at === at
        ? []
        : [{ name: tool, description: description || other.description }]
    }),
  ]
  if (able.length === 0) return { text: '', leftOut: 0 }
  const lists = lineLengths.map((longest) => filled(able, { longest, room }))
  return lists.find(({ leftOut }) => leftOut === 0) ?? (lists.at(-1) as (typeof lists)[number])
}

/** As many lines as fit, and a last one that counts the others. */
function filled(
  able: readonly { readonly name: string; readonly description: string }[],
  { longest, room }: { readonly longest: number; readonly room: number },
): { readonly text: string; readonly leftOut: number } {
  const lines = able.map(({ name, description }) => line(name, description, longest))
  const textOf = (count: number) => {
    const more = lines.length - count
    return ['It can use:', ...lines.slice(0, count), ...(more > 0 ? [`… and ${more} more`] : [])].join('\n')
  }
  for (let count = Math.min(lines.length, mostLines); count > 0; count -= 1)
    if (textOf(count).length <= room) return { text: textOf(count), leftOut: lines.length - count }
  return { text: '', leftOut: lines.length }
}

function line(name: string, description: string, longest: number): string {
  const plain = longest === 0 ? '' : description.trim().replace(/\s+/g, ' ')
  const full = plain === '' ? `- ${name}` : `- ${name}: ${plain}`
  return longest > 0 && full.length > longest ? `${full.slice(0, longest - 1)}…` : full
}
