/** Delivers entries to live jobs: one append wakes them, and this process takes over those without an owner. */
import type { CallPlace, Entry, EntryContent, ResolvedBody } from '@witan/protocol/entries'
import { makeEntry } from '../conversation/entry.ts'
import type { ConversationLog } from '../conversation/log.ts'
import type { ToolCall } from '../conversation/state.ts'
import type { Append, AppendResult, JobRow, Settlement } from '../store/store.ts'
import type { Accepted, CommandContext } from './accept.ts'

/** Entries and settlements for live jobs of a conversation. */
interface Delivery {
  /** The jobs to wake. This process takes over those without an owner. */
  readonly jobs: readonly string[]
  readonly entries: readonly Entry[]
  readonly settle?: readonly Settlement[]
  readonly messageAt?: number
  readonly contents?: NonNullable<Append['contents']>
  readonly participants?: NonNullable<Append['participants']>
  readonly hide?: NonNullable<Append['hide']>
  readonly ifLastSeq?: number | null
  /** The idempotent reply of the request, and the job id to store with it. */
  readonly note?: Append['note'] | undefined
}

/**
 * Stores a delivery and wakes its jobs; `decide` makes it once no other proposal is under way. Refused whole with `inactive` if a job has
 * ended, or `reply-taken` if the key belongs to another request.
 */
export async function deliver(
  context: CommandContext,
  log: ConversationLog,
  decide: () => Delivery,
): Promise<AppendResult> {
  const { database, id } = log.state
  const { owner, leaseMs } = context.env
  const result = await log.propose(() => {
    const { jobs, ifLastSeq = null, note, ...delivery } = decide()
    const wakes = jobs.map((job) => ({ kind: 'wake', id: job, owner, leaseMs }) as const)
    const noted = note === undefined ? {} : { note }
    const append: Append = { database, conversation: id, jobs: wakes, ...delivery, ...noted }
    return { append: ifLastSeq === null ? append : { ...append, ifLastSeq } }
  })
  if (result.ok) context.env.launch(result.jobs, log)
  return result
}

/** The accepted run after a delivery, with the promise of its result. */
export function follow(context: CommandContext, log: ConversationLog, stored: AppendResult & { ok: true }): Accepted {
  const job = stored.jobs[0] as JobRow
  return {
    runId: job.id,
    conversationId: log.state.id,
    fromSeq: stored.before,
    result: context.tracker.next(job),
  }
}

/** An entry that a command writes for a job. */
export function commandEntry(
  { env }: CommandContext,
  at: { readonly place: CallPlace; readonly job: string },
  content: EntryContent,
): Entry {
  return makeEntry(content, { ...at, epoch: 0, appendNo: env.ids.append(), at: env.clock.now() })
}

/** A settled interruption: its log entry, and the change of its row. */
export interface Settled {
  readonly entry: Entry
  readonly settle: Settlement
}

/** Settles an open interruption of a tool call. */
export function settlement(
  context: CommandContext,
  { toolCall, id }: { readonly toolCall: ToolCall; readonly id: string },
  { left, evidence, ...to }: Pick<Settlement, 'state' | 'answer' | 'by'> & Pick<ResolvedBody, 'left' | 'evidence'>,
): Settled {
  const kind = toolCall.interruptions.find((one) => one.id === id)?.kind
  const place = toolCall.place as CallPlace
  return {
    entry: commandEntry(
      context,
      { place, job: toolCall.owner.job },
      {
        type: 'resolved',
        kind: null,
        body: { id, ...(kind && { kind }), ...to, ...(left && { left }), ...(evidence && { evidence }) },
      },
    ),
    settle: { id, ...to, at: context.env.clock.now() },
  }
}
