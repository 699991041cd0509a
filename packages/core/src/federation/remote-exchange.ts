/** One request of a call to another server: its credential, and what comes back, frame by frame. */
import { type JsonRecord, textIn } from './record.ts'
import { budgetLeft } from './remote-budget.ts'
import { type OpenCall, save } from './remote-open-call.ts'
import type { Request } from './remote-requests.ts'
import { type RemoteServices, stopMs } from './remote-services.ts'
import { hasEnded, isAsking, takeFrame } from './remote-task.ts'
import { allowed } from './too-much.ts'
import { type A2aRequest, isRequestError, requestRemote } from './transport.ts'

/** How a request ended: all is known, there is more to say, the other side has closed it; or why it failed. */
export type Ended = 'settled' | 'words' | 'over' | Error

/** A stream that says nothing for so long is left, and the task is read. */
const idleMs = 120_000

/** Sends a request and takes what comes back, until all is known or there is more to say. */
export async function exchange(call: OpenCall, { method, params, isMessage }: Request): Promise<Ended> {
  const { of, endpoint, task } = call
  const over = new AbortController()
  const { signal } = over
  const hasWords = () => task.id !== null && of.body.words().length > call.note.words
  const leave = of.body.onWords(() => {
    if (hasWords()) over.abort('words')
  })
  const cancel = whenIdle(call, () => over.abort('idle'))
  const done = whenStopped(call, isMessage && task.id === null, () => over.abort('stopped'))
  try {
    const request = { method, ...(await signed(call, params)), signal }
    for await (const frame of requestRemote(fetchOf(call), endpoint, request)) {
      call.allowance.take(0, 1)
      await take(call, frame)
      if (isSettled(call)) return 'settled'
      if (hasWords()) return 'words'
    }
    return 'over'
  } catch (error) {
    of.context.signal.throwIfAborted()
    if (signal.aborted) return signal.reason === 'words' ? 'words' : 'over'
    if (isRequestError(error)) return error
    throw error
  } finally {
    leave()
    cancel()
    done()
  }
}

/**
 * Calls `then` once the call is aborted. A message may have begun a task by then, which must be stopped if its run has ended: its id is waited for.
 * Returns how to stop that.
 */
function whenStopped({ services, of, task }: OpenCall, maybeBegins: boolean, then: () => void): () => void {
  const { clock, begun } = services
  const { signal } = of.context
  const id = Promise.withResolvers<string | null>()
  let cancel = () => {}
  const stopped = () => {
    if (maybeBegins) cancel = clock.after(stopMs, then, { background: true })
    else then()
  }
  if (maybeBegins) begun.set(of.callId, id.promise)
  if (signal.aborted) then()
  signal.addEventListener('abort', stopped)
  return () => {
    signal.removeEventListener('abort', stopped)
    cancel()
    id.resolve(task.id)
    const forget = () => begun.delete(of.callId)
    if (signal.aborted) clock.after(stopMs, forget, { background: true })
    else forget()
  }
}

/** Sends requests; of what comes back as much is read as the call may cost. */
function fetchOf({ services, allowance }: OpenCall): RemoteServices['fetch'] {
  return async (url, request) => {
    const reply = await services.fetch(url, request)
    return { ...reply, body: allowed(reply.body, allowance) }
  }
}

/** Calls `then` once the other side has said nothing for long. */
function whenIdle(call: OpenCall, then: () => void): () => void {
  const { clock } = call.services
  let cancel = () => {}
  const look = () => {
    const left = call.heardAt + idleMs - clock.now()
    if (left <= 0) then()
    else cancel = clock.after(left, look, { background: true })
  }
  cancel = clock.after(idleMs, look, { background: true })
  return () => cancel()
}

/** The credential of a request, and what its message says of chain, evidence and budget. */
async function signed(call: OpenCall, params: JsonRecord): Promise<Omit<A2aRequest, 'signal' | 'method'>> {
  const { of, services, note } = call
  const { edge, from, context } = of
  const message = params['message'] as (JsonRecord & { readonly metadata: JsonRecord }) | undefined
  const messageId = textIn(message, 'messageId') ?? services.newId()
  const { database } = context.caller
  const isMessage = message !== undefined
  const about = { edge, from, database, caller: context.caller, messageId, isMessage, contextId: note.context }
  const { bearer, metadata, extensions } = await services.sign(about)
  if (message === undefined) return { params, bearer, extensions }
  const named = extensions.length > 0 ? { extensions } : {}
  const budget = Object.hasOwn(message, 'taskId') ? null : budgetLeft(call)
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
async function take(call: OpenCall, frame: JsonRecord): Promise<void> {
  const { task, services, of } = call
  call.heardAt = services.clock.now()
  call.failures = 0
  const shown = takeFrame(task, frame)
  of.context.signal.throwIfAborted()
  if (shown !== null) of.body.show(shown.text, shown.restart)
  const context = task.contextId ?? call.note.context
  if (task.id !== call.note.task || context !== call.note.context) await save(call, { task: task.id, context })
}

/** Whether there is something to do here. A question that was answered may be shown once more until the answer is taken. */
function isSettled({ task, note }: OpenCall): boolean {
  if (hasEnded(task)) return true
  return isAsking(task) && (task.saidAs === null || task.saidAs !== note.answeredAs)
}
