/**
 * What another process brought to a job at work here: it is stored at once, and folded here some time later. The log shows that by what the job
 * still records without it.
 */
import type { Entry } from '@witan/protocol/entries'
import { callInControl, liveJob, type LiveJob } from '../conversation/state.ts'
import type { Engine } from './engine.ts'
import { isClosing, nextOfCall, nextOfJob } from './lookahead.ts'
import { aheadOfJob, askedAt, type FollowedLog } from './followed-log.ts'

/** A job, and the epoch in which it goes on. */
interface AtWork {
  readonly id: string
  readonly epoch: number
  readonly run: LiveJob
}

/** Whether jobs at work here do not see this entry, which comes next or has come, yet. */
export function isLate(engine: Engine, entry: Entry): boolean {
  const run = liveJob(engine.log.state, entry.job)
  if (run === null) return false
  const epoch = nextOfJob(engine.followed, entry.job)?.epoch ?? run.worked.epoch
  const job = { id: entry.job, epoch, run }
  if (entry.type === 'cancel') return isUnaware(engine, job)
  if (entry.type === 'message') return isUnread(engine, entry, job)
  return entry.type === 'resolved' && isUnanswered(engine.followed, entry, job)
}

/** Once it sees a cancel, a job only closes what it has begun; a model that it has asked may still reply. */
function isUnaware({ followed, pending }: Engine, { id, epoch }: AtWork): boolean {
  const asked = new Set(pending.replies.keys())
  for (const entry of aheadOfJob(followed, id)) {
    if (entry.epoch > epoch) return false
    const isReply = entry.kind === 'model' && entry.body.purpose !== 'progress'
    const isDone = isReply ? asked.delete(entry.place.call) : isClosing(entry, id)
    if (entry.epoch === epoch && !isDone) return true
  }
  return false
}

/** An answer is the next thing that a job goes on with; what others of its calls recorded before does not come of it. */
function isUnanswered(followed: FollowedLog, { job, place }: Entry, { epoch }: AtWork): boolean {
  if (nextOfCall(followed, place.call) === null) return false
  for (const entry of aheadOfJob(followed, job)) {
    if (entry.epoch > epoch || entry.place.call === place.call || isClosing(entry, job)) return false
    if (entry.type !== 'notice' || entry.place.call !== place.parentCall) return true
  }
  return false
}

/** A reply says how many messages it read: one that was asked for behind this message and did not read it had not seen it. */
function isUnread({ followed, pending }: Engine, { seq, job, place }: Entry, { run, epoch }: AtWork): boolean {
  const call = run.calls.get(place.call)
  if (call === undefined) return false
  let reader = callInControl(call).place.call
  let waiting = call.document.inbox.length
  const underWay = new Set(pending.replies.keys())
  for (const entry of aheadOfJob(followed, job)) {
    if (entry.epoch > epoch) return false
    if (entry.place.document === place.document) reader = controlBehind(entry, reader)
    if (entry.place.call !== reader) continue
    if (entry.type === 'message') waiting += 1
    if (entry.type !== 'end' || entry.kind !== 'model' || entry.body.purpose === 'summary') continue
    const { taken, accepted, text } = entry.body
    if (!underWay.delete(reader)) {
      if (taken > waiting) return false
      if (askedAt(entry) >= seq) return true
    }
    if (accepted || text !== '') waiting -= taken
  }
  return false
}

/** The call that reads the messages of a document after this entry. It changes where an agent hands over or gets control back. */
function controlBehind({ type, kind, place, body }: Entry, reader: string): string {
  if (type === 'start' && kind === 'agent' && body.handedFrom === reader) return place.call
  return type === 'transfer' && body.returned ? place.call : reader
}
