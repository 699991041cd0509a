/** A graph of agents as the lines of a list, callers above the called. */
import type { AgentGraph } from '@witan/client'

/** One line. */
export interface OutlineItem {
  readonly key: string
  readonly id: string
  readonly name: string
  readonly depth: number
  /** Of the edge that leads here; null at the root. */
  readonly kind: string | null
  readonly description: string
  /** True if the agent is already listed above, with its own edges. */
  readonly isRepeat: boolean
}

/** Every edge is one line; the edges of an agent are listed once. */
export function outlineOf({ nodes, edges }: AgentGraph, rootId: string): OutlineItem[] {
  const names = new Map(nodes.map(({ id, name }) => [id, name]))
  const items: OutlineItem[] = []
  const seen = new Set<string>()
  const open: Omit<OutlineItem, 'key' | 'name' | 'isRepeat'>[] = [{ id: rootId, depth: 0, kind: null, description: '' }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { id, depth } = next
    const isRepeat = seen.has(id)
    items.push({ ...next, key: `${items.length} ${id}`, name: names.get(id) ?? id, isRepeat })
    if (isRepeat) continue
    seen.add(id)
    const below = edges.filter(({ from }) => from === id)
    for (const { to, kind, description } of below.reverse()) open.push({ id: to, depth: depth + 1, kind, description })
  }
  return items
}
