/** Checks parameters along the edges: clashing types, values that leak upwards, trusted values that nobody can supply. */
import type { AgentData, Finding, Parameter } from '@witan/protocol'
import type { ErrorFinding, WarningFinding } from '@witan/protocol/schemas'
import { agentEdgesOf, mappedName } from '@witan/protocol/edges'
import { type Declared, type Flow, flowFrom, type Link } from './flow.ts'
import { takersIn } from './takers.ts'
import { type AgentSet, type Listers, reachable } from './graph.ts'
import { unavailableFrom } from './matrix.ts'
import { errorAt, type Refusal } from './names.ts'
import type { Pausable } from '../../identity/pausable.ts'
import { type Below, upstreamOf } from './upstream.ts'

/** What is computed once for all agents of a check. */
export interface ParameterSurvey {
  readonly agents: AgentSet
  readonly listers: Listers
  readonly flow: Flow
}

/** The findings below a set of roots. */
export interface ParameterFindings {
  /** The findings about the parameters of one agent. */
  of(agent: AgentData): Pausable<Finding[]>
  /** Names whose value may have to fit two types in one conversation. */
  readonly doubtful: ReadonlySet<string>
  /** How many unreachable paths over a link were named. */
  readonly named: Map<Link, number>
}

/** Computes the flow below everything that is checked. */
export function* surveyParameters(
  checked: readonly AgentData[],
  set: Pick<ParameterSurvey, 'agents' | 'listers'>,
): Pausable<ParameterSurvey> {
  return { ...set, flow: yield* flowFrom(checked, set.agents) }
}

/** Examines the parameters of these roots and of everything below them. */
export function* findBelow(
  roots: readonly AgentData[],
  within: ReadonlySet<AgentData>,
  { flow }: ParameterSurvey,
): Pausable<ParameterFindings> {
  const below = { roots: new Set(roots), within }
  const upstream = yield* upstreamOf(flow, below)
  const doubtful = yield* doubtfulNames(flow, below)
  function* of(agent: AgentData): Pausable<Finding[]> {
    const findings: Finding[] = []
    for (const node of flow.declared(agent)) {
      yield
      const at = { severity: 'warning', agent: agent.id, path: pathOf(node) } as const
      findings.push(...ownFindings(node))
      for (const link of node.above) if (within.has(link.parent)) findings.push(...clashOf(link))
      findings.push(...upstream(node).map((one) => ({ ...one, ...at })))
    }
    return findings
  }
  return { of, doubtful, named: new Map() }
}

function* doubtfulNames(flow: Flow, below: Below): Pausable<ReadonlySet<string>> {
  if (twoTypes([...below.within].flatMap((agent) => flow.declared(agent))) === null) return new Set()
  const takers = yield* takersIn(flow, { ...below, sure: new Set() })
  return new Set([...takers].flatMap(([name, some]) => (twoTypes(some) === null ? [] : [name])))
}

/**
 * Findings that only a root has: edges from agents that it does not reach, values of its conversations, and unreachable
 * delegates.
 */
export function* findFrom(root: AgentData, survey: ParameterSurvey, found: ParameterFindings): Pausable<Finding[]> {
  const clashes = clashesAbove(root, survey)
  const distant = found.doubtful.size > 0 ? yield* distantClashes(root, survey, found.doubtful) : []
  const unavailable = yield* unavailableFrom(root, { ...survey, named: found.named })
  return [...clashes, ...distant, ...unavailable]
}

/** The edges that lead to `root`. A save of the child alone must not clash with the agents that pass values to it [Rb07]. */
function clashesAbove(root: AgentData, { agents, listers }: ParameterSurvey): Finding[] {
  return (listers.get(root.id) ?? []).flatMap((id) => {
    const parent = agents.get(id)
    if (parent === undefined) return []
    const declared = new Map(parent.parameters.map((one) => [one.name, one] as const).reverse())
    const edges = agentEdgesOf(parent).filter((edge) => edge.agent === root.id)
    return edges.flatMap((edge) =>
      root.parameters.flatMap((parameter, index) => {
        const source = declared.get(mappedName(edge, parameter.name) ?? '')
        return source === undefined
          ? []
          : clash({ agent: root, parameter, index }, { agent: parent, parameter: source })
      }),
    )
  })
}

