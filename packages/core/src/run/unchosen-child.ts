/** An agent that is called without a choice of any model: to criticise or to check what another reads or says. */
import type { AgentCall } from '../conversation/state.ts'
import type { PinnedAgent } from '../job/environment.ts'
import type { Job } from '../job/job.ts'
import { bind } from '../parameter/bind.ts'

/** Why it cannot be called below a call, in words and for programs. */
interface Obstacle {
  readonly reason: 'budget' | 'agent'
  readonly why: string
}

/** The agent as it is pinned, or what stands in its way. */
export function unchosenChild(call: AgentCall, job: Job, agent: string): PinnedAgent | Obstacle {
  const { log, env, run } = job
  const most = Math.min(env.ceilings.maxDepth, run.tree.limits.maxDepth)
  if (call.depth >= most) return { reason: 'budget', why: `\`${agent}\` would work deeper than ${most}` }
  const pinned = env.pinned(log.state.database, agent, run.revisions)
  if (pinned === null) return { reason: 'agent', why: `\`${agent}\` was deleted or disabled` }
  const { missing, generate } = bind(pinned.data.parameters, {
    parent: call.parameters,
    conversationValues: log.state.conversationValues,
    map: {},
  })
  const [lacking] = [...missing, ...generate]
  if (lacking === undefined) return pinned
  return { reason: 'agent', why: `\`${agent}\` needs \`${lacking.name}\`, and no model supplies a value here` }
}
