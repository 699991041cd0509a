/** Checks of parameters along the edges: types that clash, values that leak upwards, trusted values nobody can give; and the matrix. */
import type { AgentData, Finding, MatrixRow, Parameter } from '@witan/protocol'
import { type Taker, takersOf } from './given.ts'
import { type AgentPath, type AgentSet, listedBy, pathsFrom } from './graph.ts'
import { errorAt } from './names.ts'

/** Findings about the parameters of `root` and everything below it. */
export function checkParameters(root: AgentData, agents: AgentSet): Finding[] {
  const findings = new Map<string, Finding>()
  const add = (finding: Finding) =>
    findings.set(`${finding.code} ${finding.agent} ${finding.path} ${finding.detail}`, finding)
  for (const at of pathsFrom(root, agents)) {
    for (const [index, parameter] of at.agent.parameters.entries()) {
      for (const finding of findingsOf(at, parameter, `parameters.${index}`)) add(finding)
    }
  }
  for (const at of edgesTo(root, agents)) {
    for (const [index, parameter] of root.parameters.entries()) {
      for (const finding of clashesOf(at, parameter, `parameters.${index}`)) add(finding)
    }
  }
  for (const finding of distantClashes(root, agents)) {
    const isTold = [...findings.values()].some(
      ({ code, agent, path }) => code === finding.code && agent === finding.agent && path === finding.path,
    )
    if (!isTold) add(finding)
  }
  return [...findings.values()]
}

/**
 * One value of a conversation that has to fit two types, though no edge hands it from one to the other [E17]. An error where every
 * start of `root` must give it; nothing where both may be left to a model.
 */
function distantClashes(root: AgentData, agents: AgentSet): Finding[] {
  const isRoot = listedBy(root.id, agents).length === 0
  return [...takersOf(root, agents)].flatMap(([name, takers]) => {
    const [first, ...others] = takers.filter(({ parameter }) => parameter.type !== 'any')
    const other = others.find(({ parameter }) => parameter.type !== first?.parameter.type)
    if (first === undefined || other === undefined) return []
    const mustBeGiven = isRoot && root.parameters.some((one) => one.name === name && one.sendToModel)
    if (!mustBeGiven && !needsCaller(first.parameter) && !needsCaller(other.parameter)) return []
    const { agent, parameter } = other
    const [one, another] = [first, other].map((taker) => typeIn(taker, name))
    const finding = errorAt(agent, `parameters.${agent.parameters.indexOf(parameter)}`, {
      code: 'PARAM_TYPE_CLASH',
      detail: `\`${name}\` is one value in a conversation, but ${one} and ${another}.`,
      hint: 'Give both the same type, or map another name on an edge.',
    })
    return [mustBeGiven ? finding : { ...finding, severity: 'warning' as const }]
  })
}

function typeIn({ agent, parameter }: Taker, given: string): string {
  return `\`${parameter.type}\` in \`${agent.id}\`${parameter.name === given ? '' : ` as \`${parameter.name}\``}`
}

/** Whether no model is meant to make it. */
function needsCaller({ sendToModel, policy }: Taker['parameter']): boolean {
  return policy !== null || !sendToModel
}

/** The edges that lead to `root`: a save of the child alone must not clash with who hands its values down [Rb07]. */
function edgesTo(root: AgentData, agents: AgentSet): AgentPath[] {
  return listedBy(root.id, agents).flatMap((id) => {
    const agent = agents.get(id)
    const edge = agent?.subAgents.find((one) => one.agent === root.id)
    if (agent === undefined || edge === undefined) return []
    return [{ path: `${id}/${root.id}`, agent: root, parent: { path: id, agent, parent: null, edge: null }, edge }]
  })
}

function findingsOf(at: AgentPath, parameter: Parameter, path: string): Finding[] {
  const findings: Finding[] = []
  const { agent } = at
  const warn = (code: string, detail: string, hint: string) =>
    findings.push({ code, severity: 'warning', agent: agent.id, path, detail, hint })
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
      `\`${parameter.name}\` is secret, and yet the model of \`${agent.id}\` is shown its value.`,
      'Set `sendToModel: false`, or leave out `secret`.',
    )
  }
  findings.push(...clashesOf(at, parameter, path))
  for (const { code, detail, hint } of upstreamOf(at, parameter)) warn(code, detail, hint)
  if (boundFrom(at, parameter) === 'missing') {
    warn(
      'DELEGATE_UNAVAILABLE',
      `\`${at.path}\` can never be called: nobody can give \`${parameter.name}\`, and no model may.`,
      'Map the name on the edge, or declare it on the parent.',
    )
  }
  return findings
}

