/** Where declared parameters get their values: one node per declaration, one link per edge that leads to its agent. */
import type { AgentData, Parameter } from '@witan/protocol'
import { type AgentEdge, agentEdgesOf, mappedName } from '@witan/protocol/edges'
import { type AgentSet, reachableFrom } from './graph.ts'
import type { Pausable } from '../../identity/pausable.ts'

/** One parameter of one agent. */
export interface Declared {
  readonly agent: AgentData
  readonly parameter: Parameter
  /** Its index among the parameters of its agent. */
  readonly index: number
  /** Its index among all declarations of the flow. */
  readonly at: number
  /** One link per edge that leads to its agent. */
  readonly above: readonly Link[]
  /** The links among them that have no source. */
  readonly unsourced: readonly Link[]
  /** The links that pass its value down. */
  readonly below: readonly Link[]
}

/** How one edge supplies one parameter of its target [R30]. */
export interface Link {
  readonly parent: AgentData
  readonly to: Declared
  /** The parent's declaration that passes its value down; null if the parent declares no such name. */
  readonly source: Declared | null
  /** The name to look up, first in the parent and then in the conversation; null if the edge maps it to nothing [E17]. */
  readonly name: string | null
  /** Whether the parent's model supplies it if nobody else does. */
  readonly mayGenerate: boolean
}

/** The parameters of some agents and of all agents that these reach. */
export interface Flow {
  readonly agents: readonly AgentData[]
  /** The parameters of an agent, in the order of its definition. */
  declared(agent: AgentData): readonly Declared[]
  /** The existing agents that an agent lists. */
  children(agent: AgentData): readonly AgentData[]
  /** How an edge of `parent` supplies its target, in the order of the target's parameters. */
  links(parent: AgentData, edge: AgentEdge): readonly Link[]
}

interface OpenDeclared extends Declared {
  readonly above: Link[]
  readonly unsourced: Link[]
  readonly below: Link[]
}

/** Computes the flow below `roots`. */
export function* flowFrom(roots: readonly AgentData[], set: AgentSet): Pausable<Flow> {
  const agents = reachableFrom(roots, set)
  let at = 0
  const nodes = new Map(
    agents.map((agent) => [
      agent,
      agent.parameters.map(
        (parameter, index): OpenDeclared => ({
          agent,
          parameter,
          index,
          at: at++,
          above: [],
          unsourced: [],
          below: [],
        }),
      ),
    ]),
  )
  const links = new Map<AgentData, Map<AgentEdge, readonly Link[]>>()
  const children = new Map<AgentData, AgentData[]>()
  for (const parent of agents) {
    const own = new Map((nodes.get(parent) ?? []).map((node) => [node.parameter.name, node] as const).reverse())
    const edges = new Map<AgentEdge, readonly Link[]>()
    const listed = new Set<AgentData>()
    for (const edge of agentEdgesOf(parent)) {
      yield
      const child = set.get(edge.agent)
      if (child === undefined) continue
      listed.add(child)
      const targets = nodes.get(child) ?? []
      edges.set(
        edge,
        targets.map((to) => linkOf({ parent, edge, to }, own)),
      )
    }
    links.set(parent, edges)
    children.set(parent, [...listed])
  }
  return {
    agents,
    declared: (agent) => nodes.get(agent) ?? [],
    children: (agent) => children.get(agent) ?? [],
    links: (parent, edge) => links.get(parent)?.get(edge) ?? [],
  }
}

function linkOf(
  { parent, edge, to }: { readonly parent: AgentData; readonly edge: AgentEdge; readonly to: OpenDeclared },
  own: ReadonlyMap<string, OpenDeclared>,
): Link {
  const name = mappedName(edge, to.parameter.name)
  const source = name === null ? undefined : own.get(name)
  const { mayGenerate } = edge
  const link: Link = { parent, to, source: source ?? null, name, mayGenerate }
  to.above.push(link)
  const others = source?.below ?? to.unsourced
  others.push(link)
  return link
}

/** The marks of each declaration, as numbers from 0. */
interface Marks {
  has(node: Declared, mark: number): boolean
  /** True if this is the node's only mark. */
  hasOnly(node: Declared, mark: number): boolean
}

/** The rules for spreading marks. */
interface Spreading {
  /** All marks are below this number. */
  readonly size: number
  start(node: Declared): Iterable<number>
  /** The marks that replace mark 0 on this link; absent: 0 is passed on unchanged. */
  swap?(link: Link): readonly number[] | undefined
}

/** Spreads marks down the links until nothing changes. */
export function* spreadMarks(nodes: readonly Declared[], { size, start, swap }: Spreading): Pausable<Marks> {
  const words = Math.ceil(size / 32)
  const marks = new Uint32Array((1 + nodes.reduce((most, { at }) => Math.max(most, at), 0)) * words)
  const isOpen = new Uint8Array(marks.length / words)
  const open: Declared[] = []
  const add = (at: number, word: number, bits: number) => {
    const before = marks[at * words + word] as number
    marks[at * words + word] = before | bits
    return (before | bits) >>> 0 !== before
  }
  const reopen = (node: Declared) => {
    if (isOpen[node.at] === 1) return
    isOpen[node.at] = 1
    open.push(node)
  }
  for (const node of nodes) for (const mark of start(node)) if (add(node.at, mark >>> 5, 1 << (mark & 31))) reopen(node)
  for (const node of open) {
    yield
    isOpen[node.at] = 0
    for (const link of node.below) {
      let isNews = false
      for (let word = 0; word < words; word += 1) {
        let own = marks[node.at * words + word] as number
        const others = word === 0 && (own & 1) === 1 ? swap?.(link) : undefined
        if (others !== undefined) own &= ~1
        for (const other of others ?? []) isNews = add(link.to.at, other >>> 5, 1 << (other & 31)) || isNews
        isNews = add(link.to.at, word, own) || isNews
      }
      if (isNews) reopen(link.to)
    }
  }
  const wordOf = ({ at }: Declared, word: number) => marks[at * words + word] as number
  const has = (node: Declared, mark: number) => ((wordOf(node, mark >>> 5) >>> (mark & 31)) & 1) === 1
  return {
    has,
    hasOnly(node, mark) {
      for (let word = 0; word < words; word += 1)
        if (wordOf(node, word) !== (word === mark >>> 5 ? (1 << (mark & 31)) >>> 0 : 0)) return false
      return true
    },
  }
}

/** Spreads labels from node to node. Each node keeps the nearest labels, at most `most`. */
export function* spreadLabels<Node, Label>(
  starts: Iterable<readonly [Node, Label]>,
  { most, onwards }: { readonly most: number; onwards(node: Node, label: Label): Iterable<Node> },
): Pausable<ReadonlyMap<Node, readonly Label[]>> {
  const labels = new Map<Node, Label[]>()
  const open: (readonly [Node, Label])[] = []
  const take = (node: Node, label: Label) => {
    const known = labels.get(node)
    if (known === undefined) labels.set(node, [label])
    else if (known.length >= most || known.includes(label)) return
    else known.push(label)
    open.push([node, label])
  }
  for (const [node, label] of starts) {
    yield
    take(node, label)
  }
  for (const [node, label] of open) {
    yield
    for (const next of onwards(node, label)) take(next, label)
  }
  return labels
}
