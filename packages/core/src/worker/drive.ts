/** Runs one job from its claim until it parks, ends or is stopped, and resolves the waiters of this process. */
import { problem, type RunResult, toProblem, WitanError } from '@witan/protocol'
import type { WarmConversations } from '../conversation/warm-conversations.ts'
import { liveJob } from '../conversation/state.ts'
import { faultPoint } from '../identity/fault-point.ts'
import type { JobRow } from '../store/store.ts'
import type { RunTracker } from '../task/tracker.ts'
import { failRun, isOurs, Job, record, release, whereOf, workedMs } from '../job/job.ts'
import { recordLostModelCalls } from '../job/lost-calls.ts'
import { advance } from '../run/loop.ts'
import { recordTask } from '../job/task.ts'

/** What `drive` needs beside the job. */
export interface DriveContext {
  readonly warm: WarmConversations
  readonly tracker: RunTracker
}

/** A job is quarantined after this many owners were lost in a row without progress, or this many in all [D23]. */
export const mostInARow = 3
const mostInAll = 10

/**
 * Prepares a job that was taken over: model calls that its last owner had under way count as spent; too many attempts quarantine it.
 * `wasHere`: this process itself had stopped it.
 */
export function takeOver(job: Job, row: Pick<JobRow, 'kind' | 'attempts'>, wasHere: boolean): void {
  if (job.lifecycle.stopped !== null || !isOurs(job)) return
  if (row.kind === 'task' && job.run.loggedStatus !== 'running') recordTask(job, 'running')
  if (row.attempts <= 1) {
    if (wasHere) recordLostModelCalls(job)
    return
  }
  const { attempts: attempt } = row
  const detail = `A worker was lost; attempt ${attempt} goes on from the log.`
  record(job, job.run.root.place, { type: 'notice', kind: null, body: { code: 'RUN_RECOVERED', detail, attempt } })
  recordLostModelCalls(job)
  faultPoint('taken-over')
  const isStuck = row.attempts > mostInARow
  if (!isStuck && job.run.recovered < mostInAll) return
  const times = isStuck ? `${mostInARow} times in a row` : `${mostInAll} times`
  const hint = 'Read the last events of the run to see what it did each time.'
  failRun(job, problem('RUN_QUARANTINED', `The run broke its worker ${times} and was set aside.`, { hint }))
}

/** How a job parked or ended: its status, and the code of its error. */
interface DriveResult {
  readonly status: RunResult['status']
  readonly code: string | null
}

/** Runs a job until it parks or ends, and returns how; null if it was stopped here. Never rejects. */
export async function drive(job: Job, context: DriveContext): Promise<DriveResult | null> {
  try {
    return await advanceAndReport(job, context)
  } catch (error) {
    // A store failure does not end the run: the next claim continues it.
    if (job.lifecycle.stopped !== null) return leave(job, context)
    job.env.report(error, whereOf(job))
    return await abandon(job, { context, error })
  } finally {
    release(job)
  }
}

/** Fails a run when `maxSeconds` are used up, even during a model call [D13]. */
function setDeadline(job: Job): (() => void) | null {
  const { maxSeconds } = job.run.tree.limits
  if (maxSeconds === null) return null
  const left = maxSeconds * 1000 - workedMs(job)
  return job.env.clock.after(Math.max(0, left), () => {
    const hint = 'Raise limits.maxSeconds of the root agent, or find what takes long in the call tree.'
    failRun(job, problem('BUDGET_EXCEEDED', `seconds ${maxSeconds} of ${maxSeconds} used.`, { hint }))
    job.waker.wake()
  })
}

async function advanceAndReport(job: Job, { tracker }: DriveContext): Promise<DriveResult | null> {
  const { id, epoch } = job.identity
  const deadline = setDeadline(job)
  const ended = await (deadline === null ? advance(job) : advance(job).finally(deadline))
  if (ended.kind !== 'stored') return leave(job, { tracker })
  tracker.report(id, epoch, ended.result)
  return { status: ended.result.status, code: ended.result.error?.code ?? null }
}

/** Rejects the waiters of this process with the reason. If another process continues the run, they wait for its result. */
function leave({ identity, lifecycle: { stopped } }: Job, { tracker }: Pick<DriveContext, 'tracker'>): null {
  if (stopped === 'closed') {
    const error = new WitanError('RUNTIME_CLOSED', 'The runtime was closed; the run goes on at its next start.')
    tracker.fail(identity.id, identity.epoch, error)
  } else if (typeof stopped !== 'string') tracker.fail(identity.id, identity.epoch, stopped)
  return null
}

/** Handles an error of the loop itself: fails the job from a fresh fold, or leaves it to the next claim. */
async function abandon(job: Job, { context, error }: { context: DriveContext; error: unknown }) {
  const { database, id } = job.log.state
  job.log.invalidate('invalidated')
  try {
    const log = await context.warm.get(database, id)
    while (log.proposals.pending !== null) await log.proposals.pending
    if (liveJob(log.state, job.identity.id) === null) return null
    const again = new Job(job.env, log, { ...job.identity, again: true })
    recordLostModelCalls(again)
    failRun(again, toProblem(error))
    return await advanceAndReport(again, context).finally(() => release(again))
  } catch (second) {
    job.env.report(second, whereOf(job))
    context.tracker.fail(job.identity.id, job.identity.epoch, second)
    return null
  }
}