/** What the agents above make of a value that this one trusts, or hides. */
function upstreamOf(at: AgentPath, parameter: Parameter): Pick<Finding, 'code' | 'detail' | 'hint'>[] {
  const { agent } = at
  const findings: Pick<Finding, 'code' | 'detail' | 'hint'>[] = []
  const shower = parameter.sendToModel ? null : exposer(at, parameter)
  if (shower !== null) {
    findings.push({
      code: 'PARAM_EXPOSED_UPSTREAM',
      detail: `\`${parameter.name}\` is hidden in \`${agent.id}\` but shown to \`${shower.agent.id}\`${alias(shower.parameter, parameter)}, which can repeat it in text.`,
      hint: `Set \`sendToModel: false\` in \`${shower.agent.id}\` too.`,
    })
  }
  const source = sourceOf(at, parameter)
  const taker = source === null || at.parent === null || parameter.policy === null ? null : generated(at.parent, source)
  if (taker !== null) {
    findings.push({
      code: 'PARAM_UNTRUSTED_UPSTREAM',
      detail: `\`${parameter.name}\` of \`${agent.id}\` takes no value that a model made, but the model of \`${taker.parent?.agent.id}\` may make the one that \`${taker.agent.id}\` hands down: a run that calls \`${agent.id}\` then fails.`,
      hint: `Set \`policy: "forbidModelGeneration"\` in \`${taker.agent.id}\` too.`,
    })
  }
  return findings
}

function clashesOf(at: AgentPath, parameter: Parameter, path: string): Finding[] {
  const { agent } = at
  const source = sourceOf(at, parameter)
  if (source === null || source.type === parameter.type || source.type === 'any' || parameter.type === 'any') return []
  return [
    errorAt(agent, path, {
      code: 'PARAM_TYPE_CLASH',
      detail: `\`${parameter.name}\` is \`${parameter.type}\` in \`${agent.id}\` but \`${source.type}\` in \`${at.parent?.agent.id}\`, which hands it down${alias(source, parameter)}.`,
      hint: 'Give both the same type, or map another name on the edge.',
    }),
  ]
}

/** The parent's declaration that hands this parameter down, or null. */
function sourceOf(at: AgentPath, parameter: Parameter): Parameter | null {
  const name = mappedName(at, parameter)
  return name === null ? null : (at.parent?.agent.parameters.find((one) => one.name === name) ?? null)
}

function mappedName(at: AgentPath, parameter: Parameter): string | null {
  if (at.edge === null) return null
  return Object.hasOwn(at.edge.map, parameter.name) ? (at.edge.map[parameter.name] ?? null) : parameter.name
}

/** Under which other name an agent above has the value. */
function alias(above: Parameter, below: Parameter): string {
  return above.name === below.name ? '' : ` as \`${above.name}\``
}

/** The nearest ancestor whose model sees the very value that this agent hides, handed down or given by the conversation. */
function exposer(at: AgentPath, parameter: Parameter): Taker | null {
  const { parent } = at
  const source = sourceOf(at, parameter)
  if (parent === null) return null
  if (source !== null) return source.sendToModel ? { agent: parent.agent, parameter: source } : exposer(parent, source)
  const given = mappedName(at, parameter)
  for (let above = parent.parent; above !== null && given !== null; above = above.parent) {
    const on = above
    const shown = on.agent.parameters.find((one) => one.sendToModel && givenName(on, one) === given)
    if (shown !== undefined) return { agent: on.agent, parameter: shown }
  }
  return null
}

/** Under which name a conversation gives this parameter its value; null where the edges cut it off. */
function givenName(at: AgentPath, parameter: Parameter): string | null {
  if (at.parent === null) return parameter.name
  const source = sourceOf(at, parameter)
  return source === null ? mappedName(at, parameter) : givenName(at.parent, source)
}

/** The agent above that gets this value from its caller's model where no conversation gives it; null where no model may make it. */
function generated(at: AgentPath, parameter: Parameter): AgentPath | null {
  if (at.parent === null || parameter.policy !== null) return null
  const source = sourceOf(at, parameter)
  return source === null ? at : generated(at.parent, source)
}

function boundFrom(at: AgentPath, parameter: Parameter): MatrixRow['boundFrom'] {
  if (at.parent === null) return 'conversation'
  const trusted = parameter.policy === 'forbidModelGeneration'
  const source = sourceOf(at, parameter)
  if (source !== null && !(trusted && generated(at.parent, source) !== null))
    return boundFrom(at.parent, source) === 'missing' ? 'missing' : 'parent'
  if (!trusted) return 'model'
  return mappedName(at, parameter) === null ? 'missing' : 'conversation'
}

/** Agent by parameter on every path from `root`: where a value comes from, whether a model sees it, whether one may make it. */
export function matrixOf(root: AgentData, agents: AgentSet): MatrixRow[] {
  return pathsFrom(root, agents).flatMap((at) =>
    at.agent.parameters.map((parameter) => ({
      path: at.path,
      agent: at.agent.id,
      parameter: parameter.name,
      boundFrom: boundFrom(at, parameter),
      shown: parameter.sendToModel,
      mayGenerate: at.parent !== null && parameter.policy === null && sourceOf(at, parameter) === null,
    })),
  )
}
