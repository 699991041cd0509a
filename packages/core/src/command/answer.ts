/** Answers to what waits: checked, stored once by a compare-and-set, and the jobs they belong to go on. Also what came too late. */
import { type Interruption, type InterruptionKind, WitanError } from '@witan/protocol'
import type { ConversationLog } from '../conversation/log.ts'
import { liveJob, type Slot } from '../conversation/state.ts'
import type { Principal } from '../identity/principal.ts'
import { mayAnswer } from '../interruption/access.ts'
import { checkAnswer } from '../interruption/answer.ts'
import { canonicalJson } from '../interruption/digest.ts'
import type { InterruptionRow, Reservation } from '../store/store.ts'
import type { Answer } from '../tool/tool.ts'
import { type Accepted, type CommandContext, refusalError, refusedError } from './accept.ts'
import { deliver, follow, type Settled, settlement } from './deliver.ts'

/** An answer to one interruption; with `kind` to one of that kind only. */
export interface Answering {
  readonly id: string
  readonly answer: Answer
  readonly kind?: InterruptionKind
}

/** Answers of one principal. */
export interface AnsweringAll {
  readonly answers: readonly Answering[]
  readonly by: Pick<Principal, 'id' | 'roles'>
  readonly ifLastSeq: number | null
  /** The reply that a repeat of the request asks for. */
  readonly note?: Reservation | undefined
}

/**
 * Answers open interruptions of one conversation, all or none, whichever jobs of it they belong to. An identical repeat by the same
 * principal is accepted and changes nothing; another second answer is refused [D11, E58]. Throws `ACTION_NOT_FOUND` also where the
 * principal may not answer, `ANSWER_INVALID`, `ALREADY_ANSWERED`, `QUESTION_EXPIRED`, `RUN_FINISHED`.
 */
export async function answerAll(
  context: CommandContext,
  log: ConversationLog,
  { answers, by, ifLastSeq, note }: AnsweringAll,
): Promise<Accepted> {
  await log.catchUp()
  const { database, id } = log.state
  const createdBy = (await context.store.getConversation(database, id))?.createdBy ?? ''
  const rows: InterruptionRow[] = []
  const fresh: Settled[] = []
  for (const answering of onceEach(answers)) {
    const row = await context.store.getInterruption(database, answering.id)
    if (row === null || row.conversation !== id || !isFor(row, answering, { by, createdBy }))
      throw notFound(answering.id)
    rows.push(row)
    const answer = await acceptable(context, row, { answer: answering.answer, by: by.id })
    if (answer === null) continue
    const slot = slotOf(log, row)
    if (slot === undefined) throw refusalError('conflict', id)
    fresh.push(settlement(context, slot, { state: 'answered', answer, by: by.id }))
  }
  if (fresh.length === 0) return repeated(context, log, (rows[0] as InterruptionRow).job)
  // Whoever answers for a run and its tasks waits for the run.
  const run = log.state.run?.root.place.call
  const jobs = [...new Set(fresh.map(({ entry }) => entry.job))].sort((a, b) => Number(b === run) - Number(a === run))
  const delivery = {
    jobs,
    entries: fresh.map((one) => one.entry),
    settle: fresh.map((one) => one.settle),
    ifLastSeq,
    note: note && { ...note, text: jobs[0] ?? null },
  }
  const result = await deliver(context, log, delivery)
  if (result.ok) return follow(context, log, result)
  if (result.reason === 'settled' || result.reason === 'inactive') {
    for (const row of rows)
      await refuseClosed(context, (await context.store.getInterruption(database, row.view.id)) ?? row)
  }
  throw await refusedError(log, result.reason, { ifLastSeq })
}

/** One answer for each id: the same one again is a repeat, another one is refused [E58]. */
function onceEach(answers: readonly Answering[]): readonly Answering[] {
  const first = new Map<string, Answering>()
  for (const answering of answers) {
    const known = first.get(answering.id)
    if (known !== undefined && canonicalJson(known.answer) !== canonicalJson(answering.answer)) {
      throw new WitanError('ALREADY_ANSWERED', `\`${answering.id}\` is answered twice in one request, differently.`, {
        path: 'answers',
        hint: 'Send one answer for each id.',
      })
    }
    first.set(answering.id, known ?? answering)
  }
  return [...first.values()]
}

function isFor(
  { view }: InterruptionRow,
  { kind }: Answering,
  who: { readonly by: AnsweringAll['by']; readonly createdBy: string },
): boolean {
  const { addressee } = view
  return (kind === undefined || kind === view.kind) && mayAnswer(who.by, { addressee, createdBy: who.createdBy })
}

/** The waiting call, as this process knows it. */
function slotOf({ state }: ConversationLog, { call, job, view }: InterruptionRow): Slot | undefined {
  const slot = liveJob(state, job)?.slots.get(call)
  return slot?.interruption?.id === view.id ? slot : undefined
}

