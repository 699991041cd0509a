/** A request to another server that failed or brought nothing: what is sent or read again, after how long, and when the server is given up. */
import { isWitanError } from '@witan/protocol'
import { failed } from '../tool/outcome.ts'
import { withStates } from './remote-asks.ts'
import { conditionsIn } from './remote-conditions.ts'
import { abandon, type OpenCall, save } from './remote-open-call.ts'
import { outcomeUnknown, remoteFailed, unreachable } from './remote-outcome.ts'
import { lastMessage, type Next, read, type Request, sendWords } from './remote-requests.ts'
import { RefusedError, UnreachableError } from './transport.ts'

/** Times of waiting between two requests of a task that goes on, in ms; the last one again and again. */
const pauses = [500, 1_000, 2_000, 4_000, 8_000, 10_000] as const
/** A server that says nothing for so long is given up. */
const silenceMs = 600_000
/** How often a message is sent that cannot have arrived. */
const mostTries = 3

/** Answers that say that the same request may be taken later. */
const busy: ReadonlySet<number> = new Set([429, 502, 503])

/** Whether the other server may take the same request later. */
export function isBusy(error: unknown): boolean {
  return error instanceof RefusedError && busy.has(error.code)
}

/** A request failed. A message that may have arrived is sent again only to a server that takes it once. */
export async function afterFailure(call: OpenCall, request: Request, error: Error): Promise<Next> {
  const { task, note, endpoint, remote } = call
  const isLost = error instanceof UnreachableError
  if (!isLost && !isBusy(error)) {
    if (request.method === 'subscribe') return pause(call)
    return isWitanError(error) ? failed(error.code, error.message) : remoteFailed(remote, error.message)
  }
  const isBegun = note.task !== null && (note.sent.what === 'task' || note.sent.what === 'anew')
  if (!request.isMessage || isBegun) return pause(call)
  const mayHaveArrived = isLost && error.mayHaveArrived
  if (mayHaveArrived && !endpoint.isIdempotent)
    return note.task === null && task.id === null ? outcomeUnknown(remote) : pause(call)
  call.failures += 1
  if (call.failures >= mostTries)
    return mayHaveArrived && note.task !== null ? pause(call) : unreachable(remote, error.message)
  await wait(call, pauses[call.failures - 1] ?? pauses[0])
  return lastMessage(call)
}

/** Sends answers once more, under the same number, and conditions by the state that they have now. */
export async function resend(call: OpenCall): Promise<Next> {
  const { note, task, remote, services } = call
  call.resent += 1
  if (call.resent <= mostTries) {
    const now = conditionsIn(task, { remote, passesIssuers: services.passesIssuers(remote) })
    const asked = withStates(note.asked, now.asked)
    if (asked.some(({ id }, index) => id !== note.asked[index]?.id)) await save(call, { asked })
    return lastMessage(call)
  }
  abandon(call)
  return unreachable(remote, 'it does not take the answer')
}

/** Reads the task again after a while. A server that was silent for long is given up. */
export async function pause(call: OpenCall): Promise<Next> {
  const { services, quiet, note, remote } = call
  if (note.task === null) return outcomeUnknown(remote)
  if (services.clock.now() - call.heardAt > silenceMs) return unreachable(remote, 'it was silent for 10 minutes')
  await wait(call, pauses[Math.min(quiet, pauses.length - 1)] ?? pauses[0])
  call.quiet += 1
  return call.of.body.words().length > note.words ? sendWords(call) : read(call)
}

/** Waits, unless words come first. Rejects if the call is aborted. */
async function wait({ services, of }: OpenCall, ms: number): Promise<void> {
  const { signal } = of.context
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = services.clock.after(ms, resolve)
  const leave = of.body.onWords(resolve)
  const aborted = () => resolve()
  signal.addEventListener('abort', aborted)
  await promise
  signal.removeEventListener('abort', aborted)
  cancel()
  leave()
  signal.throwIfAborted()
}
