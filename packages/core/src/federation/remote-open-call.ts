/** A call of an agent on another server while this process works on it: what is known of it, and what of that is stored. */
import { isDeepStrictEqual } from 'node:util'
import { remoteOf } from '../agent/remote-agent.ts'
import type { PendingOutcome, ResultOutcome } from '../tool/outcome.ts'
import type { RemoteCall } from '../tool/remote.ts'
import { longestNote } from '../tool/tool.ts'
import { costOf } from './remote-budget.ts'
import { freshNote, readNote, type RemoteNote } from './remote-note.ts'
import { remoteFailed } from './remote-outcome.ts'
import type { RemoteServices } from './remote-services.ts'
import { emptyTask, hasEnded, type RemoteTask } from './remote-task.ts'
import { createAllowance, TooMuchError } from './too-much.ts'
import type { RemoteEndpoint } from './transport.ts'

/** What becomes of a call, here and now. */
export type RemoteOutcome = ResultOutcome | PendingOutcome

/** One call in this process. */
export interface OpenCall {
  readonly services: RemoteServices
  readonly of: RemoteCall
  readonly endpoint: RemoteEndpoint
  readonly remote: string
  task: RemoteTask
  note: RemoteNote
  /** When the other server has said something last, in ms. */
  heardAt: number
  /** How often in a row nothing new came, and how often a message did not get there. */
  quiet: number
  failures: number
  /** How often answers were sent again. */
  resent: number
  /** What it may still send. */
  readonly allowance: ReturnType<typeof createAllowance>
  /** Whether this process knows that the last message got there. */
  isSure: boolean
}

/** Begins to work on a call, with the note of the process that worked on it before. */
export function openCall(services: RemoteServices, of: RemoteCall, endpoint: RemoteEndpoint): OpenCall {
  const { context, body, edge } = of
  const before = edge.history === 'agent' ? (readNote(body.before)?.context ?? null) : null
  const kept = readNote(context.note) ?? { ...freshNote, context: before }
  // Messages that came after its answer begin a task of their own, in the same context.
  const isAgain = kept.answered < body.answered
  const note = isAgain
    ? { ...kept, task: null, asked: [], words: 0, answered: body.answered, ended: kept.counted }
    : kept
  const heardAt = services.clock.now()
  const task = emptyTask(note.task, note.dropped)
  const allowance = createAllowance(() => services.clock.now())
  const counts = { quiet: 0, failures: 0, resent: 0, isSure: false }
  return { services, of, endpoint, remote: remoteOf(edge), task, note, heardAt, allowance, ...counts }
}

/** Stores what the call must know. Throws a `TooMuchError` if the ids that the other server has given are too long for that. */
export async function save(call: OpenCall, more: Partial<RemoteNote>): Promise<void> {
  const note = { ...call.note, ...more, dropped: [...call.task.dropped] }
  if (JSON.stringify(note).length > longestNote) throw new TooMuchError('its ids are too long to be kept')
  call.note = note
  await call.of.context.saveNote(note)
}

/** Records what the tasks of the call have cost beside what the log knows, with the note that says so. What is unknown at the end stays so. */
export async function count(call: OpenCall, isLast: boolean): Promise<boolean> {
  const { note, of } = call
  const { total, rest } = costOf(call)
  if (total === null && (!isLast || note.n === 0)) return false
  if (total !== null && isDeepStrictEqual(total, note.counted)) return true
  const counted = { ...note, counted: total ?? note.counted }
  call.note = JSON.stringify(counted).length > longestNote ? note : counted
  await of.body.saveSpent(call.note, rest)
  return total !== null
}

/** Fails the call, and tells the other server to stop. */
export function giveUp(call: OpenCall, words: string): RemoteOutcome {
  abandon(call)
  return remoteFailed(call.remote, words)
}

/** Tells the other server to stop. */
export function abandon({ services, of, note, task }: OpenCall): void {
  const known = note.task ?? (hasEnded(task) ? null : task.id)
  const { database } = of.context.caller
  services.abandon({ database, edge: of.edge, from: of.from, callId: of.callId, note: { ...note, task: known } })
}
