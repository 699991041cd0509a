/**
 * What another process brought to a job at work here: it is stored at once, and folded here some time later. The log shows that by what the job
 * still records without it.
 */
import type { Entry } from '@witan/protocol/entries'
import { callInControl } from '../conversation/state.ts'
import type { PacedJob } from '../job/environment.ts'
import { askedAt, isClosing, nextOfCall } from './lookahead.ts'
import { aheadOfCall, aheadOfJob, nextIn, type Script } from './script.ts'
import type { Pending } from './pending.ts'

/** What is known of the jobs at work. */
interface Sight {
  readonly script: Script
  readonly pending: Pending
  readonly jobs: ReadonlyMap<string, PacedJob>
}

/** Whether jobs at work here do not see this entry, which comes next or has come, yet. */
export function isLate(sight: Sight, entry: Entry): boolean {
  const job = sight.jobs.get(entry.job)
  if (job === undefined || !isHere(job)) return false
  if (entry.type === 'cancel') return isUnaware(sight, job)
  if (entry.type === 'message') return isUnread(sight, entry, job)
  return entry.type === 'resolved' && isUnanswered(sight.script, entry, job)
}

/** Whether a job is at work in this process. */
export function isHere({ log, identity, run }: PacedJob): boolean {
  return run !== null && log.watchers.get(identity.id)?.epoch === identity.epoch
}

/** Once it sees a cancel, a job only closes what it has begun; a model that it has asked may still reply. */
function isUnaware({ script, pending }: Sight, { identity: { id, epoch } }: PacedJob): boolean {
  const asked = new Set(pending.replies.keys())
  for (const entry of aheadOfJob(script, id)) {
    if (entry.epoch > epoch) return false
    const isReply = entry.kind === 'model' && entry.body.purpose !== 'progress'
    const isDone = isReply ? asked.delete(entry.place.call) : isClosing(entry, id)
    if (entry.epoch === epoch && !isDone) return true
  }
  return false
}

/** An answer is the next thing that a job goes on with; what others of its calls recorded before does not come of it. */
function isUnanswered(script: Script, { job, place }: Entry, { identity: { epoch } }: PacedJob): boolean {
  if (nextOfCall(script, place.call) === null) return false
  for (const entry of aheadOfJob(script, job)) {
    if (entry.epoch > epoch || entry.place.call === place.call || isClosing(entry, job)) return false
    if (entry.type !== 'notice' || entry.place.call !== place.parentCall) return true
  }
  return false
}

/** A reply says how many messages it read: one that was asked for behind this message and did not read it had not seen it. */
function isUnread({ script, pending }: Sight, { seq, place }: Entry, { run, identity }: PacedJob): boolean {
  const call = run.calls.get(place.call)
  if (call === undefined) return false
  const reader = callInControl(call)
  let isUnderWay = pending.replies.has(reader.place.call)
  let waiting = reader.document.inbox.length
  for (const entry of aheadOfCall(script, reader.place.call)) {
    if (entry.epoch > identity.epoch) return false
    if (entry.type === 'message') waiting += 1
    if (entry.type !== 'end' || entry.kind !== 'model' || entry.body.purpose === 'summary') continue
    const { taken, accepted, text } = entry.body
    if (!isUnderWay && taken > waiting) return false
    if (!isUnderWay && askedAt(entry) >= seq) return true
    isUnderWay = false
    if (accepted || text !== '') waiting -= taken
  }
  return false
}

/** Whether the model of a call is asked before what comes next from outside, as a job that sees a cancel asks nothing. */
export function asksBefore({ script }: Sight, job: PacedJob): boolean {
  const next = nextIn(script)
  return next !== null && next.type === 'cancel' && next.job === job.identity.id
}
