/** What a conversation binds: the declarations that a passed value reaches, under whatever names the edges map it to. */
import type { AgentData, Parameter } from '@witan/protocol'
import { type Declared, type Flow, flowFrom, type Link, spreadMarks } from './flow.ts'
import { type AgentSet, reachable } from './graph.ts'
import { runWithoutPause, type Pausable } from '../../identity/pausable.ts'

/** One declaration that a passed value reaches. */
interface Taker {
  readonly agent: AgentData
  readonly parameter: Parameter
}

/** The takers of a root, valid while every agent that it reaches stays the same. */
const known = new WeakMap<AgentData, { agents: readonly AgentData[]; takers: ReadonlyMap<string, readonly Taker[]> }>()

/**
 * For each name that a start of `root` may pass: the declarations bound to it, the root's first. A value does not pass an
 * edge that maps its name to nothing, or an agent that has a value of its own for the name [E17]. Computed once for the
 * same agents.
 */
export function takersOf(root: AgentData, agents: AgentSet): ReadonlyMap<string, readonly Taker[]> {
  const reached = reachable(root, agents)
  const found = known.get(root)
  if (found?.agents.length === reached.length && reached.every((one, index) => one === found.agents[index]))
    return found.takers
  const flow = runWithoutPause(flowFrom([root], agents))
  const sure = new Set(root.parameters.filter(({ sendToModel }) => sendToModel).map(({ name }) => name))
  const takers = runWithoutPause(takersIn(flow, { roots: new Set([root]), within: new Set(reached), sure }))
  known.set(root, { agents: reached, takers })
  return takers
}

/** The conversations whose takers are wanted. */
interface Starts {
  /** The agents that a conversation may begin with. */
  readonly roots: ReadonlySet<AgentData>
  /** All that they reach. */
  readonly within: ReadonlySet<AgentData>
  /** Names that every start passes: no model is asked for them. */
  readonly sure: ReadonlySet<string>
  /** Only these names; default: all. */
  readonly only?: ReadonlySet<string>
}

/** The mark of a value that a model generated. */
const generated = 0

/** The same within a flow: for each name, the declarations that some start binds to it. */
export function* takersIn(
  flow: Flow,
  { roots, within, sure, only }: Starts,
): Pausable<ReadonlyMap<string, readonly Declared[]>> {
  const nodes = [...within].flatMap((agent) => flow.declared(agent))
  const names = new Map([...(only ?? namesOf(nodes))].map((name, index) => [name, [index + 1] as const]))
  const marked = (name: string): readonly number[] => names.get(name) ?? []
  const marks = yield* spreadMarks(nodes, {
    size: names.size + 1,
    *start(node) {
      if (roots.has(node.agent)) yield* started(node.parameter)
      for (const link of node.unsourced) if (within.has(link.parent)) yield* asked(link)
    },
    // A child takes its parent's value. If a model generated it, a trusted parameter takes the conversation's value
    // instead [R30, E15].
    swap: ({ to, name }) => (to.parameter.policy === null || name === null ? undefined : marked(name)),
  })
  /** The marks of a root's parameter. If a start may omit it, a model further down generates it. */
  function* started({ name }: Parameter): Iterable<number> {
    yield* marked(name)
    if (!sure.has(name)) yield generated
  }
  /** The marks of a parameter whose parent has no value under the name. */
  function* asked({ to, name, mayGenerate }: Link): Iterable<number> {
    const isTrusted = to.parameter.policy !== null
    if (name !== null) yield* marked(name)
    if (!isTrusted && mayGenerate && (name === null || !sure.has(name))) yield generated
  }
  const takers = new Map<string, readonly Declared[]>()
  for (const [name, [own]] of names) {
    yield
    const some = nodes.filter((node) => marks.has(node, own))
    if (some.length > 0) takers.set(name, some)
  }
  return takers
}

/** The names that these declarations have, or that they take from a conversation. */
function namesOf(nodes: readonly Declared[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { parameter, above, unsourced } of nodes) {
    names.add(parameter.name)
    for (const { name } of parameter.policy === null ? unsourced : above) if (name !== null) names.add(name)
  }
  return names
}
