/** Driving one job from claim to rest, and telling whoever waits in this process. */
import { problem, toProblem, WitanError } from '@witan/protocol'
import type { WarmConversations } from '../conversation/warm.ts'
import type { JobRow } from '../store/store.ts'
import type { RunTracker } from '../task/tracker.ts'
import { failRun, Job, record, release, workedMs } from './job.ts'
import { advance } from './loop.ts'

/** What driving needs beside the job. */
export interface DriveContext {
  readonly warm: WarmConversations
  readonly tracker: RunTracker
}

/** A job is tried so often before it is set aside with its reason [D23]. */
const mostAttempts = 3

/** Puts a job that was taken over into order: what its last owner had under way counts as spent, and too many tries set it aside. */
export function takeOver(job: Job, row: JobRow): void {
  if (row.attempts <= 1) return
  for (const call of job.run.calls.values()) {
    if (call.active && call.slots.length === 0 && call.final === null) job.run.modelCalls += 1
  }
  const detail = `A worker was lost; attempt ${row.attempts} goes on from the log.`
  record(job, job.run.root.place, { type: 'notice', kind: null, body: { code: 'RUN_RECOVERED', detail } })
  if (row.attempts <= mostAttempts) return
  const hint = 'Look at the last events of the run for what it did each time.'
  failRun(
    job,
    problem('RUN_QUARANTINED', `The run broke its worker ${mostAttempts} times and was set aside.`, { hint }),
  )
}

/** Drives a job to its rest. Never rejects. */
export async function drive(job: Job, context: DriveContext): Promise<void> {
  try {
    await rest(job, context)
  } catch (error) {
    // A store that broke ends nothing: the run goes on with the next claim.
    if (job.stopped !== null) return leave(job, context)
    job.env.report(error)
    await abandon(job, { context, error })
  } finally {
    release(job)
  }
}

/** A run that has used up `maxSeconds` is stopped where it is, also in the middle of a model call [D13]. */
function setDeadline(job: Job): () => void {
  const { maxSeconds } = job.run.root.agent.limits
  if (maxSeconds === null) return () => {}
  const left = maxSeconds * 1000 - workedMs(job)
  return job.env.clock.after(Math.max(0, left), () => {
    const hint = 'Raise limits.maxSeconds of the root agent, or look at the tree for what takes long.'
    failRun(job, problem('BUDGET_EXCEEDED', `seconds ${maxSeconds} of ${maxSeconds} used.`, { hint }))
    job.changes.beat()
  })
}

async function rest(job: Job, { warm, tracker }: DriveContext): Promise<void> {
  const { id, epoch } = job.identity
  const lift = setDeadline(job)
  const came = await advance(job).finally(lift)
  if (came.kind === 'told') return tracker.tell(id, epoch, came.result)
  leave(job, { warm, tracker })
}

/** Stopped here: whoever waits in this process is told why, and the next owner reads the log anew. */
function leave(job: Job, { warm, tracker }: DriveContext): void {
  warm.drop(job.log.state.database, job.log.state.id)
  tracker.fail(job.identity.id, job.identity.epoch, stoppedError(job.stopped))
}

/** Why this process stopped, as an error for whoever waits here: the run itself goes on elsewhere or later. */
function stoppedError(reason: unknown): unknown {
  if (typeof reason !== 'string') return reason
  if (reason === 'closed')
    return new WitanError('RUNTIME_CLOSED', 'The runtime was closed; the run goes on at its next start.')
  return new WitanError('FENCED', 'Another worker goes on with this run.', {
    hint: 'Read the run; its result will be there.',
  })
}

/** The loop itself broke: the run fails from a fresh fold, or is left to the next claim. */
async function abandon(job: Job, { context, error }: { context: DriveContext; error: unknown }): Promise<void> {
  const { database, id } = job.log.state
  context.warm.drop(database, id)
  try {
    const again = new Job(job.env, await context.warm.get(database, id), job.identity)
    if (again.log.state.run === null) return
    failRun(again, toProblem(error))
    await rest(again, context)
  } catch (second) {
    job.env.report(second)
    context.tracker.fail(job.identity.id, job.identity.epoch, second)
  }
}
