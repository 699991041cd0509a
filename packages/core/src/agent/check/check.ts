/** The check: everything that can be known of a set of agents before anything runs. */
import type { AgentData, CheckReport, Finding } from '@witan/protocol'
import type { QuerySource } from '../../tool/source.ts'
import { type AgentSet, cyclesThrough, listedBy, pathsFrom, reachable } from './graph.ts'
import { checkNames, type Surroundings } from './names.ts'
import { checkParameters, matrixOf } from './parameters.ts'
import { checkPrices } from './prices.ts'
import { checkQueries } from './queries.ts'
import { checkUnused } from './unused.ts'

/** What a check looks at beside the agents. */
export interface CheckContext extends Surroundings {
  readonly querySources: ReadonlyMap<string, QuerySource>
  /** How deep any run may go, whatever its root says. */
  readonly maxDepth: number
}

/** Findings about one agent within its set: what refuses its save, and what is kept with it. */
export async function checkAgent(agent: AgentData, agents: AgentSet, context: CheckContext): Promise<Finding[]> {
  return [
    ...checkNames(agent, agents, context),
    ...(await checkQueries(agent, context.querySources)),
    ...checkParameters(agent, agents),
    ...checkUnused(agent, agents, context),
    ...checkPrices(agent, agents, context),
    ...checkCycles(agent, agents),
  ]
}

/** Agents that all list each other turn in more circles than anybody reads: of one agent so many are told with their paths, the shortest, and how many there are. */
const mostCycles = 20

function checkCycles(agent: AgentData, agents: AgentSet): Finding[] {
  const { maxDepth, maxModelCalls } = agent.limits
  const cycles = cyclesThrough(agent, agents)
  const details = cycles
    .slice(0, mostCycles)
    .map(
      (cycle) =>
        `Cycle: ${cycle.join(' → ')}. Runs are bounded by maxDepth ${maxDepth} and maxModelCalls ${maxModelCalls}.`,
    )
  const rest = cycles.length - details.length
  if (rest > 0) details.push(`\`${agent.id}\` is on at least ${rest} more cycles.`)
  return details.map((detail) => ({
    code: 'AGENT_CYCLE',
    severity: 'warning',
    agent: agent.id,
    path: 'subAgents',
    detail,
    hint: 'A cycle is allowed; every re-entry is a fresh call.',
  }))
}

/** The whole report: findings of `checked`, and the matrix and handler paths of every root among them. */
export async function checkAll(
  checked: readonly AgentData[],
  agents: AgentSet,
  context: CheckContext,
): Promise<CheckReport> {
  const findings: Finding[] = []
  const seen = new Set<string>()
  const together = { ...context, checked: new Set(checked.map(({ id }) => id)) }
  for (const agent of checked) {
    for (const finding of await checkAgent(agent, agents, together)) {
      const key = JSON.stringify(finding)
      if (!seen.has(key)) findings.push(finding)
      seen.add(key)
    }
  }
  const shown = rootsOf(checked, agents)
  return {
    errors: findings.filter(({ severity }) => severity === 'error'),
    warnings: findings.filter(({ severity }) => severity === 'warning'),
    matrix: shown.flatMap((root) => matrixOf(root, agents)),
    handlers: [...new Set(shown.flatMap((root) => handlersOf(root, agents)))],
  }
}

/** Agents that nobody lists, and then one of every circle that none of them reaches: together they reach all. */
function rootsOf(checked: readonly AgentData[], agents: AgentSet): readonly AgentData[] {
  const roots = checked.filter((agent) => listedBy(agent.id, agents).length === 0)
  const reached = new Set(roots.flatMap((root) => reachable(root, agents)).map(({ id }) => id))
  for (const agent of checked) {
    if (reached.has(agent.id)) continue
    roots.push(agent)
    for (const { id } of reachable(agent, agents)) reached.add(id)
  }
  return roots
}

/** The paths that a client must register handlers for [R26, R27]. */
function handlersOf(root: AgentData, agents: AgentSet): string[] {
  return pathsFrom(root, agents).flatMap((at) =>
    at.agent.actions.map(({ name }) => [...at.path.split('/').slice(1), name].join('/')),
  )
}
