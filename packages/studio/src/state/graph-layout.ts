/** Places the agents of an acquaintance graph in layers, callers before the called, and leads each line past all other agents. */

/** Anything with nodes and directed edges. */
interface Graph {
  readonly nodes: readonly { readonly id: string }[]
  readonly edges: readonly { readonly from: string; readonly to: string }[]
}

/** A node's position: its layer, and its offset in it in heights of a node, centred on 0. */
export interface Place {
  readonly id: string
  readonly layer: number
  readonly offset: number
}

/** The free places that a line runs through between its ends, in order; none where its ends stand in neighbouring layers. */
interface GraphLayout {
  readonly places: readonly Place[]
  readonly routes: ReadonlyMap<string, readonly Place[]>
}

const sweeps = 4
/** What a line takes of a layer that it runs through, in heights of a node. */
const laneHeight = 0.5

/** The key of an edge's route. */
export function routeKey({ from, to }: { readonly from: string; readonly to: string }): string {
  return `${from} ${to}`
}

/**
 * One position per node. An edge leads to a later layer unless it closes a cycle. A line that crosses layers has a place of its own in
 * each of them, so that it passes behind no node; one that goes back, or to its own agent, also in the layers of its ends.
 */
export function layoutGraph(graph: Graph, rootId: string): GraphLayout {
  const known = new Set(graph.nodes.map(({ id }) => id))
  const layer = layerOf(graph, rootId, successors(graph))
  const routes = new Map<string, string[]>()
  const parts: { readonly from: string; readonly to: string }[] = []
  for (const edge of graph.edges) {
    if (!known.has(edge.from) || !known.has(edge.to) || routes.has(routeKey(edge))) continue
    const [from, to] = [layer.get(edge.from) ?? 0, layer.get(edge.to) ?? 0]
    const crossed = from < to ? range(from + 1, to - 1) : range(to, from).reverse()
    const lanes = crossed.map((at) => `${routeKey(edge)} ${at}`)
    for (const [index, lane] of lanes.entries()) layer.set(lane, crossed[index] ?? 0)
    routes.set(routeKey(edge), lanes)
    const stops = [edge.from, ...lanes, edge.to]
    for (const [index, stop] of stops.slice(1).entries()) parts.push({ from: stops[index] ?? '', to: stop })
  }
  const nodes = [...layer.keys()].map((id) => ({ id }))
  const placed = new Map(arrange({ nodes, edges: parts }, layer, known).map((place) => [place.id, place]))
  const at = (ids: readonly string[]) => ids.flatMap((id) => placed.get(id) ?? [])
  return {
    places: at(graph.nodes.map(({ id }) => id)),
    routes: new Map([...routes].map(([key, ids]) => [key, at(ids)])),
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
}

/** Orders each layer so that few lines cross. */
function arrange(graph: Graph, layer: ReadonlyMap<string, number>, known: ReadonlySet<string>): Place[] {
  const next = successors(graph)
  const layers = group(layer)
  const before = predecessors(next)
  for (let sweep = 0; sweep < sweeps; sweep += 1) {
    const down = sweep % 2 === 0
    const order = down ? layers.keys() : [...layers.keys()].reverse()
    for (const index of order) {
      const beside = layers[down ? index - 1 : index + 1]
      const ids = layers[index]
      if (beside !== undefined && ids !== undefined) sortByNeighbours(ids, beside, down ? before : next)
    }
  }
  return layers.flatMap((ids, at) => stacked(ids, known).map((place) => ({ ...place, layer: at })))
}

/** The middle of each, one below the other, all of them centred on 0. */
function stacked(ids: readonly string[], known: ReadonlySet<string>): Omit<Place, 'layer'>[] {
  const tall = (id: string) => (known.has(id) ? 1 : laneHeight)
  let top = -ids.reduce((sum, id) => sum + tall(id), 0) / 2
  return ids.map((id) => {
    const offset = top + tall(id) / 2
    top += tall(id)
    return { id, offset }
  })
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
