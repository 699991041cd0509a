/** The check: everything that can be known about a set of agents before anything runs. */
import type { AgentData, CheckReport, Finding, MatrixRow } from '@witan/protocol'
import type { MaySend } from '../bearers.ts'
import type { QuerySource } from '../../tool/source.ts'
import { checkAccess } from './access.ts'
import { checkAddresses, checkPublished } from './addresses.ts'
import { checkAliases } from './aliases.ts'
import { checkApprovals } from './approvals.ts'
import { checkDescriptions } from './descriptions.ts'
import { type AgentSet, cyclesThrough, listersOf, mostPaths, pathsFrom, reachable, reachableFrom } from './graph.ts'
import { checkLongDescriptions } from './long-descriptions.ts'
import { addHandlers } from './handlers.ts'
import { checkHiddenNames } from './hidden-names.ts'
import { callersOf } from './callers.ts'
import { matrixOf } from './matrix.ts'
import { checkNames, type Surroundings } from './names.ts'
import { findBelow, findFrom, type ParameterFindings, type ParameterSurvey, surveyParameters } from './parameters.ts'
import { hotSpotsOf } from './hot-spots.ts'
import { acquaintancesOf, checkPeers, protocolUses, unspoken } from './peers.ts'
import { checkGuardrails } from './guardrails.ts'
import { checkKnowledge } from './knowledge.ts'
import { checkMcp } from './mcp.ts'
import { checkPrices } from './prices.ts'
import { checkQueries } from './queries.ts'
import { runWithPauses, type Pausable } from '../../identity/pausable.ts'
import { checkTransfers } from './transfers.ts'
import { checkRemotes } from './remotes.ts'
import { checkUnused } from './unused.ts'

/** What a check reads besides the agents. */
export interface CheckContext extends Surroundings {
  readonly querySources: ReadonlyMap<string, QuerySource>
  /** Whether a variable of the environment may be sent to a server. */
  readonly maySend: MaySend
  /** The maximum depth of any run, whatever its root allows. */
  readonly maxDepth: number
}

/** What is computed once for all agents of a check. */
export interface Survey extends ParameterSurvey {
  readonly context: CheckContext
}

/** Surveys the agents of a set before their check. Yields to the event loop, so that a large set does not block the process. */
export async function surveyOf(
  checked: readonly AgentData[],
  agents: AgentSet,
  context: CheckContext,
): Promise<Survey> {
  return { ...(await runWithPauses(surveyParameters(checked, { agents, listers: listersOf(agents) }))), context }
}

/** Findings about one agent within its set: errors that refuse its save, and warnings that are stored with it. At most 200. */
export async function checkAgent(agent: AgentData, survey: Survey): Promise<Finding[]> {
  const reached = reachable(agent, survey.agents)
  const found = await runWithPauses(findBelow([agent], new Set(reached), survey))
  const findings = createFindings(mostKept)
  await find(agent, { survey, found, reached, findings })
  return [...findings.errors, ...findings.warnings]
}

const mostKept = 200

interface Finder {
  readonly survey: Survey
  readonly found: ParameterFindings
  /** The agents whose parameters are reported with this one. */
  readonly reached: readonly AgentData[]
  readonly findings: Findings
}

/** Finds the problems of an agent as a root. */
async function find(agent: AgentData, { survey, found, reached, findings }: Finder): Promise<void> {
  const { agents, context } = survey
  findings.add(await runWithPauses(checkGuardrails(agent, agents, context)))
  findings.add(await runWithPauses(checkNames(agent, survey)))
  findings.add(await runWithPauses(checkApprovals(agent, agents, context)))
  findings.add(checkAccess(agent, { agents, ...context }))
  findings.add(checkAddresses(agent, agents))
  findings.add(checkPublished(agent))
  findings.add(checkRemotes(agent, context.maySend))
  findings.add(await checkQueries(agent, context))
  findings.add(await runWithPauses(checkHiddenNames(agent, context)))
  findings.add(await runWithPauses(checkLongDescriptions(agent, { agents, ...context })))
  for (const one of reached) findings.add(await runWithPauses(found.of(one)))
  findings.add(await runWithPauses(findFrom(agent, survey, found)))
  findings.add(await runWithPauses(checkUnused(agent, agents, context)))
  findings.add(await runWithPauses(checkAliases(agent, survey)))
  findings.add(checkTransfers(agent, agents))
  findings.add(await runWithPauses(checkDescriptions(agent, agents)))
  findings.add(checkPeers(agent, { agents, ...context }))
  findings.add(checkKnowledge(agent, context))
  if (context.mcp !== undefined) findings.add(await runWithPauses(checkMcp(agent, context.mcp)))
  findings.add(checkPrices(agent, agents, context))
  findings.add(await runWithPauses(checkCycles(agent, survey)))
}

