/** Cuts off model calls of a replay where the log has them without a reply, and nothing in the log has stopped their job. */
import type { Entry } from '@witan/protocol/entries'
import { endAllModelCalls } from '../job/lost-calls.ts'
import type { Job } from '../job/job.ts'
import { ModelCallError } from '../model/model.ts'
import { aheadOfCall, aheadOfJob, nextIn, type Script } from './script.ts'
import type { ReplayStage } from './stage.ts'

/**
 * Ends the job in order if its next owner goes on from here, lets the time of a model call run out if its agent fails for that reason, and else the
 * time of the run. False if the next entry is no model call of a job at work here that was cut off.
 */
export function cutOff({ script, turns, timers }: ReplayStage): boolean {
  const next = nextIn(script)
  if (next === null || !isLost(next)) return false
  const job = turns.jobs.get(next.job) as Job | undefined
  if (job === undefined || job.identity.epoch !== next.epoch) return false
  if (job.lifecycle.failure !== null || job.run?.cancelled !== false) return false
  if (isLeft(script, next)) {
    endAllModelCalls(job)
    void job.writer.commit()
  } else if (isOverTime(script, next)) {
    const over = new ModelCallError(next.body.detail, { retryable: false })
    job.busy.get(next.place.call)?.abort(over)
  } else timers.fire()
  return true
}

type Lost = Entry & { readonly type: 'error'; readonly kind: 'model' }

function isLost(entry: Entry): entry is Lost {
  return entry.type === 'error' && entry.kind === 'model' && entry.body.code === 'MODEL_CALL_LOST'
}

/** Whether its owner records nothing more of the job but such calls. */
function isLeft(script: Script, { job, epoch }: Lost): boolean {
  for (const entry of aheadOfJob(script, job)) {
    if (entry.epoch !== epoch) return true
    if (!isLost(entry) && (entry.type !== 'notice' || entry.body.code !== 'USAGE_INCOMPLETE')) return false
  }
  return true
}

/** Whether its agent fails because the call took too long. */
function isOverTime(script: Script, { place }: Lost): boolean {
  for (const { type, kind, body } of aheadOfCall(script, place.call))
    if (kind === 'agent' && type !== 'start') return type === 'error' && body.code === 'MODEL_CALL_FAILED'
  return false
}
