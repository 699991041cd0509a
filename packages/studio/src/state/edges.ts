/** The edges of a graph of agents as they are drawn: one line for each pair, in words. */
import type { AgentGraph } from '@witan/client'
import { type Edge, edgeWords } from '@witan/protocol/edges'

/** One line from an agent to another. `label` is empty for an agent that is only asked. `isDashed` if it only hands over. */
export interface DrawnEdge {
  readonly from: string
  readonly to: string
  readonly kinds: readonly string[]
  readonly label: string
  readonly isDashed: boolean
}

/** What an edge of that kind does; an unknown kind stays as it is. */
export function edgeVerb(kind: string): string {
  if (kind === 'users') return 'may ask'
  return Object.hasOwn(edgeWords, kind) ? edgeWords[kind as Edge['kind']].active : kind
}

/** The lines of a graph: edges of several kinds between the same two agents are one line, with all its kinds. */
export function drawnEdges({ edges }: Pick<AgentGraph, 'edges'>): DrawnEdge[] {
  const pairs = new Map<string, { from: string; to: string; kinds: Set<string> }>()
  for (const { from, to, kind } of edges) {
    const key = `${from} ${to}`
    const pair = pairs.get(key) ?? { from, to, kinds: new Set<string>() }
    pairs.set(key, pair)
    pair.kinds.add(kind)
  }
  return [...pairs.values()].map(({ from, to, kinds: found }) => {
    const kinds = [...found]
    const isAskedOnly = kinds.every((kind) => kind === 'subAgents')
    const label = isAskedOnly ? '' : kinds.map(edgeVerb).join(', ')
    return { from, to, kinds, label, isDashed: kinds.every((kind) => kind === 'transfers') }
  })
}