/**
 * One conversation value that must fit two types, although no edge passes it between them [E17]. An error if every start of
 * `root` must supply it; nothing if a model may generate both.
 */
function* distantClashes(
  root: AgentData,
  { agents, listers, flow }: ParameterSurvey,
  only: ReadonlySet<string>,
): Pausable<Finding[]> {
  const isRoot = !listers.has(root.id)
  const shown = new Set(root.parameters.filter(({ sendToModel }) => sendToModel).map(({ name }) => name))
  const within = new Set(reachable(root, agents))
  const takers = yield* takersIn(flow, { roots: new Set([root]), within, sure: shown, only })
  const isHandedDown = ({ above }: Declared) =>
    above.some((link) => within.has(link.parent) && clashOf(link).length > 0)
  return [...takers].flatMap(([name, some]) => {
    const clashing = twoTypes(some)
    if (clashing === null || isHandedDown(clashing[1])) return []
    const mustBeGiven = isRoot && shown.has(name)
    if (!mustBeGiven && !clashing.some(({ parameter }) => needsCaller(parameter))) return []
    const [one, another] = clashing.map((taker) => typeIn(taker, name))
    const finding = errorAt(clashing[1].agent, pathOf(clashing[1]), {
      code: 'PARAM_TYPE_CLASH',
      detail: `\`${name}\` is one value in a conversation, but ${one} and ${another}.`,
      hint: 'Give both the same type, or map another name on an edge.',
    })
    return [mustBeGiven ? finding : { ...finding, severity: 'warning' as const }]
  })
}

/** The first two of these that no single value fits. */
function twoTypes(takers: readonly Declared[]): [Declared, Declared] | null {
  const [first, ...others] = takers.filter(({ parameter }) => parameter.type !== 'any')
  const other = others.find(({ parameter }) => parameter.type !== first?.parameter.type)
  return first === undefined || other === undefined ? null : [first, other]
}

function typeIn({ agent, parameter }: Declared, given: string): string {
  return `\`${parameter.type}\` in \`${agent.id}\`${parameter.name === given ? '' : ` as \`${parameter.name}\``}`
}

/** True if no model may generate it. */
function needsCaller({ sendToModel, policy }: Parameter): boolean {
  return policy !== null || !sendToModel
}

function ownFindings({ agent, parameter, index }: Declared): Finding[] {
  const findings: Finding[] = []
  const warn = (code: WarningFinding['code'], detail: string, hint: string) =>
    findings.push({ code, severity: 'warning', agent: agent.id, path: pathOf({ index }), detail, hint })
  if (!parameter.sendToModel && parameter.policy === null) {
    warn(
      'PARAM_HIDDEN_GENERATABLE',
      `\`${parameter.name}\` is hidden from the model but a parent's model may generate it.`,
      'Set `policy: "forbidModelGeneration"` or `sendToModel: true`.',
    )
  }
  if (parameter.secret && parameter.sendToModel) {
    warn(
      'PARAM_SECRET_SHOWN',
      `\`${parameter.name}\` is secret, but its value is shown to the model of \`${agent.id}\`.`,
      'Set `sendToModel: false`, or leave out `secret`.',
    )
  }
  return findings
}

function clashOf({ to, source }: Link): Finding[] {
  return source === null ? [] : clash(to, source)
}

type Place = Pick<Declared, 'agent' | 'parameter'>

function clash(to: Place & Pick<Declared, 'index'>, source: Place): (ErrorFinding & Refusal<'PARAM_TYPE_CLASH'>)[] {
  const { type, name } = to.parameter
  const above = source.parameter
  if (above.type === type || above.type === 'any' || type === 'any') return []
  const alias = above.name === name ? '' : ` as \`${above.name}\``
  return [
    errorAt(to.agent, pathOf(to), {
      code: 'PARAM_TYPE_CLASH',
      detail: `\`${name}\` is \`${type}\` in \`${to.agent.id}\` but \`${above.type}\` in \`${source.agent.id}\`, which passes it down${alias}.`,
      hint: 'Give both the same type, or map another name on the edge.',
    }),
  ]
}

function pathOf({ index }: Pick<Declared, 'index'>): string {
  return `parameters.${index}`
}