/** Findings in the order of their discovery. */
interface Findings {
  readonly errors: readonly Finding[]
  readonly warnings: readonly Finding[]
  /** Adds each finding once, since two edges may lead to the same one. Drops findings beyond the maximum of their severity. */
  add(findings: readonly Finding[]): void
}

function createFindings(most: number): Findings {
  const seen = new Set<string>()
  const lists: Record<Finding['severity'], Finding[]> = { error: [], warning: [] }
  return {
    errors: lists.error,
    warnings: lists.warning,
    add(findings) {
      for (const finding of findings) {
        const { severity, code, agent, path, detail } = finding
        const key = [code, agent, path, detail].join('\n')
        if (lists[severity].length >= most || seen.has(key)) continue
        seen.add(key)
        lists[severity].push(finding)
      }
    },
  }
}

/**
 * Agents that all list each other form too many cycles to read. A report has the paths of this many shortest cycles per
 * agent, and the total number.
 */
const mostCycles = 20

function* checkCycles(agent: AgentData, survey: ParameterSurvey): Pausable<Finding[]> {
  const { maxDepth, maxModelCalls, maxTransfers } = agent.limits
  const { cycles, count } = yield* cyclesThrough(agent, { ...survey, most: mostCycles })
  const details = cycles.map(
    (cycle) =>
      `Cycle: ${cycle.map(({ from, edge }) => `${from} –${edge.kind}→ `).join('')}${agent.id}. Runs are bounded by maxDepth ${maxDepth}, maxTransfers ${maxTransfers} and maxModelCalls ${maxModelCalls}.`,
  )
  const rest = count - details.length
  if (rest > 0) details.push(`\`${agent.id}\` is on at least ${rest} more cycles.`)
  return details.map((detail, index) => ({
    code: 'AGENT_CYCLE',
    severity: 'warning',
    agent: agent.id,
    path: cycles[index]?.[0]?.edge.kind ?? cycles[0]?.[0]?.edge.kind ?? 'subAgents',
    detail,
    hint: 'A cycle is allowed; every re-entry is a fresh call.',
  }))
}

/** The full report: findings about `checked`, and the matrix and handler paths of every root among them. */
export async function checkAll(
  checked: readonly AgentData[],
  agents: AgentSet,
  context: CheckContext,
): Promise<CheckReport> {
  const together = { ...context, checked: new Set(checked.map(({ id }) => id)) }
  const survey = await surveyOf(checked, agents, together)
  const left = new Set(reachableFrom(checked, agents))
  const found = await runWithPauses(findBelow(checked, new Set(left), survey))
  const findings = createFindings(mostReported)
  for (const agent of checked) {
    const reached = reachable(agent, agents).filter((one) => left.delete(one))
    await find(agent, { survey, found, reached, findings })
  }
  const protocols = protocolUses(agents, context.protocols)
  findings.add(unspoken(protocols))
  const acquaintances = acquaintancesOf(agents).slice(0, mostReported)
  const { errors, warnings } = findings
  return {
    errors: [...errors],
    warnings: [...warnings],
    ...(await runWithPauses(waysDown(checked, survey))),
    callers: await runWithPauses(callersOf(checked, mostReported)),
    protocols: [...protocols],
    acquaintances,
    hotSpots: [...hotSpotsOf(agents.keys(), acquaintances)],
  }
}

/** A report has at most this many errors, warnings, matrix rows, callers, handlers and acquaintances. */
const mostReported = 20_000

/** The matrix, and the paths for which a client must register handlers [R26, R27]. */
function* waysDown(checked: readonly AgentData[], survey: Survey): Pausable<Pick<CheckReport, 'matrix' | 'handlers'>> {
  const roots = yield* rootsOf(checked, survey)
  const matrix: MatrixRow[] = []
  const handlers = new Set<string>()
  for (const [index, root] of roots.entries()) {
    const share = Math.ceil((mostReported - matrix.length) / (roots.length - index))
    const paths = yield* pathsFrom(root, survey.agents, { most: Math.min(mostPaths, share) })
    for (const row of yield* matrixOf(paths, survey.flow)) if (matrix.length < mostReported) matrix.push(row)
    yield* addHandlers(paths, handlers, { agents: survey.agents, most: mostReported })
  }
  return { matrix, handlers: [...handlers] }
}

/** Agents that no agent lists, then one agent of each cycle that none of these reaches. Together they reach all agents. */
function* rootsOf(checked: readonly AgentData[], { agents, listers }: Survey): Pausable<readonly AgentData[]> {
  const roots = checked.filter((agent) => !listers.has(agent.id))
  const reached = new Set(reachableFrom(roots, agents))
  for (const agent of checked) {
    if (reached.has(agent)) continue
    yield
    roots.push(agent)
    for (const one of reachable(agent, agents)) reached.add(one)
  }
  return roots
}
