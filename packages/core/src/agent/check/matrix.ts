/** Where each parameter gets its value on each path: the matrix, and the delegates that can never be called. */
import type { AgentData, Finding, MatrixRow } from '@witan/protocol'
import type { AgentEdge } from '@witan/protocol/edges'
import type { Declared, Flow, Link } from './flow.ts'
import { type AgentPath, type AgentSet, pathsFrom, reachable } from './graph.ts'
import { errorAt } from './names.ts'
import type { Pausable } from '../../identity/pausable.ts'

/** One parameter of the agent at the end of a path. */
interface BoundAt {
  readonly from: MatrixRow['boundFrom']
  /** True if a model of the path generates it when the conversation has no value. */
  readonly isGenerated: boolean
  /** True if no agent above passes it down. */
  readonly isFirst: boolean
}

const givenToRoot: BoundAt = { from: 'conversation', isGenerated: false, isFirst: true }

/** Agents and parameters on every path: the source of the value, whether a model sees it, and whether a model may generate it. */
export function* matrixOf(paths: readonly AgentPath[], flow: Flow): Pausable<MatrixRow[]> {
  const rows: MatrixRow[] = []
  for (const [{ path, agent, edge }, bound] of yield* boundOn(paths, flow)) {
    yield
    for (const [index, { from, isFirst }] of bound.entries()) {
      const parameter = agent.parameters[index] as Declared['parameter']
      rows.push({
        path,
        agent: agent.id,
        parameter: parameter.name,
        boundFrom: from,
        shown: parameter.sendToModel,
        mayGenerate: edge?.mayGenerate === true && parameter.policy === null && isFirst,
      })
    }
  }
  return rows
}

/** The source of every parameter on these paths. A path comes after the path that it extends. */
function* boundOn(paths: readonly AgentPath[], flow: Flow): Pausable<ReadonlyMap<AgentPath, readonly BoundAt[]>> {
  const bound = new Map<AgentPath, readonly BoundAt[]>()
  for (const at of paths) {
    yield
    const { agent, parent, edge } = at
    const above = parent === null ? [] : (bound.get(parent) ?? [])
    bound.set(
      at,
      parent === null || edge === null
        ? agent.parameters.map(() => givenToRoot)
        : flow.links(parent.agent, edge).map((link) => boundBy(link, above)),
    )
  }
  return bound
}

function boundBy({ to, source, name, mayGenerate }: Link, above: readonly BoundAt[]): BoundAt {
  const isTrusted = to.parameter.policy !== null
  const handed = source === null ? undefined : above[source.index]
  const isFirst = handed === undefined
  const isGenerated = !isTrusted && (handed?.isGenerated ?? mayGenerate)
  if (handed !== undefined && !(isTrusted && handed.isGenerated))
    return { from: handed.from === 'missing' ? 'missing' : 'parent', isGenerated, isFirst }
  if (!isTrusted && mayGenerate) return { from: 'model', isGenerated, isFirst }
  return { from: name === null ? 'missing' : 'conversation', isGenerated, isFirst }
}

/** The maximum number of paths that a report names for one edge whose target cannot be reached. */
const mostWays = 20

/**
 * Warns of each path from `root` to a delegate that can never be called, because no caller can supply a parameter that no model
 * may generate. `named` counts the paths already reported for each link, in the whole report.
 */
export function* unavailableFrom(
  root: AgentData,
  { agents, flow, named }: { readonly agents: AgentSet; readonly flow: Flow; readonly named: Map<Link, number> },
): Pausable<Finding[]> {
  const findings: Finding[] = []
  const isCut = ({ above, parameter }: Declared) =>
    above.some(({ name, mayGenerate }) => name === null && (parameter.policy !== null || !mayGenerate))
  if (!reachable(root, agents).some((agent) => flow.declared(agent).some(isCut))) return findings
  for (const [{ agent, path, parent, edge }, bound] of yield* boundOn(yield* pathsFrom(root, agents), flow)) {
    if (parent === null || edge === null) continue
    yield
    for (const link of flow.links(parent.agent, edge)) {
      const { index, parameter } = link.to
      const before = named.get(link) ?? 0
      if (bound[index]?.from !== 'missing' || before >= mostWays) continue
      named.set(link, before + 1)
      if (edge.kind === 'workflow') {
        findings.push(unbound(link, edge))
        continue
      }
      findings.push({
        code: 'DELEGATE_UNAVAILABLE',
        severity: 'warning',
        agent: agent.id,
        path: `parameters.${index}`,
        detail: `\`${path}\` can never be called: nobody can give \`${parameter.name}\`, and no model may.`,
        hint: 'Map the name on the edge, or declare it on the parent.',
      })
    }
  }
  return findings
}

/** A step that can never start: a workflow has no model that could supply the value, and its map keeps the conversation's away. */
function unbound({ parent, to }: Link, { agent, agentAt }: AgentEdge): Finding {
  return errorAt(parent, agentAt, {
    code: 'WORKFLOW_PARAM_UNBOUND',
    detail: `\`${agent}\` needs \`${to.parameter.name}\`: a workflow has no model that could supply it.`,
    hint: 'Map the name to one that the workflow declares, or leave it out of the map, so that the conversation supplies it.',
  })
}
