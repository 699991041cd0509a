/** What others put into a live run: messages, answers, cancels. Each is one append that wakes the run's job. */
import { WitanError } from '@witan/protocol'
import type { CallPlace, Entry, EntryContent } from '@witan/protocol/entries'
import type { ConversationLog } from '../conversation/log.ts'
import type { Slot } from '../conversation/state.ts'
import type { Append, AppendResult, InterruptionRow, JobRow, Settlement } from '../store/store.ts'
import type { Answer } from '../tool/tool.ts'
import { type Accepted, type CommandContext, type Message, messageEntry, refusalError } from './accept.ts'

/** Something to append for a live run. */
interface Delivery {
  readonly entries: readonly Entry[]
  readonly settle?: readonly Settlement[]
  readonly messageAt?: number
  readonly ifLastSeq?: number
}

async function deliver(
  context: CommandContext,
  log: ConversationLog,
  to: { readonly run: string } & Delivery,
): Promise<AppendResult> {
  const { run, ...delivery } = to
  const { database, id } = log.state
  const { env, store } = context
  const job = { kind: 'wake', id: run, owner: env.owner, leaseUntil: store.now() + env.leaseMs } as const
  const append: Append = { database, conversation: id, job, ...delivery }
  const result = await log.propose(append)
  if (result.ok && result.job?.owner === env.owner) context.worker.run(result.job, log)
  return result
}

function follow(context: CommandContext, log: ConversationLog, stored: AppendResult & { ok: true }): Accepted {
  const job = stored.job as JobRow
  return {
    runId: job.id,
    conversationId: log.state.id,
    fromSeq: stored.before,
    result: context.tracker.next(job.id, job.epoch),
  }
}

function foreign(context: CommandContext, place: CallPlace, content: EntryContent): Entry {
  return { ...content, seq: 0, at: context.env.clock.now(), place, job: place.run, epoch: 0, appendNo: 0 } as Entry
}

/** A prompt while a run is live joins it at its next step [D12]. Null where the run ended meanwhile: then a new run starts. */
export async function joinRun(
  context: CommandContext,
  log: ConversationLog,
  message: Message & { cancelPendingActions: boolean },
): Promise<Accepted | null> {
  const { run } = log.state
  if (run === null) return null
  const waiting = [...run.slots.values()].filter((slot) => slot.interruption?.kind === 'action')
  if (waiting.length > 0 && !message.cancelPendingActions) {
    throw new WitanError(
      'ACTIONS_PENDING',
      `${waiting.length === 1 ? 'An action waits' : `${waiting.length} actions wait`} for an answer: ${waiting.map((slot) => `\`${slot.interruption?.path}\``).join(', ')}.`,
      {
        hint: 'Send actionResponses, or cancelPendingActions: true to close them.',
      },
    )
  }
  const at = context.env.clock.now()
  const closed = waiting.map((slot) => settlement(context, slot, { state: 'cancelled', answer: null, by: null }))
  const entries = [
    ...closed.map((one) => one.entry),
    messageEntry(context.env, message, { place: run.root.place, at, job: run.root.place.call, appendNo: 0 }),
  ]
  const delivery = { run: run.root.place.call, entries, settle: closed.map((one) => one.settle), messageAt: at }
  const result = await deliver(
    context,
    log,
    message.ifLastSeq === null ? delivery : { ...delivery, ifLastSeq: message.ifLastSeq },
  )
  if (result.ok) return follow(context, log, result)
  if (result.reason === 'inactive') return null
  throw refusalError(result.reason, log.state.id)
}

interface Settled {
  readonly entry: Entry
  readonly settle: Settlement
}

function settlement(context: CommandContext, slot: Slot, to: Pick<Settlement, 'state' | 'answer' | 'by'>): Settled {
  const id = slot.interruption?.id ?? ''
  const place = slot.place as CallPlace
  return {
    entry: foreign(context, place, { type: 'resolved', kind: null, body: { id, ...to } }),
    settle: { id, ...to, at: context.env.clock.now() },
  }
}

/** An answer to one interruption, by whom. */
export interface Answering {
  readonly id: string
  readonly answer: Answer
}

/**
 * Answers open interruptions of one conversation, all or none. An identical repeat by the same principal is accepted and changes
 * nothing; another second answer is refused [D11, E58].
 */
export async function answerAll(
  context: CommandContext,
  log: ConversationLog,
  answering: { answers: readonly Answering[]; by: string; ifLastSeq: number | null },
): Promise<Accepted> {
  const { database, id } = log.state
  const rows: InterruptionRow[] = []
  const fresh: Settled[] = []
  for (const { id: wanted, answer } of answering.answers) {
    const row = await context.store.getInterruption(database, wanted)
    if (row === null || row.conversation !== id) throw notFound(wanted)
    rows.push(row)
    if (isRepeat(row, { answer, by: answering.by })) continue
    await refuseClosed(context, row)
    const slot = log.state.run?.slots.get(row.call)
    if (slot?.interruption?.id !== wanted) throw refusalError('conflict', id)
    fresh.push(settlement(context, slot, { state: 'answered', answer, by: answering.by }))
  }
  const run = (rows[0] as InterruptionRow).job
  if (fresh.length === 0) return repeated(context, log, run)
  const delivery = { run, entries: fresh.map((one) => one.entry), settle: fresh.map((one) => one.settle) }
  const result = await deliver(
    context,
    log,
    answering.ifLastSeq === null ? delivery : { ...delivery, ifLastSeq: answering.ifLastSeq },
  )
  if (result.ok) return follow(context, log, result)
  if (result.reason === 'settled' || result.reason === 'inactive') {
    for (const row of rows)
      await refuseClosed(context, (await context.store.getInterruption(database, row.view.id)) ?? row)
  }
  throw refusalError(result.reason, id)
}

/** All answers were there already: what the run told or will tell. */
async function repeated(context: CommandContext, log: ConversationLog, run: string): Promise<Accepted> {
  const { database, id, seq } = log.state
  const job = await context.store.getJob(database, run)
  if (job === null) throw notFound(run)
  const result =
    job.status === 'running'
      ? context.tracker.next(run, job.epoch)
      : Promise.resolve(job.result as Awaited<Accepted['result']>)
  return { runId: run, conversationId: id, fromSeq: seq, result }
}

function notFound(id: string): WitanError {
  return new WitanError(
    'ACTION_NOT_FOUND',
    `There is no open interruption \`${id.slice(0, 80)}\` in this conversation.`,
    { path: 'actionResponses', hint: 'GET the conversation for the open ones.' },
  )
}

