/** The one loop: moves a job forward until it must wait or is over. */
import { isWorkSpent, nextTurn } from '../identity/turn.ts'
import type { StoredResult } from '../task/tracker.ts'
import { decide } from './decide.ts'
import { isOurs, type Job, stopJob, underway } from '../job/job.ts'
import { perform } from './perform.ts'
import { finish, park } from './settle.ts'

/** How `advance` ended: with a stored result, or stopped so that another worker continues the job. */
type AdvanceResult =
  | { readonly kind: 'stored'; readonly result: StoredResult }
  | { readonly kind: 'stopped'; readonly reason: unknown }

/** Moves one job forward. Never throws because of a model, a tool or a person. Every pass records, spends budget or waits. */
export async function advance(job: Job): Promise<AdvanceResult> {
  for (;;) {
    if (!isOurs(job)) stopJob(job, 'fenced')
    const { stopped, isEnding, failure } = job.lifecycle
    if (stopped !== null) return { kind: 'stopped', reason: stopped }
    if (isEnding && failure === null) {
      await job.waker.wait()
      continue
    }
    if (isWorkSpent()) {
      await nextTurn()
      continue
    }
    if (job.log.proposals.pending !== null) {
      await job.log.proposals.pending
      continue
    }
    const next = decide(job.run, underway(job))
    if (next.kind === 'wait' || next.kind === 'finish') {
      const result = next.kind === 'wait' ? await park(job) : await finish(job)
      if (result !== null) return { kind: 'stored', result }
    } else {
      const change = perform(next, job)
      if (change !== null) await change
    }
  }
}
