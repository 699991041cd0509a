/** What tools may know of the agent call that makes them, and the tools it has. */
import type { AgentCall } from '../conversation/state.ts'
import type { Caller, Toolset } from '../tool/tool.ts'
import type { Job } from './job.ts'

/** A call's tools and what they may know of it. */
export interface CallTools {
  readonly caller: Caller
  readonly toolset: Toolset
}

const made = new WeakMap<AgentCall, CallTools>()

/** Made once per call: the tools of a call do not change while it lives. */
export function toolsOf(call: AgentCall, job: Job): CallTools {
  const known = made.get(call)
  if (known !== undefined) return known
  const caller = callerOf(call, job)
  const tools = { caller, toolset: job.env.toolset(caller) }
  made.set(call, tools)
  return tools
}

function callerOf(call: AgentCall, job: Job): Caller {
  const lineage: { agent: string; message: string }[] = []
  for (let one: AgentCall | null = call; one !== null; one = one.parent) lineage.unshift({ agent: one.agent.id, message: one.message })
  const { database, id, given } = job.log.state
  return {
    callId: call.place.call,
    database,
    agent: call.agent,
    agentPath: call.place.agentPath,
    conversationId: id,
    document: call.document.path,
    depth: call.depth,
    maxDepth: Math.min(job.env.ceilings.maxDepth, job.run.root.agent.limits.maxDepth),
    parameters: call.parameters,
    given,
    lineage,
  }
}
