/** Answers interruptions: checks each answer, stores it once by compare-and-set, and wakes its job. Also settles expired ones. */
import { type Interruption, type InterruptionKind, WitanError } from '@witan/protocol'
import type { ConversationLog } from '../conversation/log.ts'
import { askedAlike } from '../conversation/begin-work.ts'
import { liveJob, type ToolCall } from '../conversation/state.ts'
import type { Requester } from '../identity/principal.ts'
import type { Involvement } from '../identity/rights.ts'
import { freshEvidence } from '../interruption/fresh-evidence.ts'
import { mayAnswer } from '../interruption/may-answer.ts'
import { checkAnswer } from '../interruption/check-answer.ts'
import { canonicalJson } from '../tool/digest.ts'
import { involvementOf } from '../store/involvement.ts'
import type { Reservation } from '../store/reply-records.ts'
import type { InterruptionRow } from '../store/store.ts'
import type { Answer } from '../tool/tool.ts'
import { type Accepted, type CommandContext, refusalError, refusedError } from './accept.ts'
import { deliver, follow, type Settled, settlement } from './deliver.ts'
import { notFound } from '../identity/not-found.ts'

/** An answer to one interruption. With `kind`, the interruption must be of that kind. */
interface Answering {
  readonly id: string
  readonly answer: Answer
  readonly kind?: InterruptionKind
  /** It is answered because it asks the same as another one; left out where it may not be. */
  readonly isAlike?: true
}

/** The answers of one principal. */
interface AnsweringAll {
  readonly answers: readonly Answering[]
  readonly by: Requester
  readonly ifLastSeq: number | null
  /** The idempotent reply to this request. */
  readonly note?: Reservation | undefined
}

/**
 * Answers open interruptions of one conversation, all or none; they may belong to different jobs. The log has been brought up to date. An identical repeat by the same
 * principal is accepted and changes nothing; any other second answer is refused [D11, E58]. Throws `ACTION_NOT_FOUND`, also if the
 * principal may not answer; `ANSWER_INVALID`, `ALREADY_ANSWERED`, `QUESTION_EXPIRED`, `RUN_FINISHED`.
 */
export async function answerAll(
  context: CommandContext,
  log: ConversationLog,
  { answers, by, ifLastSeq, note }: AnsweringAll,
): Promise<Accepted> {
  const { database, id } = log.state
  const conversation = await context.store.getConversation(database, id)
  const involvement = conversation === null ? null : await involvementOf(context.store, by, conversation)
  const rows: InterruptionRow[] = []
  const fresh: Settled[] = []
  const alike: Answering[] = []
  for (const answering of onceEach(answers)) {
    const row = await context.store.getInterruption(database, answering.id)
    if (
      row === null ||
      row.conversation !== id ||
      involvement === null ||
      !isFor(row, answering, { by, ...involvement })
    ) {
      if (answering.isAlike) continue
      throw notOpen(answering.id)
    }
    if (answering.isAlike && !isOpen(context, row)) continue
    rows.push(row)
    const answer = await acceptable(context, row, { answer: answering.answer, by: by.id })
    if (answer === null) continue
    const toolCall = toolCallOf(log, row)
    if (toolCall === undefined) throw refusalError('conflict', id)
    const evidence = freshEvidence(row.view, by.incoming?.evidence)
    const to = { state: 'answered', answer, by: by.id, ...(evidence && { evidence }) } as const
    fresh.push(settlement(context, { toolCall, id: row.view.id }, to))
    for (const other of askedAlike(log.state, { toolCall, asked: row.view }))
      alike.push({ id: other.asked.id, answer: answering.answer, isAlike: true })
  }
  // What is demanded once in a conversation is answered once, also where several jobs ask it.
  const more = alike.filter(({ id: other }) => answers.every((one) => one.id !== other))
  if (more.length > 0) return answerAll(context, log, { answers: [...answers, ...more], by, ifLastSeq, note })
  if (fresh.length === 0) return repeated(context, log, (rows[0] as InterruptionRow).job)
  // The run comes first: its result is what the caller waits for.
  const run = log.state.run?.root.place.call
  const jobs = [...new Set(fresh.map(({ entry }) => entry.job))].sort((a, b) => Number(b === run) - Number(a === run))
  const delivery = {
    jobs,
    entries: fresh.map((one) => one.entry),
    settle: fresh.map((one) => one.settle),
    ifLastSeq,
    note: note && { ...note, text: jobs[0] ?? null },
  }
  const result = await deliver(context, log, () => delivery)
  if (result.ok) return follow(context, log, result)
  if (result.reason === 'settled' || result.reason === 'inactive') {
    const own = answers.filter(({ isAlike }) => !isAlike)
    if (own.length < answers.length) return answerAll(context, log, { answers: own, by, ifLastSeq, note })
    for (const row of rows)
      await refuseClosed(context, (await context.store.getInterruption(database, row.view.id)) ?? row)
  }
  throw await refusedError(log, result.reason, { ifLastSeq })
}

