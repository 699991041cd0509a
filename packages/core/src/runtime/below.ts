/** Walks from the root of a conversation down a path of agents: each call stands as if the one above had just begun it. */
import { WitanError } from '@witan/protocol'
import { stepsOf } from '@witan/protocol/edges'
import type { ToolMode } from '@witan/protocol/entries'
import type { AgentPath } from '../agent/check/graph.ts'
import type { AgentCall } from '../conversation/state.ts'
import type { PinnedAgent } from '../job/environment.ts'
import { startTarget } from '../run/hand-over.ts'
import { startChild } from '../run/spawn.ts'
import type { FirstCall } from './first-call.ts'

/** The call at the end of a path that begins with the root. `toolMode` is that of this call; null: what its edge and its agent say. */
export function callAt(first: Pick<FirstCall, 'call' | 'job'>, path: AgentPath, toolMode: ToolMode | null): AgentCall {
  const { job } = first
  const { parent: above, edge, agent } = path
  if (above === null || edge === null) return first.call
  const parent = callAt(first, above, null)
  const pinned = enabled(job.env.pinned(job.log.state.database, agent.id, job.run.revisions), agent.id)
  const { map } = edge
  if (!edge.addsDepth) {
    const to = { agent: agent.id, map, handOver: { history: 'all', returns: false } } as const
    return liveCall(first, startTarget(parent, job, { to, pinned }).call)
  }
  const callId = job.env.ids.call()
  const index = edge.kind === 'workflow' ? Number(edge.at.split('.')[2]) : null
  const { workflow } = parent.agent
  const mode = toolMode ?? (workflow === null || index === null ? null : (stepsOf(workflow)[index]?.toolMode ?? null))
  const overrides = mode === null ? {} : { overrides: { toolMode: mode } }
  const child = { agent: agent.id, message: '', generated: null, map, history: 'agent', ...overrides } as const
  const more = { toolCallId: null, ...(index === null ? {} : { step: { index, round: 0 } }) }
  startChild({ parent, child, pinned, callId, parentCall: parent.place.call, more }, job)
  return liveCall(first, callId)
}

function enabled(pinned: PinnedAgent | null, id: string): PinnedAgent {
  if (pinned !== null) return pinned
  throw new WitanError('AGENT_DISABLED', `Agent \`${id}\` is disabled.`, { path: 'below', hint: 'Enable it first.' })
}

function liveCall({ job }: Pick<FirstCall, 'job'>, id: string): AgentCall {
  const call = job.run.calls.get(id)
  if (call === undefined) throw new Error(`call ${id} did not start`)
  return call
}
