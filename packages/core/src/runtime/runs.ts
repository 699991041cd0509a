/** Runs: accepts a message or responses, reports the run that they started or resumed, and follows active runs. */
import { type RunRequest, type RunResult, WitanError } from '@witan/protocol'
import type { ToolMode } from '@witan/protocol/entries'
import { runRequestSchema } from '@witan/protocol/schemas'
import { idOfNamed } from '../agent/registry.ts'
import { decidedAgain } from '../conversation/went-back.ts'
import { type Accepted, acceptNext, type Message } from '../command/accept.ts'
import { answerAll } from '../command/answer-interruption.ts'
import { cancelJob } from '../command/cancel.ts'
import { joinRun } from '../command/join.ts'
import { notFound } from '../identity/not-found.ts'
import type { Deed } from '../identity/rights.ts'
import type { Answer } from '../tool/tool.ts'
import { isAdmitted, reached, refuseUnreached, refuseWhoLeft } from './reach.ts'
import { parseBody, refuseMixedInput } from './body.ts'
import type { AcceptedRun, NoteOption } from './contract.ts'
import { authorOf } from './author.ts'
import type { StoredResult } from '../task/tracker.ts'
import { shownResult } from './interruptions.ts'
import { filesIn, type SentFile, storeFiles, textOf } from './prompt.ts'
import type { Scope } from './scope.ts'

/** Accepts a message or responses. Throws if the body, the conversation or the live run refuses them. */
export async function run(
  scope: Scope,
  id: string,
  { body, ...noting }: NoteOption & { readonly body: unknown },
): Promise<AcceptedRun> {
  const request = parseBody(runRequestSchema, body)
  const answers = [
    ...request.actionResponses.map(({ id: action, response }) => ({
      id: action,
      answer: { value: response } as Answer,
      kind: 'action' as const,
    })),
    ...request.answers.map((one) => ({ id: one.id, answer: { value: one.answer } as Answer })),
  ]
  refuseMixedInput(request)
  await scope.parts.registry.ensure(scope.database)
  await refuseUnreached(scope, id, deedOf(request))
  if (request.prompt !== undefined) {
    const { author, ...rest } = request
    const self = { ...(await authorOf(scope, id, author)), by: scope.principal }
    return say(scope, id, { ...rest, ...self, ...noting, ...filesIn(request.prompt), text: textOf(request.prompt) })
  }
  const log = await scope.parts.warm.latest(scope.database, id)
  return presented(
    scope,
    await answerAll(scope.parts, log, { answers, by: scope.principal, ifLastSeq: request.ifLastSeq, ...noting }),
  )
}

/**
 * What a request does to its conversation. Who only speaks there cancels nothing, and makes no agent seem to have called anything.
 * Each response is checked on its own.
 */
function deedOf(request: RunRequest): Deed {
  const { prompt, onActive, onDisconnect, cancelPendingActions, artificialActions } = request
  if (onDisconnect === 'cancel') return 'own'
  if (prompt === undefined) return 'read'
  return onActive === 'interrupt' || cancelPendingActions || artificialActions.length > 0 ? 'own' : 'speak'
}

/** The run with that id, active or not. Throws `NOT_FOUND`. */
export async function followRun(scope: Scope, id: string): Promise<AcceptedRun> {
  const { parts, database } = scope
  const job = await parts.store.getJob(database, id)
  if (job === null || (await reached(scope, job.conversation, 'read')) === null) throw notFound('run', id)
  const rests = job.endedAt !== null || (job.status === 'waiting' && !job.wake)
  const result = rests ? Promise.resolve(job.result as StoredResult) : parts.tracker.next(job)
  return presented(scope, { runId: id, conversationId: job.conversation, fromSeq: job.firstSeq - 1, result })
}

