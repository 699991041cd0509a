/** The fault points that an append passes, derived from its content. */
import type { TaskStatus } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import { faultPoint, type FaultPoint, isArmed } from '../identity/fault-point.ts'
import type { Append, AppendResult, JobChange } from '../store/store.ts'

/** A fault point that exists before and after a commit. */
type Recorded = Extract<FaultPoint, `${string}-committed`> extends `${infer Name}-committed` ? Name : never

/** Wraps an appender: passes the points of each append just before it is stored, and again once it is durable. */
export function withFaultPoints(
  append: (member: Append) => Promise<AppendResult>,
): (member: Append) => Promise<AppendResult> {
  const passing = async (member: Append) => {
    const names = namesOf(member)
    for (const name of names) faultPoint(name === 'model-reply' ? 'model-reply-recorded' : name)
    const result = await append(member)
    if (!result.ok && result.reason === 'fenced') faultPoint('fenced')
    if (result.ok) for (const name of names) faultPoint(`${name}-committed`)
    return result
  }
  return (member) => (isArmed() ? passing(member) : append(member))
}

function namesOf({ entries, jobs = [] }: Append): readonly Recorded[] {
  const names = [...entries.map(nameOfEntry), ...jobs.map(nameOfChange)]
  return [...new Set(names.filter((name) => name !== null))]
}

function nameOfEntry(entry: Entry): Recorded | null {
  const { type, kind, place, body } = entry
  if (kind === 'tool') return type === 'start' ? 'tool-started' : 'tool-ended'
  if (kind === 'model') return 'model-reply'
  if (kind === 'agent') {
    if (type !== 'start') return place.parentCall === null ? null : 'child-ended'
    if (place.parentCall !== null) return 'child-spawned'
    return body.hidden ? 'follow-up-created' : 'request-accepted'
  }
  if (type === 'task') return taskNames[body.status]
  if (type.endsWith('_required')) return 'interruption-opened'
  if (type === 'resolved') return 'answered'
  return type === 'cancel' ? 'cancelled' : null
}

const taskNames: Readonly<Record<TaskStatus, Recorded | null>> = {
  queued: 'task-spawned',
  running: 'task-started',
  waiting: null,
  completed: 'task-ended',
  failed: 'task-ended',
  cancelled: 'task-ended',
}

function nameOfChange(change: JobChange): Recorded | null {
  if (change.kind !== 'rest') return null
  return change.status === 'waiting' ? 'parked' : 'ended'
}
