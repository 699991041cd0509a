/** Driving one job from claim to rest, and telling whoever waits in this process. */
import { problem, type RunResult, toProblem, WitanError } from '@witan/protocol'
import type { WarmConversations } from '../conversation/warm.ts'
import { liveJob } from '../conversation/state.ts'
import { faultPoint } from '../identity/fault-point.ts'
import type { JobRow } from '../store/store.ts'
import type { RunTracker } from '../task/tracker.ts'
import { failRun, Job, record, release, workedMs } from '../job/job.ts'
import { advance } from '../run/loop.ts'
import { recordTask } from '../job/task.ts'

/** What driving needs beside the job. */
export interface DriveContext {
  readonly warm: WarmConversations
  readonly tracker: RunTracker
}

/** A job is set aside when so many owners were lost in a row without a step between them, and so many in all [D23]. */
export const mostInARow = 3
const mostInAll = 10

/** Puts a job that was taken over into order: what its last owner had under way counts as spent, and too many tries set it aside. */
export function takeOver(job: Job, row: JobRow): void {
  if (row.kind === 'task' && job.run.told !== 'running') recordTask(job, 'running')
  if (row.attempts <= 1) return
  for (const call of job.run.calls.values()) {
    if (call.active && call.slots.length === 0 && call.final === null) job.memo.lost += 1
  }
  const detail = `A worker was lost; attempt ${row.attempts} goes on from the log.`
  record(job, job.run.root.place, { type: 'notice', kind: null, body: { code: 'RUN_RECOVERED', detail } })
  faultPoint('taken-over')
  const isStuck = row.attempts > mostInARow
  if (!isStuck && job.run.recovered < mostInAll) return
  const times = isStuck ? `${mostInARow} times in a row` : `${mostInAll} times`
  const hint = 'Look at the last events of the run for what it did each time.'
  failRun(job, problem('RUN_QUARANTINED', `The run broke its worker ${times} and was set aside.`, { hint }))
}

/** Drives a job to its rest, and says which; null where it was stopped, and goes on elsewhere. Never rejects. */
export async function drive(job: Job, context: DriveContext): Promise<RunResult['status'] | null> {
  try {
    return await rest(job, context)
  } catch (error) {
    // A store that broke ends nothing: the run goes on with the next claim.
    if (job.stopped !== null) return leave(job, context)
    job.env.report(error)
    return await abandon(job, { context, error })
  } finally {
    release(job)
  }
}

/** A run that has used up `maxSeconds` is stopped where it is, also in the middle of a model call [D13]. */
function setDeadline(job: Job): () => void {
  const { maxSeconds } = job.run.tree.limits
  if (maxSeconds === null) return () => {}
  const left = maxSeconds * 1000 - workedMs(job)
  return job.env.clock.after(Math.max(0, left), () => {
    const hint = 'Raise limits.maxSeconds of the root agent, or look at the tree for what takes long.'
    failRun(job, problem('BUDGET_EXCEEDED', `seconds ${maxSeconds} of ${maxSeconds} used.`, { hint }))
    job.changes.beat()
  })
}

async function rest(job: Job, { tracker }: DriveContext): Promise<RunResult['status'] | null> {
  const { id, epoch } = job.identity
  const lift = setDeadline(job)
  const came = await advance(job).finally(lift)
  if (came.kind !== 'told') return leave(job, { tracker })
  tracker.tell(id, epoch, came.result)
  return came.result.status
}

/** Stopped here. Whoever waits in this process is told why, unless the run goes on elsewhere: then its result is looked for there. */
function leave({ identity, stopped }: Job, { tracker }: Pick<DriveContext, 'tracker'>): null {
  if (stopped === 'closed') {
    const error = new WitanError('RUNTIME_CLOSED', 'The runtime was closed; the run goes on at its next start.')
    tracker.fail(identity.id, identity.epoch, error)
  } else if (typeof stopped !== 'string') tracker.fail(identity.id, identity.epoch, stopped)
  return null
}

/** The loop itself broke: the job fails from a fresh fold, or is left to the next claim. */
async function abandon(job: Job, { context, error }: { context: DriveContext; error: unknown }) {
  const { database, id } = job.log.state
  job.log.spoil('spoilt')
  try {
    const log = await context.warm.get(database, id)
    const again = new Job(job.env, log, { ...job.identity, again: true })
    if (liveJob(log.state, job.identity.id) === null) return null
    failRun(again, toProblem(error))
    return await rest(again, context).finally(() => release(again))
  } catch (second) {
    job.env.report(second)
    context.tracker.fail(job.identity.id, job.identity.epoch, second)
    return null
  }
}
