/** Searches the knowledge bases of an agent with a message that begins or joins its work. */
import { messageToLookFor } from '../conversation/retrieval.ts'
import type { AgentCall } from '../conversation/state.ts'
import { faultPoint } from '../identity/fault-point.ts'
import { orAborted } from '../job/abort.ts'
import { type Job, record } from '../job/job.ts'
import { toolsOf } from './caller.ts'

/** Looks for what the next such message asks, and records what was found. */
export async function retrieve(call: AgentCall, job: Job, { signal }: AbortController): Promise<void> {
  const message = messageToLookFor(call)
  if (message === null) return
  const query = message.plain ?? message.text
  const { caller } = toolsOf(call, job)
  const { passages, notices, embedded } = await orAborted(job.env.retrieve(caller, query, signal), signal)
  while (job.log.proposals.pending !== null) await job.log.proposals.pending
  if (signal.aborted || job.lifecycle.stopped !== null) return
  for (const notice of notices) record(job, call.place, { type: 'notice', kind: null, body: notice })
  const body = embedded.length === 0 ? { query, passages } : { query, passages, embedded }
  record(job, call.place, { type: 'retrieval', kind: null, body })
  faultPoint('retrieval-recorded')
}
