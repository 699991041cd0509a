/** Decides when a job sees what was brought to it: its process folds an entry some time after it was stored, and the log shows when. */
import type { Entry } from '@witan/protocol/entries'
import type { PacedJob } from '../job/environment.ts'
import { holderOf, isTop } from '../conversation/state.ts'
import type { Job } from '../job/job.ts'
import { isClosing, lostAhead, nextOfCall, replyAhead } from './lookahead.ts'
import { failureWords } from './outcomes.ts'
import type { Pending } from './pending.ts'
import { aheadOfCall, aheadOfJob, type Script } from './script.ts'

/** What is known when an entry may be seen. */
interface Sight {
  readonly script: Script
  readonly pending: Pending
  readonly jobs: ReadonlyMap<string, PacedJob>
}

/** Whether the log shows that its job does not see this entry yet. */
export function isUnseen(sight: Sight, entry: Entry): boolean {
  const job = sight.jobs.get(entry.job)
  if (job === undefined) return false
  if (entry.type === 'cancel') return isUnaware(sight, entry, job.identity) || (leftToLose(sight, job) ?? 0) !== 0
  if (entry.type === 'resolved') return isUnanswered(sight, entry, job.identity)
  return entry.type === 'message' && isUnread(sight, entry, job)
}

/** Once it sees a cancel, a job only closes what it has begun: its entries up to then, and the model calls that it then cuts off, come first. */
function isUnaware({ script, pending }: Sight, { job }: Entry, { epoch }: PacedJob['identity']): boolean {
  const lost = new Set<string>()
  for (const entry of aheadOfJob(script, job)) {
    if (entry.epoch > epoch) break
    if (!isClosing(entry, job)) return true
    if (entry.type === 'notice' && entry.body.code === 'USAGE_INCOMPLETE') lost.add(entry.place.call)
  }
  const tools = new Set([...pending.tools.values()].map(({ owner }) => owner))
  return [...lost].some((call) => !pending.replies.has(call) && !tools.has(call))
}

/** An answer is the next thing that a job goes on with; what others of its calls recorded before does not come of it. */
function isUnanswered({ script }: Sight, { job, place }: Entry, { epoch }: PacedJob['identity']): boolean {
  if (nextOfCall(script, place.call) === null) return false
  for (const entry of aheadOfJob(script, job)) {
    if (entry.epoch > epoch || entry.place.call === place.call || isClosing(entry, job)) return false
    if (entry.type !== 'notice' || entry.place.call !== place.parentCall) return true
  }
  return false
}

/** A reply says how many messages it read. So the log shows which model calls of the reader began without this one: it is seen after those. */
function isUnread({ script, pending }: Sight, { place }: Entry, { run, identity }: PacedJob): boolean {
  const call = run?.calls.get(place.call)
  if (call === undefined) return false
  const reader = holderOf(call).place.call
  const begun = pending.replies.get(reader)?.summary === null ? 1 : 0
  let waiting = call.document.inbox.length
  let without = 0
  for (const { type, kind, body, ...entry } of aheadOfCall(script, reader)) {
    if (entry.epoch > identity.epoch) break
    if (type === 'message') waiting += 1
    else if (type === 'end' && kind === 'model' && (body.purpose === undefined || body.purpose === 'output')) {
      if (body.taken > waiting) break
      without += 1
      if (body.accepted || body.text !== '') waiting -= body.taken
    } else if (kind === 'agent' && type === 'end' && body.finishReason !== 'cancelled' && !isTop(call)) return true
  }
  return without > begun
}

/**
 * How many models a job has yet to ask in vain, since it is stopped before they reply; null if the log does not say. Less than none if one that
 * it asks failed, and the end with that failure was refused, since a cancel had come before it.
 */
export function leftToLose({ script, pending }: Sight, job: PacedJob): number | null {
  const lost = lostAhead(script, job.identity)
  if (lost === null) return null
  const underWay = [...pending.replies.values()].filter(
    ({ job: id, call }) => id === job.identity.id && isCutOff(script, { call, epoch: job.identity.epoch }),
  )
  return lost - (job as Job).meter.lost - underWay.length
}

/** Whether a call gets no reply of its model in an epoch any more, and does not fail at it either. */
export function isCutOff(script: Script, of: { readonly call: string; readonly epoch: number }): boolean {
  if (replyAhead(script, of) !== null) return false
  for (const { type, kind, body, epoch } of aheadOfCall(script, of.call))
    if (epoch > of.epoch) return true
    else if (type === 'error' && kind === 'agent') return failureWords(body) === null
  return true
}
