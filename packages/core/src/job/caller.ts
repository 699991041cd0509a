/** What tools may know of the agent call that makes them, and the tools it has. */
import type { AgentCall } from '../conversation/state.ts'
import type { ModelTool } from '../model/model.ts'
import type { Caller } from '../tool/tool.ts'
import type { CallTools, Job } from './job.ts'

/** Made once per call: the tools of a call do not change while it lives. */
export function toolsOf(call: AgentCall, job: Job): CallTools {
  const known = job.memo.tools.get(call)
  if (known !== undefined) return known
  const caller = callerOf(call, job)
  const toolset = job.env.toolset(caller)
  const offers: ModelTool[] = []
  for (const tool of toolset.values()) if (tool.offer !== null) offers.push(tool.offer)
  const made = { caller, toolset, offers }
  job.memo.tools.set(call, made)
  return made
}

function callerOf(call: AgentCall, job: Job): Caller {
  const lineage: Caller['lineage'][number][] = []
  for (let one: AgentCall | null = call; one !== null; one = one.parent)
    lineage.unshift({ agent: one.agent.id, message: one.message, parameters: one.parameters })
  const { database, id, given } = job.log.state
  return {
    callId: call.place.call,
    database,
    agent: call.agent,
    agentPath: call.place.agentPath,
    conversationId: id,
    document: call.document.path,
    depth: call.depth,
    maxDepth: Math.min(job.env.ceilings.maxDepth, job.run.tree.limits.maxDepth),
    parameters: call.parameters,
    given,
    revisions: job.run.revisions,
    lineage,
  }
}
