/** Stops a job in order, before its process closes. */
import { isOurs, type Job, stopJob } from './job.ts'
import { endAllModelCalls } from './lost-calls.ts'

/**
 * Stops the job in order. Effects that must not repeat get up to `graceMs` to end. If one were cut off, it would be unknown whether
 * it happened [D1]. A failed run gets the same time to end, because the entries that close its calls are stored only with its end. Model calls
 * of other runs are cut off, and the log says so.
 */
export async function stopGracefully(job: Job, graceMs: number): Promise<void> {
  const { lifecycle, writer } = job
  lifecycle.isEnding = true
  if (lifecycle.unrepeatable.length > 0) await within(job, graceMs, Promise.allSettled(lifecycle.unrepeatable))
  if (lifecycle.failure !== null) await within(job, graceMs, lifecycle.left)
  else {
    const { pending } = job.log.proposals
    if (pending !== null) await within(job, graceMs, pending)
    // A store that does not answer is not waited for, and nothing is recorded before it has.
    if (job.log.proposals.pending === null && lifecycle.stopped === null && isOurs(job)) {
      endAllModelCalls(job)
      // With them goes what was recorded meanwhile: a reply that the next owner need not ask for again.
      if (!writer.isFlushed) await within(job, graceMs, writer.commit())
    }
  }
  stopJob(job, 'closed')
}

async function within({ env }: Job, ms: number, done: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>()
  const cancel = env.clock.after(ms, late.resolve)
  await Promise.race([done, late.promise]).finally(cancel)
}
