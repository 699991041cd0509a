/** One call of an agent on another server: its messages, what comes back, and what is done when nothing does. */
import { isDeepStrictEqual } from 'node:util'
import { isWitanError } from '@witan/protocol'
import { failed, pendingOn, type PendingOutcome, type ResultOutcome } from '../tool/outcome.ts'
import type { RemoteCall } from '../tool/remote.ts'
import { longestNote } from '../tool/tool.ts'
import { remoteOf } from '../agent/remote-agent.ts'
import { type JsonRecord, textIn } from './record.ts'
import { answerOf, droppedNotice, keepFiles } from './remote-answer.ts'
import { type Asks, questionsIn, refusalIn, withAnswers, withKept } from './remote-asks.ts'
import { budgetLeft, costOf } from './remote-budget.ts'
import { conditionsIn } from './remote-conditions.ts'
import { afterSending, messageParams, nextAnswer } from './remote-message.ts'
import { freshNote, readNote, type RemoteNote, type Sent } from './remote-note.ts'
import { outcomeUnknown, remoteFailed, unreachable } from './remote-outcome.ts'
import type { RemoteServices } from './remote-services.ts'
import { emptyTask, hasEnded, isAsking, partsOf, type RemoteTask, takeFrame, textOf } from './remote-task.ts'
import {
  type A2aRequest,
  isRequestError,
  RefusedError,
  type RemoteEndpoint,
  requestRemote,
  UnreachableError,
} from './transport.ts'
import { allowed, createAllowance, TooMuchError } from './too-much.ts'

type Outcome = ResultOutcome | PendingOutcome

/** A request, and whether it carries a message; else it only reads. */
interface Request extends Pick<A2aRequest, 'method' | 'params'> {
  readonly isMessage: boolean
}

/** How a request ended: all is known, there is more to say, the other side has closed it; or why it failed. */
type Ended = 'settled' | 'words' | 'over' | Error

