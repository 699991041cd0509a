/** Takes jobs of a replay over where the log goes on in a later epoch: their worker was lost, or had let them go. */
import { abortAll, type Job } from '../job/job.ts'
import type { JobRow } from '../store/store.ts'
import { attemptAhead, epochOf, isBrought } from './lookahead.ts'
import { nextIn } from './script.ts'
import { leaseMs, type ReplayStage, restart } from './stage.ts'

/** A conversation of a database. */
interface Place {
  readonly database: string
  readonly conversation: string
}

/**
 * Claims the job whose entry is expected next, if the log has it in a later epoch and nothing has parked it. False if that is not so. If the
 * job was at work here, its process ends first, with all its jobs; those that the log continues in their epoch go on.
 */
export async function takeOver(stage: ReplayStage, place: Place): Promise<boolean> {
  const { script, turns } = stage
  const next = nextIn(script)
  if (next === null || isBrought(script, next)) return false
  const { store } = stage.options
  const row = await store.getJob(place.database, next.job)
  if (row === null || row.owner === null || row.endedAt !== null || row.epoch >= next.epoch) return false
  const here = stage.parts.worker.live.get(row.id)
  const attempts = attemptAhead(script, row.id)
  const isAsking = [...stage.pending.replies.values()].some(({ job }) => job === row.id)
  const isNoted = next.type === 'notice' && next.body.code === 'USAGE_INCOMPLETE'
  if (here !== undefined && attempts === null && (isNoted || !isAsking)) return letGo(here)
  // Each lost attempt ended a process.
  const losses = attempts === null ? 0 : attempts - row.attempts
  const life = (stage.lives.get(row.id) ?? 0) + losses
  if (turns.jobs.has(row.id) || life > stage.life.number) await begin(stage, place, { lost: row.id, life })
  const claimed = await claimUpTo(stage, row, { epoch: next.epoch, attempts: attempts ?? row.attempts })
  if (claimed === null) return false
  const { parts } = stage
  stage.lives.set(row.id, stage.life.number)
  parts.worker.run(claimed, await parts.warm.get(place.database, place.conversation))
  return true
}

/** The process dropped its fold, with the job on it, and took the job up again: it notes the model calls that it had under way. */
function letGo(job: Job): true {
  job.lifecycle.stopped ??= 'invalidated'
  abortAll(job, 'invalidated')
  job.waker.wake()
  return true
}

/** Begins anew after a crash, or several: the jobs that it did not concern go on. */
async function begin(
  stage: ReplayStage,
  { database, conversation }: Place,
  { lost, life }: { readonly lost: string; readonly life: number },
): Promise<void> {
  restart(stage, Math.max(life, stage.life.number + 1))
  const { parts, script, options } = stage
  await options.load(parts)
  const live = await options.store.listJobs(database, conversation, { live: true })
  for (const row of live) {
    if (row.id === lost || row.owner === null || epochOf(script, row.id) > row.epoch) continue
    parts.env.launch([row], await parts.warm.latest(database, conversation))
  }
}

/** A lost lease counts as an attempt, a release does not. */
async function claimUpTo(
  { options: { store } }: ReplayStage,
  row: JobRow,
  { epoch, attempts }: { readonly epoch: number; readonly attempts: number },
): Promise<JobRow | null> {
  const owner = row.owner ?? ''
  let last = row
  while (last.epoch < epoch) {
    if (epoch - last.epoch <= attempts - last.attempts) await store.heartbeat(owner, [last], -leaseMs)
    else await store.releaseJobs(owner, [row.id])
    const found = (await store.claimJobs({ owner, leaseMs, limit: 1 })).find(({ id }) => id === row.id)
    if (found === undefined) return null
    last = found
  }
  return last
}
