/** The requests of a call to another server. A message is numbered, and stored before it goes out. */
import { afterSending, messageParams } from './remote-message.ts'
import type { RemoteNote, Sent } from './remote-note.ts'
import { waitForEvidence } from './remote-evidence.ts'
import { abandon, type OpenCall, type RemoteOutcome, save } from './remote-open-call.ts'
import type { A2aRequest } from './transport.ts'

/** A request, and whether it carries a message; else it only reads. */
export interface Request extends Pick<A2aRequest, 'method' | 'params'> {
  readonly isMessage: boolean
}

/** What a call does next: another request, or nothing, since its outcome is known. */
export type Next = Request | RemoteOutcome

/** Numbers a message, stores that it goes out, and makes its request; or asks for fresh evidence before. */
export async function send(call: OpenCall, sent: Sent, more: Partial<RemoteNote> = {}): Promise<Next> {
  const held = heldBack(call)
  if (held !== null) return held
  const asked = afterSending(more.asked ?? call.note.asked, sent)
  await save(call, { n: call.note.n + 1, sent, ...more, asked })
  return lastMessage(call)
}

/** Sends what has come for the call since the last message. */
export function sendWords(call: OpenCall): Promise<Next> {
  const [from, upTo] = [call.note.words, call.of.body.words().length]
  return send(call, { what: 'words', from, upTo }, { words: upTo })
}

/** The request of the message with the present number. */
export function lastMessage(call: OpenCall): Next {
  const held = heldBack(call)
  if (held !== null) return held
  return { method: call.endpoint.isStreaming ? 'stream' : 'send', params: messageParams(call), isMessage: true }
}

/** What takes the place of a message whose evidence has expired; null if it may go out. */
function heldBack(call: OpenCall): RemoteOutcome | null {
  const held = waitForEvidence(call.of, call.services.clock.now())
  if (held?.kind === 'result') abandon(call)
  return held
}

/** Reads the task. After a stream broke it is followed again first. */
export function read({ note, endpoint, quiet }: OpenCall): Request {
  const method = endpoint.isStreaming && quiet % 2 === 1 ? 'subscribe' : 'get'
  return { method, params: { id: note.task }, isMessage: false }
}
