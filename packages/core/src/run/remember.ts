/** Looks up what an agent remembers, before its model is first asked [F39]. */
import { isKnown, openingOf } from '../conversation/remembered.ts'
import type { AgentCall } from '../conversation/state.ts'
import { faultPoint } from '../identity/fault-point.ts'
import { orAborted } from '../job/abort.ts'
import { type Job, record } from '../job/job.ts'
import { toolsOf } from './caller.ts'

/** Looks up the memory of an agent, and records what its model is to read of it: nothing if that is as it has read it. */
export async function remember(call: AgentCall, job: Job, { signal }: AbortController): Promise<void> {
  const opening = openingOf(call)
  const query = opening === null ? '' : (opening.plain ?? opening.text)
  const { caller } = toolsOf(call, job)
  const { notices, body } = await orAborted(job.env.remember(caller, query, signal), signal)
  while (job.log.proposals.pending !== null) await job.log.proposals.pending
  if (signal.aborted || job.lifecycle.stopped !== null) return
  job.cache.remembered.add(call)
  if (!call.isMemoryWithheld)
    for (const one of notices) record(job, call.place, { type: 'notice', kind: null, body: one })
  if (body === null) return
  const { recalled = [] } = body
  const isSame = isKnown(call, body.blocks)
  if (isSame && recalled.length === 0) return
  record(job, call.place, { type: 'memory', kind: null, body: isSame ? { ...body, isSame } : body })
  faultPoint('memory-recorded')
}
