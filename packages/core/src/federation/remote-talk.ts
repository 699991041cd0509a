/** One call of an agent on another server: one request after the other, until its outcome is known. */
import type { RemoteCall } from '../tool/remote.ts'
import { droppedNotice } from './remote-answer.ts'
import { type Ended, exchange } from './remote-exchange.ts'
import { nextAnswer } from './remote-message.ts'
import { count, giveUp, openCall, type OpenCall, type RemoteOutcome } from './remote-open-call.ts'
import { outcomeUnknown } from './remote-outcome.ts'
import { lastMessage, type Next, read, type Request, send, sendWords } from './remote-requests.ts'
import { afterFailure, pause, resend } from './remote-retries.ts'
import type { RemoteServices } from './remote-services.ts'
import { answerAll, settle } from './remote-settled.ts'
import { hasEnded, isAsking } from './remote-task.ts'
import { TooMuchError } from './too-much.ts'
import type { RemoteEndpoint } from './transport.ts'

/** What becomes of a call. Rejects only if it is aborted, or if something breaks here. */
export async function talk(services: RemoteServices, of: RemoteCall, endpoint: RemoteEndpoint): Promise<RemoteOutcome> {
  const call = openCall(services, of, endpoint)
  const outcome = await outcomeOf(call)
  if (outcome.kind === 'pending') return outcome
  if (outcome.failure !== null) await count(call, true)
  const notice = droppedNotice(call.remote, call.task.dropped)
  return notice === null ? outcome : { ...outcome, notices: [notice] }
}

async function outcomeOf(call: OpenCall): Promise<RemoteOutcome> {
  try {
    let next = await first(call)
    while ('method' in next) {
      const ended = await exchange(call, next)
      call.of.context.signal.throwIfAborted()
      next = await after(call, next, ended)
    }
    return next
  } catch (error) {
    if (error instanceof TooMuchError) return giveUp(call, error.message)
    throw error
  }
}

/** The first thing to do in this process. */
async function first(call: OpenCall): Promise<Next> {
  const { note, of, endpoint, remote } = call
  if (note.n === 0) return send(call, { what: 'task' })
  if (note.answered > 0 && note.task === null && note.words === 0) return sendWords(call)
  if (note.asked.length > 0 && of.context.answers.length > note.answers) return answerAll(call)
  if (note.task !== null) return read(call)
  return endpoint.isIdempotent ? lastMessage(call) : outcomeUnknown(remote)
}

/** What follows from how a request ended. */
async function after(call: OpenCall, request: Request, ended: Ended): Promise<Next> {
  if (ended instanceof Error) return afterFailure(call, request, ended)
  const { task, note, remote } = call
  // What was answered is still asked: the answer did not get there.
  const isAskedStill = request.method === 'get' && isAsking(task) && ended === 'over' && note.sent.what === 'answers'
  if (isAskedStill && !call.isSure) return resend(call)
  if (request.isMessage) call.isSure = true
  // What is answered and was asked by a task that has ended waits until a task asks for it.
  const next = note.isOver || hasEnded(task) ? null : nextAnswer(note)
  if (next !== null) return send(call, next)
  if (ended === 'settled') return settle(call)
  if (ended === 'words') return sendWords(call)
  if (request.isMessage && note.task === null) return outcomeUnknown(remote)
  return isAskedStill ? resend(call) : pause(call)
}