function isRepeat(row: InterruptionRow, with_: { answer: Answer; by: string }): boolean {
  return (
    row.view.state === 'answered' &&
    row.answeredBy === with_.by &&
    JSON.stringify(row.answer) === JSON.stringify(with_.answer)
  )
}

async function refuseClosed(context: CommandContext, row: InterruptionRow): Promise<void> {
  const { state, id } = row.view
  if (state === 'open') return
  if (state === 'expired')
    throw new WitanError('QUESTION_EXPIRED', `\`${id}\` has expired.`, { hint: 'Ask again with a new prompt.' })
  const job = await context.store.getJob(row.database, row.job)
  if (state === 'cancelled' && job !== null && job.status !== 'running' && job.status !== 'waiting') {
    throw new WitanError('RUN_FINISHED', `The run ended \`${job.status}\`.`, {
      hint: 'Send a prompt to start a new run.',
    })
  }
  const how =
    state === 'cancelled' ? 'was cancelled' : `was answered${row.answeredBy === null ? '' : ` by ${row.answeredBy}`}`
  throw new WitanError('ALREADY_ANSWERED', `\`${id}\` ${how}.`, {
    hint: 'Identical repeats by the same principal are accepted; other answers are not.',
  })
}

/** Answers one interruption by its id alone. Throws `NOT_FOUND`. */
export async function answerOne(
  context: CommandContext,
  database: string,
  answering: Answering & { by: string },
): Promise<InterruptionRow> {
  const { id, answer, by } = answering
  const row = await context.store.getInterruption(database, id)
  if (row === null)
    throw new WitanError('NOT_FOUND', `There is no interruption \`${id.slice(0, 80)}\`.`, {
      hint: 'GET /api/v1/interruptions lists the open ones.',
    })
  const log = await context.warm.get(database, row.conversation)
  await answerAll(context, log, { answers: [{ id, answer }], by, ifLastSeq: null })
  return (await context.store.getInterruption(database, id)) ?? row
}

/** Cancels a live run. Throws `NOT_FOUND`, `RUN_FINISHED`. The promise of the result is for who wants to wait for the end. */
export async function cancelRun(
  context: CommandContext,
  database: string,
  cancel: { run: string; by: string },
): Promise<Accepted> {
  const job = await context.store.getJob(database, cancel.run)
  if (job === null)
    throw new WitanError('NOT_FOUND', `There is no run \`${cancel.run.slice(0, 80)}\`.`, {
      hint: 'GET the conversation for its runs.',
    })
  const ended = () =>
    new WitanError('RUN_FINISHED', `The run ended \`${job.status}\`.`, { hint: 'Only a live run can be cancelled.' })
  if (job.status !== 'running' && job.status !== 'waiting') throw ended()
  const log = await context.warm.get(database, job.conversation)
  const root = log.state.run?.root
  if (root?.place.call !== cancel.run) throw ended()
  const entry = foreign(context, root.place, { type: 'cancel', kind: null, body: { by: cancel.by, tasks: false } })
  const result = await deliver(context, log, { run: cancel.run, entries: [entry] })
  if (result.ok) return follow(context, log, result)
  if (result.reason === 'inactive') throw ended()
  throw refusalError(result.reason, job.conversation)
}