/** The answer as it is to be stored; null where it stands there already. */
async function acceptable(
  context: CommandContext,
  row: InterruptionRow,
  given: { readonly answer: Answer; readonly by: string },
): Promise<Answer | null> {
  const { view, terms } = row
  if (view.state !== 'open') {
    if (isRepeat(row, given)) return null
    await refuseClosed(context, row)
  }
  if (row.expiresAt !== null && row.expiresAt <= context.store.now()) {
    await expire(context, row)
    throw expiredError(view)
  }
  return checkAnswer(view, terms, given.answer)
}

/** All answers were there already: what the run told or will tell. */
async function repeated(context: CommandContext, log: ConversationLog, run: string): Promise<Accepted> {
  const { database, id, seq } = log.state
  const job = await context.store.getJob(database, run)
  if (job === null) throw notFound(run)
  const result =
    job.status === 'running' ? context.tracker.next(job) : Promise.resolve(job.result as Awaited<Accepted['result']>)
  return { runId: run, conversationId: id, fromSeq: seq, result }
}

function notFound(id: string): WitanError {
  return new WitanError(
    'ACTION_NOT_FOUND',
    `There is no open interruption \`${id.slice(0, 80)}\` in this conversation that you may answer so.`,
    {
      path: 'answers',
      hint: 'GET the conversation for the open ones. `actionResponses` answer actions only, `answers` all kinds.',
    },
  )
}

function isRepeat(
  { view, terms, answeredBy, answer }: InterruptionRow,
  given: { answer: Answer; by: string },
): boolean {
  if (view.state !== 'answered' || answeredBy !== given.by) return false
  try {
    return canonicalJson(answer) === canonicalJson(checkAnswer(view, terms, given.answer))
  } catch {
    return false
  }
}

function expiredError({ id }: Interruption): WitanError {
  return new WitanError('QUESTION_EXPIRED', `\`${id}\` has expired.`, { hint: 'Ask again with a new prompt.' })
}

async function refuseClosed(context: CommandContext, row: InterruptionRow): Promise<void> {
  const { state, id } = row.view
  if (state === 'open') return
  if (state === 'expired') throw expiredError(row.view)
  const job = await context.store.getJob(row.database, row.job)
  if (state === 'cancelled' && job !== null && job.endedAt !== null) {
    const at = new Date(job.endedAt).toISOString()
    throw new WitanError('RUN_FINISHED', `The run ended \`${job.status}\` at ${at}.`, {
      hint: 'Send a prompt to start a new run.',
    })
  }
  const at = row.settledAt === null ? '' : ` at ${new Date(row.settledAt).toISOString()}`
  const by = row.answeredBy === null ? '' : ` by ${row.answeredBy}`
  const how = state === 'cancelled' ? 'was cancelled' : 'was answered'
  throw new WitanError('ALREADY_ANSWERED', `\`${id}\` ${how}${at}${by}.`, {
    hint: 'Identical repeats by the same principal are accepted; other answers are not.',
  })
}

/** Answers one interruption by its id alone. Throws `NOT_FOUND`, for one that the principal may not answer too. */
export async function answerOne(
  context: CommandContext,
  database: string,
  answering: Answering & { readonly by: AnsweringAll['by'] },
): Promise<InterruptionRow> {
  const { by, ...one } = answering
  const row = await context.store.getInterruption(database, one.id)
  const conversation = row === null ? null : await context.store.getConversation(database, row.conversation)
  if (row === null || conversation === null || !isFor(row, one, { by, createdBy: conversation.createdBy }))
    throw new WitanError('NOT_FOUND', `There is no interruption \`${one.id.slice(0, 80)}\`.`, {
      hint: 'GET /api/v1/interruptions lists the open ones.',
    })
  const log = await context.warm.get(database, row.conversation)
  await answerAll(context, log, { answers: [one], by, ifLastSeq: null })
  return (await context.store.getInterruption(database, one.id)) ?? row
}

const expiredAtOnce = 100

/** Settles what nobody answered in time, of all databases; each call goes on with what its tool makes of that [E59]. */
export async function expireDue(context: CommandContext, prepare: (database: string) => Promise<void>): Promise<void> {
  for (const row of await context.store.dueInterruptions(expiredAtOnce)) {
    try {
      await prepare(row.database)
      await expire(context, row)
    } catch (error) {
      context.env.report(error)
    }
  }
}

/** Whoever answers at the same moment may win: then nothing is left to do here. */
async function expire(context: CommandContext, row: InterruptionRow): Promise<void> {
  const log = await context.warm.get(row.database, row.conversation)
  await log.catchUp()
  const slot = slotOf(log, row)
  if (slot === undefined) return
  const { entry, settle } = settlement(context, slot, { state: 'expired', answer: null, by: null })
  await deliver(context, log, { jobs: [row.job], entries: [entry], settle: [settle] })
}
