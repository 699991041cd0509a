/** The messages of a call to another server. Each follows from the note of the call and its answers, so the same one can be made again. */
import type { RemoteCall } from '../tool/remote.ts'
import type { JsonRecord } from './record.ts'
import { answerTo } from './remote-asks.ts'
import type { AskedThere, RemoteNote, Sent } from './remote-note.ts'

/** A call as far as it is known. */
interface Known {
  readonly of: Pick<RemoteCall, 'callId' | 'message' | 'context' | 'body'>
  readonly note: RemoteNote
}

/** The parameters of the message with the present number. */
export function messageParams(known: Known): JsonRecord {
  const { n, task, context } = known.note
  const { parts, metadata } = contentOf(known)
  const place = { ...(task === null ? {} : { taskId: task }), ...(context === null ? {} : { contextId: context }) }
  const messageId = n === 1 ? known.of.callId : `${known.of.callId}.${n}`
  return {
    message: { messageId, role: 'ROLE_USER', parts, metadata, ...place },
    configuration: { returnImmediately: true },
  }
}

function contentOf({ of, note }: Known): { readonly parts: readonly JsonRecord[]; readonly metadata: JsonRecord } {
  const { sent, asked } = note
  if (sent.what === 'task') return { parts: [{ text: of.message }], metadata: {} }
  if (sent.what === 'words')
    return {
      parts: of.body
        .words()
        .slice(sent.from, sent.upTo)
        .map((text) => ({ text })),
      metadata: {},
    }
  const indexes = sent.what === 'anew' ? [sent.of] : sent.of
  const answers = indexes.flatMap((index) => answerTo(asked[index] as AskedThere, of.context.answers) ?? [])
  const [first] = answers
  const metadata = first?.metadata ?? {}
  return { parts: sent.what === 'anew' ? [{ text: of.message }] : answers.map(({ part }) => part), metadata }
}

/** The next message that answers what is asked: questions and actions together, each condition by one of its own. Null if all are sent. */
export function nextAnswer({ asked, task }: RemoteNote): Sent | null {
  const open = [...asked.entries()].filter(([, { answer, isSent }]) => answer !== null && !isSent)
  const plain = open.filter(([, { kind }]) => kind !== 'policy').map(([index]) => index)
  if (plain.length > 0) return { what: 'answers', of: plain }
  const [first] = open
  if (first === undefined) return null
  return task === null ? { what: 'anew', of: first[0] } : { what: 'answers', of: [first[0]] }
}

/** What is asked, once this message was sent. */
export function afterSending(asked: readonly AskedThere[], sent: Sent): readonly AskedThere[] {
  const indexes = sent.what === 'answers' ? sent.of : sent.what === 'anew' ? [sent.of] : []
  return asked.map((one, index) => (indexes.includes(index) ? { ...one, isSent: true } : one))
}