/** The run of a conversation that has not ended; null if there is none. */
export async function liveRun(scope: Scope, id: string): Promise<AcceptedRun | null> {
  const { parts, database } = scope
  await refuseUnreached(scope, id, 'read')
  const { seq } = (await parts.warm.get(database, id)).state
  const live = await parts.store.listJobs(database, id, { live: true })
  const job = live.find(({ kind }) => kind === 'run')
  if (job === undefined) return null
  const running = job.status === 'running'
  const result = running ? parts.tracker.next(job) : Promise.resolve(job.result as StoredResult)
  return presented(scope, { runId: job.id, conversationId: id, fromSeq: seq, result })
}

/** A run as its caller sees it. Whoever has left the conversation by its end does not get its result. */
export function presented(scope: Scope, accepted: Accepted): AcceptedRun {
  const result = presentedResult(scope, accepted)
  result.catch(() => {})
  const { runId, conversationId, fromSeq } = accepted
  return { runId, conversationId, fromSeq, result }
}

async function presentedResult(scope: Scope, accepted: Accepted): Promise<RunResult> {
  const stored = await accepted.result
  await refuseWhoLeft(scope, accepted)
  return shownResult(scope, stored)
}

interface Saying extends Message {
  readonly cancelPendingActions: boolean
  readonly onActive: 'enqueue' | 'reject' | 'interrupt'
  readonly toolMode: ToolMode | null
  /** Files that are not stored yet. */
  readonly sent?: readonly SentFile[]
}

/** A message without options. */
export const sayDefaults = {
  artificialActions: [],
  ifLastSeq: null,
  cancelPendingActions: false,
  onActive: 'enqueue',
  toolMode: null,
} as const

/** Sends a message to a conversation: starts a run, or acts on the live run according to `onActive` [D12]. */
export function say(scope: Scope, id: string, saying: Saying): Promise<AcceptedRun> {
  return decidedAgain(() => sayOnce(scope, id, saying))
}

async function sayOnce(scope: Scope, id: string, { sent, ...given }: Saying): Promise<AcceptedRun> {
  const { parts, database } = scope
  const log = await parts.warm.get(database, id)
  const { rootAgent } = log.state
  await idOfNamed(parts.registry, database, rootAgent)
  if (!isAdmitted(scope, rootAgent)) throw notFound('agent', rootAgent, { path: 'agent' })
  const message = sent === undefined ? given : { ...given, files: await storeFiles(scope, rootAgent, sent) }
  const next = await acceptNext(parts, log, message)
  if ('runId' in next) return presented(scope, next)
  if (message.onActive === 'reject') {
    throw new WitanError('RUN_ACTIVE', `Run \`${next.id}\` is active.`, {
      path: 'onActive',
      hint: 'Send `onActive: "enqueue"` or `"interrupt"`, or wait until it ends.',
    })
  }
  if (message.onActive === 'interrupt') {
    const { ifLastSeq } = message
    // The precondition held when the cancel was stored. The entries of the run’s end do not break it.
    if (await interrupt(scope, next.id, { ifLastSeq })) return say(scope, id, { ...message, ifLastSeq: null })
  } else {
    const joined = await joinRun(parts, log, message)
    if (joined !== null) return presented(scope, joined)
  }
  return say(scope, id, message)
}

/** Cancels a run and waits for its end; false if it had already ended. */
export async function interrupt(
  { parts, principal, database }: Scope,
  id: string,
  { tasks = false, ifLastSeq = null }: { readonly tasks?: boolean; readonly ifLastSeq?: number | null } = {},
): Promise<boolean> {
  try {
    const cancelling = { id, kind: 'run', by: principal.id, tasks, ifLastSeq } as const
    const cancelled = await cancelJob(parts, database, cancelling)
    await cancelled.result
    return true
  } catch (error) {
    ignoreEnded(error)
    return false
  }
}

/** Ignores the error of a cancel that came after the end. */
export function ignoreEnded(error: unknown): void {
  if ((error as WitanError).code !== 'RUN_FINISHED' && (error as WitanError).code !== 'TASK_FINISHED') throw error
}
