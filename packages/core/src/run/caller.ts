/** The tools of an agent call, and what those tools may know about it. */
import { workflowKindOf } from '../agent/workflow/next.ts'
import { critiqueGuidance } from '../conversation/critique.ts'
import { planStanding } from '../conversation/plan.ts'
import { type AgentCall, positionOf } from '../conversation/state.ts'
import { systemMessage } from '../conversation/system-message.ts'
import { definitionOf, isWorkflow } from '../conversation/workflow.ts'
import { markForeign } from '../model/attribution.ts'
import type { ModelTool } from '../model/model.ts'
import type { Caller } from '../tool/tool.ts'
import type { CallTools, Job } from '../job/job.ts'

/** What the tools of a call depend on: a job has it, and so has whoever computes from a log what a model was asked. */
export interface Asking extends Pick<Job, 'run'> {
  readonly env: Pick<Job['env'], 'toolset' | 'guidance' | 'ceilings'>
  readonly log: Pick<Job['log'], 'state'>
  readonly cache: Pick<Job['cache'], 'tools'>
}

/** The tools of a call, cached: while it is live they change only with its agent's exchanges, and with renewed evidence of its principal. */
export function toolsOf(call: AgentCall, job: Asking): CallTools {
  const known = job.cache.tools.get(call)
  const { principal, exchanges } = job.run
  const { moves } = exchanges
  const isSame = known?.moves === moves || call.agent.speaks.length === 0
  if (known !== undefined && isSame && known.caller.principal === principal && known.caller.mcp === (call.mcp ?? none))
    return known
  const caller = callerOf(call, job)
  const toolset = job.env.toolset(caller)
  const offers: ModelTool[] = []
  const lines: string[] = []
  let isAlone = true
  for (const { offer, isExtra, systemLines } of toolset.values()) {
    if (offer === null) continue
    offers.push(marked(offer))
    if (systemLines !== undefined) lines.push(...systemLines)
    if (isExtra !== true) isAlone = false
  }
  if (isAlone) offers.length = 0
  lines.push(...job.env.guidance(caller))
  if (call.agent.enableReflection) lines.push(critiqueGuidance)
  const made = { caller, toolset, offers, system: systemMessage(call, { maxDepth: caller.maxDepth, lines }), moves }
  job.cache.tools.set(call, made)
  return made
}

/** A description may hold words of other agents, of people and of remotes. */
function marked(offer: ModelTool): ModelTool {
  const description = markForeign(offer.description)
  return description === offer.description ? offer : { ...offer, description }
}

const none: Caller['mcp'] = []

function callerOf(call: AgentCall, job: Asking): Caller {
  const lineage: Caller['lineage'][number][] = []
  for (let current: AgentCall | null = call; current !== null; current = current.parent)
    lineage.unshift({ agent: current.agent.id, message: current.message, parameters: current.parameters })
  const { database, id, conversationValues } = job.log.state
  return {
    callId: call.place.call,
    runId: call.place.run,
    database,
    principal: job.run.principal,
    agent: call.agent,
    toolMode: call.toolMode,
    agentPath: call.place.agentPath,
    conversationId: id,
    document: call.document.path,
    depth: call.depth,
    maxDepth: Math.min(job.env.ceilings.maxDepth, job.run.tree.limits.maxDepth),
    parameters: call.parameters,
    conversationValues,
    revisions: job.run.revisions,
    people: call.people,
    hasLeft: (user) => job.log.state.people.all.some(({ id, presence }) => id === user && presence === 'left'),
    plan: () => planStanding(call),
    scrub: call.scrub,
    exchanges: job.run.exchanges,
    loop: loopOf(call),
    mcp: call.mcp ?? none,
    lineage,
  }
}

/** The nearest loop around a call; only workflows may stand between. */
function loopOf(call: AgentCall): Caller['loop'] {
  for (let at = positionOf(call).parent; at !== null && isWorkflow(at); at = positionOf(at).parent) {
    const definition = definitionOf(at)
    if (workflowKindOf(definition).endsByExit) return { exitBy: definition.exitBy }
  }
  return null
}