/** One call in this process. */
interface Talk {
  readonly services: RemoteServices
  readonly of: RemoteCall
  readonly endpoint: RemoteEndpoint
  readonly remote: string
  task: RemoteTask
  note: RemoteNote
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

/** Times of waiting between two requests of a task that goes on, in ms; the last one again and again. */
const pauses = [500, 1_000, 2_000, 4_000, 8_000, 10_000] as const
/** A server that says nothing for so long is given up. */
const silenceMs = 600_000
/** A stream that says nothing for so long is left, and the task is read. */
const idleMs = 120_000
/** How often a message is sent that cannot have arrived. */
const mostTries = 3

/** What becomes of a call. Rejects only if it is aborted, or if something breaks here. */
export async function talk(services: RemoteServices, of: RemoteCall, endpoint: RemoteEndpoint): Promise<Outcome> {
  const one = begin(services, of, endpoint)
  const next = await outcomeIn(one)
  if (next.kind === 'pending') return next
  if (next.failure !== null) await count(one, true)
  const notice = droppedNotice(one.remote, one.task.dropped)
  return notice === null ? next : { ...next, notice }
}

async function outcomeIn(one: Talk): Promise<Outcome> {
  try {
    let next = await firstOf(one)
    while ('method' in next) {
      const ended = await perform(one, next)
      one.of.context.signal.throwIfAborted()
      next = await after(one, next, ended)
    }
    return next
  } catch (error) {
    if (error instanceof TooMuchError) return giveUp(one, error.message)
    throw error
  }
}

function begin(services: RemoteServices, of: RemoteCall, endpoint: RemoteEndpoint): Talk {
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

/** The first thing to do in this process. */
async function firstOf(one: Talk): Promise<Request | Outcome> {
  const { note, of, endpoint, remote } = one
  const { answers } = of.context
  if (note.n === 0) return send(one, { what: 'task' })
  if (note.answered > 0 && note.task === null && note.words === 0) return sendWords(one)
  if (note.asked.length > 0 && answers.length > note.answers) return answerAll(one)
  if (note.task !== null) return read(one)
  return endpoint.isIdempotent ? requestOf(one) : outcomeUnknown(remote)
}

/** Stores what the call must know. Throws a `TooMuchError` if the ids that the other server has given are too long for that. */
async function save(one: Talk, more: Partial<RemoteNote>): Promise<void> {
  const note = { ...one.note, ...more, dropped: [...one.task.dropped] }
  if (JSON.stringify(note).length > longestNote) throw new TooMuchError('its ids are too long to be kept')
  one.note = note
  await one.of.context.saveNote(one.note)
}

/** Records what the tasks of the call have cost beside what the log knows, with the note that says so. What is unknown at the end stays so. */
async function count(one: Talk, isLast: boolean): Promise<boolean> {
  const { note, of } = one
  const { total, rest } = costOf(one)
  if (total === null && (!isLast || note.n === 0)) return false
  if (total !== null && isDeepStrictEqual(total, note.counted)) return true
  const counted = { ...note, counted: total ?? note.counted }
  one.note = JSON.stringify(counted).length > longestNote ? note : counted
  await of.body.saveSpent(one.note, rest)
  return total !== null
}

/** Numbers a message, stores that it goes out, and makes its request. */
async function send(one: Talk, sent: Sent, more: Partial<RemoteNote> = {}): Promise<Request> {
  const asked = afterSending(more.asked ?? one.note.asked, sent)
  await save(one, { n: one.note.n + 1, sent, ...more, asked })
  return requestOf(one)
}

/** The request of the message with the present number. */
function requestOf(one: Talk): Request {
  return { method: one.endpoint.isStreaming ? 'stream' : 'send', params: messageParams(one), isMessage: true }
}

/** Reads the task. After a stream broke it is followed again first. */
function read({ note, endpoint, quiet }: Talk): Request {
  const method = endpoint.isStreaming && quiet % 2 === 1 ? 'subscribe' : 'get'
  return { method, params: { id: note.task }, isMessage: false }
}

/** Everything that was asked is answered: tells the other server, or ends the call where a condition is not met. */
async function answerAll(one: Talk): Promise<Request | Outcome> {
  const { of, note } = one
  const { answers } = of.context
  const asked = withAnswers(note.asked, answers, note.answers)
  const refusal = refusalIn(asked, answers)
  if (refusal !== null) {
    abandon(one)
    return refusal
  }
  const answered = { asked, answers: answers.length, answeredAs: note.task === null ? null : note.askedAs }
  const next = nextAnswer({ ...note, asked })
  if (next === null) return note.task === null ? outcomeUnknown(one.remote) : read(one)
  return send(one, next, answered)
}

/** Sends a request and takes what comes back, until all is known or there is more to say. */
async function perform(one: Talk, { method, params }: Request): Promise<Ended> {
  const { of, endpoint, task } = one
  const over = new AbortController()
  const signal = AbortSignal.any([of.context.signal, over.signal])
  const hasWords = () => task.id !== null && of.body.words().length > one.note.words
  const leave = of.body.onWords(() => {
    if (hasWords()) over.abort('words')
  })
  const cancel = whenIdle(one, () => over.abort('idle'))
  try {
    const request = { method, ...(await signed(one, params)), signal }
    for await (const frame of requestRemote(fetchOf(one), endpoint, request)) {
      one.allowance.take(0, 1)
      await take(one, frame)
      if (isSettled(one)) return 'settled'
      if (hasWords()) return 'words'
    }
    return 'over'
  } catch (error) {
    if (over.signal.aborted) return over.signal.reason === 'words' ? 'words' : 'over'
    of.context.signal.throwIfAborted()
    if (isRequestError(error)) return error
    throw error
  } finally {
    leave()
    cancel()
  }
}

/** Sends requests; of what comes back as much is read as the call may cost. */
function fetchOf({ services, allowance }: Talk): RemoteServices['fetch'] {
  return async (url, request) => {
    const reply = await services.fetch(url, request)
    return { ...reply, body: allowed(reply.body, allowance) }
  }
}

/** Calls `then` once the other side has said nothing for long. */
function whenIdle(one: Talk, then: () => void): () => void {
  const { clock } = one.services
  let cancel = () => {}
  const look = () => {
    const left = one.heardAt + idleMs - clock.now()
    if (left <= 0) then()
    else cancel = clock.after(left, look, { background: true })
  }
  cancel = clock.after(idleMs, look, { background: true })
  return () => cancel()
}

/** The credential of a request, and what its message says of the chain. */
async function signed(one: Talk, params: JsonRecord): Promise<Omit<A2aRequest, 'signal' | 'method'>> {
  const { of, services, note } = one
  const { edge, from, context } = of
  const message = params['message'] as (JsonRecord & { readonly metadata: JsonRecord }) | undefined
  const messageId = textIn(message, 'messageId') ?? services.newId()
  const { database } = context.caller
  const isMessage = message !== undefined
  const about = { edge, from, database, caller: context.caller, messageId, isMessage, contextId: note.context }
  const { bearer, metadata, extensions } = await services.sign(about)
  if (message === undefined) return { params, bearer, extensions }
  const named = extensions.length > 0 ? { extensions } : {}
  const budget = Object.hasOwn(message, 'taskId') ? null : budgetLeft(one)
  const shared = budget === null ? metadata : merged(metadata, { witan: { budget } })
  const whole = { ...message, metadata: merged(shared, message.metadata), ...named }
  return { params: { ...params, message: whole }, bearer, extensions }
}

/** Metadata of two origins: what both have is merged one level down. */
function merged(one: JsonRecord, other: JsonRecord): JsonRecord {
  const all: Record<string, unknown> = { ...one }
  for (const [name, value] of Object.entries(other)) all[name] = { ...(one[name] as object), ...(value as object) }
  return all
}

/** Takes a frame: readers see what it adds, and the ids of task and context are stored as soon as they are known. */
async function take(one: Talk, frame: JsonRecord): Promise<void> {
  const { task, services, of } = one
  one.heardAt = services.clock.now()
  one.failures = 0
  const shown = takeFrame(task, frame)
  if (shown !== null) of.body.show(shown.text, shown.restart)
  const context = task.contextId ?? one.note.context
  if (task.id !== one.note.task || context !== one.note.context) await save(one, { task: task.id, context })
}

/** Whether there is something to do here. A question that was answered may be shown once more until the answer is taken. */
function isSettled({ task, note }: Talk): boolean {
  if (hasEnded(task)) return true
  return isAsking(task) && (task.saidAs === null || task.saidAs !== note.answeredAs)
}

/** What follows from how a request ended. */
async function after(one: Talk, request: Request, ended: Ended): Promise<Request | Outcome> {
  if (ended instanceof Error) return afterFailure(one, request, ended)
  const { task, note, remote } = one
  // What was answered is still asked: the answer did not get there.
  const isAskedStill = request.method === 'get' && isAsking(task) && ended === 'over' && note.sent.what === 'answers'
  if (isAskedStill && !one.isSure) return resend(one)
  if (request.isMessage) one.isSure = true
  // What is answered and was asked by a task that has ended waits until a task asks for it.
  const next = note.isOver || hasEnded(task) ? null : nextAnswer(note)
  if (next !== null) return send(one, next)
  if (ended === 'settled') return settle(one)
  if (ended === 'words') return sendWords(one)
  if (request.isMessage && note.task === null) return outcomeUnknown(remote)
  return isAskedStill ? resend(one) : pause(one)
}

function sendWords(one: Talk): Promise<Request> {
  const [from, upTo] = [one.note.words, one.of.body.words().length]
  return send(one, { what: 'words', from, upTo }, { words: upTo })
}

/** Sends answers once more, under the same number. */
async function resend(one: Talk): Promise<Request | Outcome> {
  one.resent += 1
  if (one.resent <= mostTries) return requestOf(one)
  abandon(one)
  return unreachable(one.remote, 'it does not take the answer')
}

/** A request failed. A message that may have arrived is sent again only to a server that takes it once. */
async function afterFailure(one: Talk, request: Request, error: Error): Promise<Request | Outcome> {
  const { task, note, endpoint, remote } = one
  const isBusy = error instanceof RefusedError && busy.has(error.code)
  const isLost = error instanceof UnreachableError
  if (!isBusy && !isLost) {
    if (request.method === 'subscribe') return pause(one)
    return isWitanError(error) ? failed(error.code, error.message) : remoteFailed(remote, error.message)
  }
  const isBegun = note.task !== null && (note.sent.what === 'task' || note.sent.what === 'anew')
  if (!request.isMessage || isBegun) return pause(one)
  const mayHaveArrived = isLost && error.mayHaveArrived
  if (mayHaveArrived && !endpoint.isIdempotent)
    return note.task === null && task.id === null ? outcomeUnknown(remote) : pause(one)
  one.failures += 1
  if (one.failures >= mostTries)
    return mayHaveArrived && note.task !== null ? pause(one) : unreachable(remote, error.message)
  await wait(one, pauses[one.failures - 1] ?? pauses[0])
  return requestOf(one)
}

/** Answers that say that the same request may be taken later. */
const busy: ReadonlySet<number> = new Set([429, 502, 503])

/** Reads the task again after a while. A server that was silent for long is given up. */
async function pause(one: Talk): Promise<Request | Outcome> {
  const { services, quiet, note, remote } = one
  if (note.task === null) return outcomeUnknown(remote)
  if (services.clock.now() - one.heardAt > silenceMs) return unreachable(remote, 'it was silent for 10 minutes')
  await wait(one, pauses[Math.min(quiet, pauses.length - 1)] ?? pauses[0])
  one.quiet += 1
  return one.of.body.words().length > note.words ? sendWords(one) : read(one)
}

/** Waits, unless words come first. Rejects if the call is aborted. */
async function wait({ services, of }: Talk, ms: number): Promise<void> {
  const { signal } = of.context
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = services.clock.after(ms, resolve)
  const leave = of.body.onWords(resolve)
  signal.addEventListener('abort', () => resolve(), { once: true })
  await promise
  cancel()
  leave()
  signal.throwIfAborted()
}

/** What follows from a task that has ended or asks. */
async function settle(one: Talk): Promise<Request | Outcome> {
  const { task, remote, of, services, note } = one
  const conditions = conditionsIn(task, { remote, passesIssuers: services.passesIssuers(remote) })
  if (conditions.drafts.length > 0) return ask(one, conditions)
  if (isAsking(task)) return ask(one, questionsIn(task.said))
  if (!task.isMessage && task.state !== 'TASK_STATE_COMPLETED') return remoteFailed(remote, textOf(task.said))
  await keepFiles(partsOf(task), of.context.artifacts, task.dropped)
  return answerOf(task, { taken: note.words, isCounted: await count(one, false) })
}

/** Asks here what is asked there. A condition that was met already, when the task before set it, is answered at once. */
async function ask(one: Talk, asks: Asks): Promise<Request | Outcome> {
  const { note, task, of } = one
  const { caller, answers } = of.context
  if (note.rounds >= caller.agent.limits.maxIterations) return giveUp(one, `it has asked ${note.rounds} times`)
  const asked = withKept(asks.asked, note.asked)
  const more = { asked, askedAs: task.saidAs, answers: answers.length, rounds: note.rounds + 1 }
  const isOver = hasEnded(task)
  await count(one, false)
  // After the end of a task its message is sent anew.
  if (isOver) {
    await save(one, { ...more, isOver, task: null, ended: one.note.counted })
    one.task = emptyTask(null, [...task.dropped])
  } else await save(one, { ...more, isOver })
  const open = asks.drafts.filter((_, index) => asked[index]?.answer === null)
  if (open.length > 0) return pendingOn(...open)
  const next = nextAnswer(one.note)
  return next === null ? read(one) : send(one, next, { answeredAs: isOver ? null : task.saidAs })
}

/** Fails the call, and tells the other server to stop. */
function giveUp(one: Talk, words: string): Outcome {
  abandon(one)
  return remoteFailed(one.remote, words)
}

function abandon({ services, of, note, task }: Talk): void {
  const known = note.task ?? (hasEnded(task) ? null : task.id)
  const { database } = of.context.caller
  services.abandon({ database, edge: of.edge, from: of.from, note: { ...note, task: known } })
}
