/** Cancelling a run or a task, with the tasks below it. */
import { WitanError } from '@witan/protocol'
import { type ConversationState, liveJob, type RunState } from '../conversation/state.ts'
import type { JobKind, JobRow } from '../store/store.ts'
import { type Accepted, type CommandContext, refusedError } from './accept.ts'
import { deliver, follow, foreign } from './deliver.ts'

/** Which job to cancel, by whom, and whether the tasks that a run started go too; those below a task always do [E57]. */
export interface Cancelling {
  readonly id: string
  readonly kind: JobKind
  readonly by: string
  readonly tasks: boolean
  /** Cancels nothing where the conversation's last seq is another; null for whatever it is. */
  readonly ifLastSeq?: number | null
}

/** Cancels a live run or task. Throws `NOT_FOUND`, `RUN_FINISHED`, `TASK_FINISHED`, `REVISION_MISMATCH`. The promise of the result is for who wants to wait for the end. */
export async function cancelJob(
  context: CommandContext,
  database: string,
  { id, kind, by, tasks, ifLastSeq = null }: Cancelling,
): Promise<Accepted> {
  const row = await context.store.getJob(database, id)
  if (row?.kind !== kind) throw noJobError(kind, id)
  if (row.endedAt !== null) throw endedError(row)
  const log = await context.warm.get(database, row.conversation)
  await log.catchUp()
  const job = liveJob(log.state, id)
  if (job === null) throw endedError((await context.store.getJob(database, id)) ?? row)
  const below = kind === 'task' || tasks ? tasksBelow(log.state, job) : []
  const places = [job, ...below].map(({ root }) => root.place)
  const body = { by, tasks }
  const entries = places.map((place) =>
    foreign(context, { place, job: place.call }, { type: 'cancel', kind: null, body }),
  )
  const result = await deliver(context, log, { jobs: places.map(({ call }) => call), entries, ifLastSeq })
  if (result.ok) return follow(context, log, result)
  // One of the tasks has ended meanwhile: the others are looked at again.
  if (result.reason === 'inactive') return cancelJob(context, database, { id, kind, by, tasks, ifLastSeq })
  throw await refusedError(log, result.reason, { ifLastSeq })
}

function tasksBelow(state: ConversationState, { root }: RunState): readonly RunState[] {
  const isBelow = (task: RunState): boolean => {
    for (let call = task.root.parent; call !== null; call = call.parent) if (call === root) return true
    return false
  }
  return [...state.tasks.values()].filter(isBelow)
}

function noJobError(kind: JobKind, id: string): WitanError {
  return new WitanError('NOT_FOUND', `There is no ${kind} \`${id.slice(0, 80)}\`.`, {
    hint: `GET the conversation for its ${kind}s.`,
  })
}

function endedError({ kind, status }: JobRow): WitanError {
  return new WitanError(kind === 'run' ? 'RUN_FINISHED' : 'TASK_FINISHED', `The ${kind} ended \`${status}\`.`, {
    hint: `Only a live ${kind} can be cancelled.`,
  })
}
