/** Delivering to live jobs: one append that wakes them, and starts here what nobody owns. */
import type { CallPlace, Entry, EntryContent } from '@witan/protocol/entries'
import type { ConversationLog } from '../conversation/log.ts'
import type { Slot } from '../conversation/state.ts'
import type { Append, AppendResult, JobRow, Settlement } from '../store/store.ts'
import type { Accepted, CommandContext } from './accept.ts'

/** Something to append for live jobs of a conversation. */
export interface Delivery {
  /** The jobs that must take it in; whatever of them nobody owns is taken over here. */
  readonly jobs: readonly string[]
  readonly entries: readonly Entry[]
  readonly settle?: readonly Settlement[]
  readonly messageAt?: number
  readonly ifLastSeq?: number | null
  /** The reply that this belongs to, and which of the jobs to write down beside it. */
  readonly note?: Append['note'] | undefined
}

/** Stores it and wakes the jobs. Refused with `inactive` where one of them has ended, with `reply-taken` where the key is another's; then nothing is stored. */
export async function deliver(
  context: CommandContext,
  log: ConversationLog,
  { jobs, ifLastSeq = null, note, ...delivery }: Delivery,
): Promise<AppendResult> {
  const { database, id } = log.state
  const { owner, leaseMs } = context.env
  const wakes = jobs.map((job) => ({ kind: 'wake', id: job, owner, leaseMs }) as const)
  const noted = note === undefined ? {} : { note }
  const append: Append = { database, conversation: id, jobs: wakes, ...delivery, ...noted }
  const result = await log.propose(ifLastSeq === null ? append : { ...append, ifLastSeq })
  if (result.ok) context.env.launch(result.jobs, log)
  return result
}

/** What came of a delivery to a run, for whoever waits for its result. */
export function follow(context: CommandContext, log: ConversationLog, stored: AppendResult & { ok: true }): Accepted {
  const job = stored.jobs[0] as JobRow
  return {
    runId: job.id,
    conversationId: log.state.id,
    fromSeq: stored.before,
    result: context.tracker.next(job),
  }
}

/** An entry that a job does not write itself. */
export function foreign(
  { env }: CommandContext,
  at: { readonly place: CallPlace; readonly job: string },
  content: EntryContent,
): Entry {
  return { ...content, seq: 0, at: env.clock.now(), ...at, epoch: 0, appendNo: env.ids.append() } as Entry
}

/** An interruption that is settled: for the log, and for its row. */
export interface Settled {
  readonly entry: Entry
  readonly settle: Settlement
}

/** Settles what a slot has open. */
export function settlement(
  context: CommandContext,
  slot: Slot,
  to: Pick<Settlement, 'state' | 'answer' | 'by'>,
): Settled {
  const id = slot.interruption?.id ?? ''
  const place = slot.place as CallPlace
  return {
    entry: foreign(context, { place, job: slot.owner.job }, { type: 'resolved', kind: null, body: { id, ...to } }),
    settle: { id, ...to, at: context.env.clock.now() },
  }
}
