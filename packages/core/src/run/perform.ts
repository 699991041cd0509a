/** Performing what was decided: records at once what only records, starts what reaches outside, and waits for a change. */
import { toProblem } from '@witan/protocol'
import { act, resume } from './act.ts'
import { admit } from './admit.ts'
import { endChild } from './rest.ts'
import type { Next, Work } from './decide.ts'
import { abortAll, failRun, type Job } from '../job/job.ts'
import { think } from './think.ts'

/** Performs `next`. Resolves when there may be something new to decide. */
export async function perform(next: Exclude<Next, { kind: 'wait' | 'finish' }>, job: Job): Promise<void> {
  if (next.kind === 'stop') abortAll(job, job.run.failure ?? 'cancelled')
  const outside = next.kind === 'work' ? next.work.filter((work) => !recorded(work, job)) : []
  if (next.kind === 'work' && outside.length < next.work.length) return
  void job.writer.commit()
  for (const work of outside) start(work, job)
  await job.changes.next()
}

/** Does work that only records; false for work that reaches outside. While there is any, nothing outside is started: it rides in the same append. */
function recorded(work: Work, job: Job): boolean {
  if (work.kind === 'think' || work.kind === 'act') return false
  if (work.kind === 'admit') admit(work.call, job)
  else if (work.kind === 'end') endChild(work.call, job)
  else resume(work.slot, job)
  return true
}

function start(work: Work, job: Job): void {
  if (work.kind !== 'think' && work.kind !== 'act') return
  const id = work.kind === 'think' ? work.call.place.call : work.id
  const controller = new AbortController()
  job.busy.set(id, controller)
  void reach({ work, id }, job, controller.signal)
}

/** Reaches outside. Never rejects: what is broken inside fails the run. */
async function reach(
  { work, id }: { readonly work: Work & { kind: 'think' | 'act' }; readonly id: string },
  job: Job,
  signal: AbortSignal,
): Promise<void> {
  try {
    await (work.kind === 'think' ? think(work.call, job, signal) : act(work.slot, job, signal))
  } catch (error) {
    if (job.stopped !== null || signal.aborted) return
    job.env.report(error)
    failRun(job, toProblem(error))
  } finally {
    job.busy.delete(id)
    job.changes.beat()
  }
}
