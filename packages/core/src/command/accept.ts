/** Accepts a message: the message, its run and the leased job are stored before the caller gets a reply [D4, D24]. */
import { type ArtificialAction, WitanError } from '@witan/protocol'
import type { CallPlace, Entry, MessageBody, NoticeBody, ToolMode, Writable } from '@witan/protocol/entries'
import type { FileReference } from '@witan/protocol/files'
import { makeEntry } from '../conversation/entry.ts'
import type { ConversationLog } from '../conversation/log.ts'
import { startingRows } from '../conversation/participant-rows.ts'
import type { WarmConversations } from '../conversation/warm-conversations.ts'
import type { Reservation } from '../store/reply-records.ts'
import type { Append, AppendResult, ConversationRow, JobRow, Store } from '../store/store.ts'
import type { RunTracker, StoredResult } from '../task/tracker.ts'
import type { Environment, PinnedAgent } from '../job/environment.ts'
import { runEntries } from '../job/start.ts'
import { listSoon } from '../job/list-soon.ts'
import { storableText } from './redact.ts'
import { unreportedMessage } from '../job/report.ts'
import { authorOf, type Principal, shownCaller, workingFor } from '../identity/principal.ts'
import { readTraceparent, traceparentOf } from '../identity/traceparent.ts'
import { notFound } from '../identity/not-found.ts'

/** What commands need. */
export interface CommandContext {
  readonly env: Environment
  readonly store: Store
  readonly warm: WarmConversations
  readonly tracker: RunTracker
}

/** An accepted run. */
export interface Accepted {
  readonly runId: string
  readonly conversationId: string
  readonly fromSeq: number
  readonly result: Promise<StoredResult>
}

/** A person's message, with its conditions. */
export interface Message {
  readonly text: string
  /** Tool calls that are shown to the model as its own, made right after this message [Rb52]. */
  readonly artificialActions: readonly ArtificialAction[]
  /** The files that come with it; the store has their content [Rb53]. */
  readonly files?: readonly FileReference[]
  readonly ifLastSeq: number | null
  /** The person who speaks; absent for a principal that is no person. */
  readonly author?: string
  /** Who says it: the run that it starts works for this principal. */
  readonly by: Principal
  /** The tool mode of the root's call in the run that it starts; absent or null: the agent's own [T12]. */
  readonly toolMode?: ToolMode | null
  /** The caller's own id of it. */
  readonly messageId?: string
  /** What a person reads of how the message came; stored if it begins a run. */
  readonly notices?: readonly NoticeBody[]
  /** The W3C header of the request; stored only if traces are exported. */
  readonly traceparent?: string
  /** The idempotent reply to this request. */
  readonly note?: Reservation
  /** How many runs of `by` may be live, with the one that it begins. */
  readonly mostLive?: number
}

type Words = Pick<Message, 'traceparent' | 'text' | 'artificialActions' | 'files' | 'author' | 'by' | 'messageId'>

/** Starts a conversation with its first run. Null if the id was taken meanwhile. Throws `IN_PROGRESS`. */
export async function acceptFirst(
  context: CommandContext,
  row: ConversationRow,
  given: Message,
): Promise<Accepted | null> {
  const log = context.warm.fresh(row)
  const pinned = pinRoot(context, row)
  const message = await storable(context, given, pinned)
  await listSoon(context.env, log.state, pinned.data)
  const result = await log.propose(() => {
    const append = newRun(context, log, { pinned, message })
    const { participants } = startingRows(row)
    append.create = row
    if (participants !== undefined) append.participants = participants
    return { append }
  })
  if (!result.ok && result.reason === 'exists') return null
  if (!result.ok) throw await refusedError(log, result.reason, message)
  context.warm.keep(log)
  return started(context, log, result)
}

/** Starts a run in a conversation, or returns the job of the live run. */
export async function acceptNext(
  context: CommandContext,
  log: ConversationLog,
  given: Message,
): Promise<Accepted | JobRow> {
  const { database, rootAgent } = log.state
  const pinned = pinRoot(context, { database, agent: rootAgent })
  const message = await storable(context, given, pinned)
  await listSoon(context.env, log.state, pinned.data)
  const result = await log.propose(() => ({ append: newRun(context, log, { pinned, message }) }))
  if (result.ok) return started(context, log, result)
  if (result.reason === 'active' && result.job !== null) return result.job
  if (result.reason === 'moved' && message.ifLastSeq === null) {
    await log.catchUp()
    return acceptNext(context, log, given)
  }
  throw await refusedError(log, result.reason, message)
}

/** The message as it may be stored. */
async function storable(context: CommandContext, message: Message, { data }: PinnedAgent): Promise<Message> {
  const clean = storableText(context.env, message.text, [data])
  if (clean === null) return message
  const { text, notices } = await clean
  return { ...message, text, notices: [...(message.notices ?? []), ...notices] }
}

function started(context: CommandContext, log: ConversationLog, stored: AppendResult & { ok: true }): Accepted {
  const job = stored.jobs[0] as JobRow
  const result = context.tracker.next(job)
  context.env.launch([job], log)
  return { runId: job.id, conversationId: log.state.id, fromSeq: stored.before, result }
}

