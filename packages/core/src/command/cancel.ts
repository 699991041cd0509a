/** Cancels a run or a task, with the tasks below it. */
import { WitanError } from '@witan/protocol'
import { type ConversationState, liveJob, type LiveJob } from '../conversation/state.ts'
import type { JobKind, JobRow } from '../store/store.ts'
import { type Accepted, type CommandContext, refusedError } from './accept.ts'
import { deliver, follow, commandEntry } from './deliver.ts'
import { notFound } from '../identity/not-found.ts'

/** Which job to cancel, who cancels it, and whether a run's tasks are cancelled too. Tasks below a task always are [E57]. */
interface Cancelling {
  readonly id: string
  readonly kind: JobKind
  readonly by: string
  readonly tasks: boolean
  /** Cancels nothing if the conversation's last seq is another; null skips this check. */
  readonly ifLastSeq?: number | null
}

/** Cancels a live run or task. `result` resolves when it has ended. Throws `NOT_FOUND`, `RUN_FINISHED`, `TASK_FINISHED`, `REVISION_MISMATCH`. */
export async function cancelJob(
  context: CommandContext,
  database: string,
  { id, kind, by, tasks, ifLastSeq = null }: Cancelling,
): Promise<Accepted> {
  const row = await context.store.getJob(database, id)
  if (row?.kind !== kind) throw notFound(kind, id)
  if (row.endedAt !== null) throw endedError(row)
  const log = await context.warm.latest(database, row.conversation)
  const job = liveJob(log.state, id)
  if (job === null) throw endedError((await context.store.getJob(database, id)) ?? row)
  const below = kind === 'task' || tasks ? tasksBelow(log.state, job) : []
  const places = [job, ...below].map(({ root }) => root.place)
  const body = { by, tasks }
  const entries = places.map((place) =>
    commandEntry(context, { place, job: place.call }, { type: 'cancel', kind: null, body }),
  )
  const result = await deliver(context, log, () => ({ jobs: places.map(({ call }) => call), entries, ifLastSeq }))
  if (result.ok) return follow(context, log, result)
  // One of the tasks has ended meanwhile: try again with the others.
  if (result.reason === 'inactive') return cancelJob(context, database, { id, kind, by, tasks, ifLastSeq })
  throw await refusedError(log, result.reason, { ifLastSeq })
}

function tasksBelow(state: ConversationState, { root }: LiveJob): readonly LiveJob[] {
  const isBelow = (task: LiveJob): boolean => {
    for (let call = task.root.parent; call !== null; call = call.parent) if (call === root) return true
    return false
  }
  return [...state.tasks.values()].filter(isBelow)
}

function endedError({ kind, status }: JobRow): WitanError {
  return new WitanError(kind === 'run' ? 'RUN_FINISHED' : 'TASK_FINISHED', `The ${kind} ended \`${status}\`.`, {
    hint: `Only a live ${kind} can be cancelled.`,
  })
}
