/** Places the agents of an acquaintance graph in layers, callers before the called. */

/** Anything with nodes and directed edges. */
export interface Graph {
  readonly nodes: readonly { readonly id: string }[]
  readonly edges: readonly { readonly from: string; readonly to: string }[]
}

/** A node's position: its layer, and its offset in it, centred on 0. */
export interface Place {
  readonly id: string
  readonly layer: number
  readonly offset: number
}

const sweeps = 4

/** One position per node. An edge leads to a later layer unless it closes a cycle; positions are unique. */
export function placeNodes(graph: Graph, rootId: string): Place[] {
  const next = successors(graph)
  const layers = group(layerOf(graph, rootId, next))
  const before = predecessors(next)
  for (let sweep = 0; sweep < sweeps; sweep += 1) {
    const down = sweep % 2 === 0
    const order = down ? layers.keys() : [...layers.keys()].reverse()
    for (const index of order) {
      const beside = layers[down ? index - 1 : index + 1]
      const layer = layers[index]
      if (beside !== undefined && layer !== undefined) sortByNeighbours(layer, beside, down ? before : next)
    }
  }
  return layers.flatMap((ids, layer) => ids.map((id, index) => ({ id, layer, offset: index - (ids.length - 1) / 2 })))
}

function successors(graph: Graph): Map<string, string[]> {
  const next = new Map(graph.nodes.map((node) => [node.id, [] as string[]]))
  for (const edge of graph.edges) {
    if (next.has(edge.to) && edge.from !== edge.to) next.get(edge.from)?.push(edge.to)
  }
  return next
}

function predecessors(next: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const before = new Map([...next.keys()].map((id) => [id, [] as string[]]))
  for (const [from, targets] of next) {
    for (const to of targets) before.get(to)?.push(from)
  }
  return before
}

/** The longest way from the root, edges that close a cycle left out. */
function layerOf(graph: Graph, rootId: string, next: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const order: string[] = []
  const back = new Set<string>()
  const seen = new Map<string, 'open' | 'done'>()
  const visit = (id: string) => {
    seen.set(id, 'open')
    for (const to of next.get(id) ?? []) {
      if (seen.get(to) === 'open') back.add(`${id}>${to}`)
      else if (!seen.has(to)) visit(to)
    }
    seen.set(id, 'done')
    order.unshift(id)
  }
  const first = next.has(rootId) ? [rootId] : []
  for (const id of [...first, ...graph.nodes.map((node) => node.id)]) if (!seen.has(id)) visit(id)
  const layer = new Map(order.map((id) => [id, 0]))
  for (const id of order) {
    for (const to of next.get(id) ?? []) {
      if (!back.has(`${id}>${to}`)) layer.set(to, Math.max(layer.get(to) ?? 0, (layer.get(id) ?? 0) + 1))
    }
  }
  return layer
}

function group(layer: ReadonlyMap<string, number>): string[][] {
  const deepest = Math.max(-1, ...layer.values())
  const layers = Array.from({ length: deepest + 1 }, (): string[] => [])
  for (const [id, index] of layer) layers[index]?.push(id)
  return layers
}

function sortByNeighbours(
  layer: string[],
  beside: readonly string[],
  neighbours: ReadonlyMap<string, readonly string[]>,
): void {
  const weight = new Map<string, number>()
  for (const [index, id] of layer.entries()) {
    const places = (neighbours.get(id) ?? []).map((one) => beside.indexOf(one)).filter((place) => place >= 0)
    weight.set(id, places.length === 0 ? index : places.reduce((sum, place) => sum + place, 0) / places.length)
  }
  layer.sort((one, other) => (weight.get(one) ?? 0) - (weight.get(other) ?? 0))
}