/** The store's refusal of a message, as an error. If another writer came first, it names the expected and the actual seq [Rb33]. */
export async function refusedError(
  log: ConversationLog,
  reason: string,
  { ifLastSeq, mostLive }: Pick<Message, 'ifLastSeq' | 'mostLive'>,
): Promise<WitanError> {
  const { state } = log
  if (reason === 'too-many' && mostLive !== undefined) return tooManyTasks(mostLive)
  if (reason !== 'moved' || ifLastSeq === null) return refusalError(reason, state.id)
  await log.catchUp()
  return new WitanError(
    'REVISION_MISMATCH',
    `The last seq of conversation \`${state.id}\` is ${state.seq}, not ${ifLastSeq}.`,
    { path: 'ifLastSeq', hint: 'Read what was written since, and repeat.' },
  )
}

/** The error for a caller that has as many live runs as it may. */
export function tooManyTasks(most: number): WitanError {
  return new WitanError('TOO_MANY_TASKS', `${most} tasks of yours are open here, which is the most of one caller.`, {
    hint: 'Wait until one has ended, or cancel one.',
    details: { retryAfterSeconds: 5 },
  })
}

/** The store's refusal as an error for the caller. */
export function refusalError(reason: string, conversation: string): WitanError {
  if (reason === 'reply-taken')
    return new WitanError(
      'IN_PROGRESS',
      'Another request has taken this idempotency key; nothing was stored for this one.',
      {
        hint: 'Send it again for the reply of the other.',
      },
    )
  if (reason === 'moved')
    return new WitanError('REVISION_MISMATCH', `Conversation \`${conversation}\` has moved on.`, {
      path: 'ifLastSeq',
      hint: 'Read it again and repeat.',
    })
  if (reason === 'contentless')
    return new WitanError('CONVERSATION_BUSY', 'The content of a file was removed meanwhile; nothing was stored.', {
      hint: 'Send the message again.',
    })
  if (reason === 'missing') return notFound('conversation', conversation)
  if (reason === 'inactive')
    return new WitanError('RUN_FINISHED', 'The run has ended.', { hint: 'Send a prompt to start a new run.' })
  return new WitanError('CONVERSATION_BUSY', `Conversation \`${conversation}\` is being written elsewhere.`, {
    hint: 'Try again.',
  })
}

/** The current revision of the root agent. Throws `NOT_FOUND`, `AGENT_DISABLED`. */
export function pinRoot(context: CommandContext, row: Pick<ConversationRow, 'database' | 'agent'>): PinnedAgent {
  const pinned = context.env.pin(row.database, row.agent)
  if (pinned === null) throw notFound('agent', row.agent, { path: 'agent' })
  if (pinned.data.disabled)
    throw new WitanError('AGENT_DISABLED', `Agent \`${row.agent}\` is disabled.`, {
      path: 'agent',
      hint: 'Save it with `disabled: false` to use it.',
    })
  return pinned
}

function newRun(
  context: CommandContext,
  log: ConversationLog,
  about: { pinned: PinnedAgent; message: Message },
): Writable<Append> {
  const { env } = context
  const { state } = log
  const { text, files, ifLastSeq, by, author, note, toolMode = null, mostLive } = about.message
  const principal = workingFor(by, author)
  const waiting = unreportedMessage(state)
  const said = messageBody(env, about.message)
  const messages = waiting === null ? [said] : [waiting, said]
  const begin = { pinned: about.pinned, message: text, hidden: false, originRunId: null, messages, principal, toolMode }
  const { entries, place } = runEntries({ env, state }, begin)
  const at = env.clock.now()
  const fresh = { hidden: false, originRunId: null, ...shownCaller(principal) }
  const { owner, leaseMs } = env
  const create = { kind: 'create', id: place.call, job: 'run', owner, leaseMs, at, about: fresh } as const
  // Each task is reported once, so no other writer may have reported it meanwhile.
  const last = ifLastSeq ?? (waiting === null ? null : log.sync.expectedSeq)
  const notices = (about.message.notices ?? []).map((body) =>
    makeEntry(
      { type: 'notice', kind: null, body },
      { place, job: place.call, epoch: 0, appendNo: env.ids.append(), at },
    ),
  )
  const append: Writable<Append> = {
    database: state.database,
    conversation: state.id,
    entries: notices.length === 0 ? entries : [...entries, ...notices],
    jobs: [create],
    messageAt: at,
  }
  if (files !== undefined) append.contents = files
  if (last !== null) append.ifLastSeq = last
  if (note !== undefined) append.note = { ...note, text: place.call }
  if (mostLive !== undefined) append.runLimit = { createdBy: principal.id, most: mostLive }
  return append
}

/** The entry of a person's message for the live run. */
export function messageEntry(
  env: Environment,
  message: Words,
  at: { place: CallPlace; at: number; job: string },
): Entry {
  const body = messageBody(env, message)
  const place = { ...at.place, author: body.author }
  return makeEntry({ type: 'message', kind: null, body }, { ...at, place, epoch: 0, appendNo: env.ids.append() })
}

function messageBody(env: Environment, words: Words): MessageBody {
  const { text, artificialActions, files, author, by, traceparent, messageId } = words
  const body: Writable<MessageBody> =
    author === undefined ? { author: authorOf(by), text } : { author, authorKind: 'user', text }
  if (artificialActions.length > 0)
    body.artificialActions = artificialActions.map(({ name, response }) => ({
      id: env.ids.call(),
      name,
      arguments: '{}',
      response: response ?? null,
    }))
  if (files !== undefined) body.files = files
  if (messageId !== undefined) body.messageId = messageId
  const from = env.traceparent === null ? null : readTraceparent(traceparent ?? '')
  if (from !== null) body.traceparent = traceparentOf(from)
  return body
}
