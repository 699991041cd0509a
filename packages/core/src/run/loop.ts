/** The one loop: moves a job forward until it must wait or is over. */
import type { RunResult } from '@witan/protocol'
import { decide } from './decide.ts'
import { isOurs, type Job } from '../job/job.ts'
import { perform } from './perform.ts'
import { finish, park } from './rest.ts'

/** How a job came to rest here: with a result that was told, or stopped so that another worker goes on. */
export type Rest =
  | { readonly kind: 'told'; readonly result: RunResult }
  | { readonly kind: 'stopped'; readonly reason: unknown }

/** Moves one job forward. Never throws for what a model, a tool or a person did. Bounded: every pass records, spends budget or waits. */
export async function advance(job: Job): Promise<Rest> {
  for (;;) {
    if (!isOurs(job)) job.stop('fenced')
    if (job.stopped !== null) return { kind: 'stopped', reason: job.stopped }
    if (job.memo.isEnding) {
      await job.changes.next()
      continue
    }
    const next = decide(job.run, job.busy)
    if (next.kind === 'wait' || next.kind === 'finish') {
      const result = next.kind === 'wait' ? await park(job) : await finish(job)
      if (result !== null) return { kind: 'told', result }
    } else {
      await perform(next, job)
    }
  }
}
