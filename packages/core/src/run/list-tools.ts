/** Asks the MCP servers of an agent for their tools, before its model is first asked. */
import { entryOfListed } from '../conversation/listed.ts'
import type { AgentCall } from '../conversation/state.ts'
import { faultPoint } from '../identity/fault-point.ts'
import { orAborted } from '../job/abort.ts'
import { type Job, record } from '../job/job.ts'
import type { Listing } from '../tool/mcp/offered.ts'
import { failCall } from './settle.ts'

/** Asks for the tools, and records what a call has from now on. */
export async function listTools(call: AgentCall, job: Job, { signal }: AbortController): Promise<void> {
  const { agent, parameters } = call
  const { channel } = job.log.state
  const listing = await orAborted(job.env.listings.list({ agent, parameters, channel }, signal), signal)
  while (job.log.proposals.pending !== null) await job.log.proposals.pending
  if (signal.aborted || job.lifecycle.stopped !== null) return
  recordListing(call, job, listing)
  faultPoint('tools-recorded')
}

/** Records what the servers of a call offer it, and what a person is told of the rest. */
export function recordListing(call: AgentCall, job: Job, { servers, notices, failure }: Listing): void {
  for (const body of notices) record(job, call.place, { type: 'notice', kind: null, body })
  if (failure !== null) return failCall(call, job, failure)
  record(job, call.place, { type: 'tools', kind: null, body: { mcp: entryOfListed(job.log.state, servers) } })
}