/** Keeps one answer per id. An identical duplicate is dropped, a different one is refused [E58]. */
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
  { by, ...involvement }: Involvement & Pick<AnsweringAll, 'by'>,
): boolean {
  return (kind === undefined || kind === view.kind) && mayAnswer(by, { ...view, ...involvement })
}

/** The waiting call in this process's fold. */
function toolCallOf({ state }: ConversationLog, { call, job, view }: InterruptionRow): ToolCall | undefined {
  const toolCall = liveJob(state, job)?.toolCalls.get(call)
  return toolCall?.interruptions.some(({ id }) => id === view.id) ? toolCall : undefined
}

function isOpen({ store }: CommandContext, { database, view, expiresAt }: InterruptionRow): boolean {
  return view.state === 'open' && (expiresAt === null || expiresAt > store.now(database))
}

/** The answer to store; null if it is stored already. */
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
  if (row.expiresAt !== null && row.expiresAt <= context.store.now(row.database)) {
    await expire(context, row)
    throw expiredError(view)
  }
  return checkAnswer(view, terms, given.answer)
}

/** All answers are stored already: returns the run's result, or a promise of its next one. */
async function repeated(context: CommandContext, log: ConversationLog, run: string): Promise<Accepted> {
  const { database, id, seq } = log.state
  await context.store.confirmStored(database)
  const job = await context.store.getJob(database, run)
  if (job === null) throw notOpen(run)
  const result =
    job.status === 'running' ? context.tracker.next(job) : Promise.resolve(job.result as Awaited<Accepted['result']>)
  return { runId: run, conversationId: id, fromSeq: seq, result }
}

function notOpen(id: string): WitanError {
  return new WitanError(
    'ACTION_NOT_FOUND',
    `There is no open interruption \`${id.slice(0, 80)}\` in this conversation that you may answer in this way.`,
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

/** Answers one interruption by its id alone. Throws `NOT_FOUND`, also if the principal may not answer it. */
export async function answerOne(
  context: CommandContext,
  database: string,
  answering: Answering & { readonly by: AnsweringAll['by'] },
): Promise<InterruptionRow> {
  const { by, ...one } = answering
  const row = await context.store.getInterruption(database, one.id)
  const conversation = row === null ? null : await context.store.getConversation(database, row.conversation)
  const involvement = conversation === null ? null : await involvementOf(context.store, by, conversation)
  if (row === null || involvement === null || !isFor(row, one, { by, ...involvement }))
    throw notFound('interruption', one.id)
  const log = await context.warm.latest(database, row.conversation)
  await answerAll(context, log, { answers: [one], by, ifLastSeq: null })
  return (await context.store.getInterruption(database, one.id)) ?? row
}

const expiredAtOnce = 100

/** Settles expired interruptions of all databases. Each waiting call continues, and its tool handles the expiry [E59]. */
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

/** Settles one as expired. An answer at the same moment may win; then this does nothing. */
async function expire(context: CommandContext, row: InterruptionRow): Promise<void> {
  const log = await context.warm.latest(row.database, row.conversation)
  const toolCall = toolCallOf(log, row)
  if (toolCall === undefined) return
  const { entry, settle } = settlement(
    context,
    { toolCall, id: row.view.id },
    { state: 'expired', answer: null, by: null },
  )
  await deliver(context, log, () => ({ jobs: [row.job], entries: [entry], settle: [settle] }))
}

/** Resolves what waits in a conversation for the evidence that came with a message of its caller. Another answer may win [E22]. */
export async function renewEvidence(context: CommandContext, log: ConversationLog, by: Requester): Promise<void> {
  const { run, tasks } = log.state
  const toolCalls = [run, ...tasks.values()].flatMap((job) => (job === null ? [] : [...job.toolCalls.values()]))
  for (const toolCall of toolCalls)
    for (const asked of toolCall.interruptions) {
      const evidence = freshEvidence(asked, by.incoming?.evidence)
      if (evidence === null) continue
      const to = { state: 'answered', answer: { value: { resolution: {} } }, by: by.id, evidence } as const
      const { entry, settle } = settlement(context, { toolCall, id: asked.id }, to)
      await deliver(context, log, () => ({ jobs: [entry.job], entries: [entry], settle: [settle] }))
    }
}
