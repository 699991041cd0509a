/** What the agents above do with a value that an agent below hides or trusts. */
import type { AgentData } from '@witan/protocol'
import type { WarningFinding } from '@witan/protocol/schemas'
import { type Declared, type Flow, type Link, spreadLabels, spreadMarks } from './flow.ts'
import type { Pausable } from '../../identity/pausable.ts'

/** The agents where a path may begin, and all agents on these paths. */
export interface Below {
  readonly roots: ReadonlySet<AgentData>
  readonly within: ReadonlySet<AgentData>
}

/** Findings name at most this many agents above a parameter, the nearest ones. The rest are not counted. */
const mostNamed = 20

type Warning = Pick<WarningFinding, 'code' | 'detail' | 'hint'>

/** The problems above a parameter. */
export function* upstreamOf(flow: Flow, below: Below): Pausable<(node: Declared) => readonly Warning[]> {
  const nodes = [...below.within].flatMap((agent) => flow.declared(agent))
  const showers = yield* exposures(nodes, flow, below)
  const makers = yield* untrusted(nodes, below)
  return (node) => [...exposed(node, showers.get(node) ?? []), ...distrusted(node, makers.get(node) ?? [])]
}

function exposed({ agent, parameter: { name } }: Declared, showers: readonly Declared[]): Warning[] {
  const code = 'PARAM_EXPOSED_UPSTREAM' as const
  const named = showers.slice(0, mostNamed).map((shower) => {
    const alias = shower.parameter.name === name ? '' : ` as \`${shower.parameter.name}\``
    const detail = `\`${name}\` is hidden in \`${agent.id}\` but shown to \`${shower.agent.id}\`${alias}, which can repeat it in text.`
    return { code, detail, hint: `Set \`sendToModel: false\` in \`${shower.agent.id}\` too.` }
  })
  if (showers.length <= mostNamed) return named
  const detail = `\`${name}\` is hidden in \`${agent.id}\` but shown to more agents above it than are named here.`
  return [...named, { code, detail, hint: 'Set `sendToModel: false` in the named agents, and check again.' }]
}

/** An agent that passes down a value that its caller's model may have generated. */
interface Maker {
  readonly taker: string
  readonly caller: string
}

function distrusted({ agent, parameter: { name } }: Declared, makers: readonly Maker[]): Warning[] {
  const code = 'PARAM_UNTRUSTED_UPSTREAM' as const
  const named = makers.slice(0, mostNamed).map(({ taker, caller }) => ({
    code,
    detail: `\`${name}\` of \`${agent.id}\` refuses values from a model, but the model of \`${caller}\` may generate the one that \`${taker}\` passes down: a run that calls \`${agent.id}\` then fails.`,
    hint: `Set \`policy: "forbidModelGeneration"\` in \`${taker}\` too.`,
  }))
  if (makers.length <= mostNamed) return named
  const detail = `\`${name}\` of \`${agent.id}\` refuses values from a model, but more agents above it than are named here may pass one down.`
  return [...named, { code, detail, hint: 'Forbid it in the named agents, and check again.' }]
}

/** For each hidden parameter, the declarations above it that show the same value to a model, nearest first. */
function* exposures(
  nodes: readonly Declared[],
  flow: Flow,
  below: Below,
): Pausable<ReadonlyMap<Declared, readonly Declared[]>> {
  const starts: [Declared, Declared][] = []
  const asked: (Link & { readonly name: string })[] = []
  for (const node of nodes) {
    if (node.parameter.sendToModel) continue
    yield
    for (const link of node.above) {
      const { source, name } = link
      if (!below.within.has(link.parent)) continue
      if (source?.parameter.sendToModel === true) starts.push([node, source])
      if (source === null && name !== null) asked.push({ ...link, name })
    }
  }
  const links = Map.groupBy(asked, ({ name }) => name)
  for (const [name, shown] of yield* showersOf(nodes, new Set(links.keys()), below)) {
    const above = yield* knowingBelow(shown, flow, below)
    for (const { to, parent } of links.get(name) ?? []) {
      yield
      for (const shower of above.get(parent) ?? []) starts.push([to, shower])
    }
  }
  return yield* spreadLabels(starts, {
    most: mostNamed + 1,
    onwards: (node) => node.below.flatMap(({ to }) => (to.parameter.sendToModel ? [] : [to])),
  })
}

/** Declarations that show a conversation's value of one name, by their agents. */
interface Shown {
  readonly of: ReadonlyMap<AgentData, readonly Declared[]>
  /** Agents that show it on every path: no agent above them is nearer. */
  readonly always: ReadonlySet<AgentData>
}

/** The agents that show a model the conversation's values of these names. */
function* showersOf(
  nodes: readonly Declared[],
  names: ReadonlySet<string>,
  { roots, within }: Below,
): Pausable<ReadonlyMap<string, Shown>> {
  if (names.size === 0) return new Map()
  const marksOf = new Map([...names].map((name, index) => [name, index + 1]))
  const mark = (name: string | null) => marksOf.get(name ?? '') ?? other
  const marks = yield* spreadMarks(nodes, {
    size: names.size + 1,
    *start(node) {
      if (roots.has(node.agent)) yield mark(node.parameter.name)
      for (const { name, parent } of node.unsourced) if (within.has(parent)) yield mark(name)
    },
  })
  const shown = new Map<string, Shown>()
  for (const [name, own] of marksOf) {
    yield
    const some = nodes.filter((node) => node.parameter.sendToModel && marks.has(node, own))
    if (some.length === 0) continue
    const always = new Set(some.filter((node) => marks.hasOnly(node, own)).map(({ agent }) => agent))
    shown.set(name, { of: Map.groupBy(some, ({ agent }) => agent), always })
  }
  return shown
}

/** The mark for every other origin of a value. */
const other = 0

/** For each agent, the nearest agents that show the value: itself, or agents above it. */
function* knowingBelow(
  { of, always }: Shown,
  flow: Flow,
  { within }: Below,
): Pausable<ReadonlyMap<AgentData, readonly Declared[]>> {
  const starts = [...of].flatMap(([agent, shown]) => shown.map((one) => [agent, one] as const))
  return yield* spreadLabels(starts, {
    most: mostNamed + 1,
    onwards: (agent) => flow.children(agent).filter((child) => within.has(child) && !always.has(child)),
  })
}

/** For each trusted parameter, the agents above that may pass it a model-generated value, nearest first. */
function* untrusted(nodes: readonly Declared[], { within }: Below): Pausable<ReadonlyMap<Declared, readonly Maker[]>> {
  const makers = new Map<string, Maker>()
  const free = nodes.filter(({ parameter }) => parameter.policy === null)
  const starts: [Declared, Maker][] = []
  for (const node of free) {
    yield
    for (const { parent, mayGenerate } of node.unsourced) {
      if (!within.has(parent) || !mayGenerate) continue
      const key = `${node.agent.id} ${parent.id}`
      const maker = makers.get(key) ?? { taker: node.agent.id, caller: parent.id }
      makers.set(key, maker)
      starts.push([node, maker])
    }
  }
  const labels = yield* spreadLabels(starts, {
    most: mostNamed + 1,
    onwards: (node) => node.below.map(({ to }) => to).filter(({ parameter }) => parameter.policy === null),
  })
  const found = new Map<Declared, Maker[]>()
  for (const node of nodes) {
    if (node.parameter.policy === null) continue
    yield
    const above = new Set(node.above.flatMap(({ source }) => (source === null ? [] : (labels.get(source) ?? []))))
    if (above.size > 0) found.set(node, [...above].slice(0, mostNamed + 1))
  }
  return found
}
