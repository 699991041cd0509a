/** One effect for one `Idempotency-Key`, however often its request is sent. */
import { createHash } from 'node:crypto'
import type { Principal } from '@witan/core'
import type { IdempotencyScope, RememberedReplies } from '@witan/core/tooling'
import { errorTable, isWitanError } from '@witan/protocol'
import type { Log } from './log.ts'
import type { Body } from './paced.ts'
import { badRequest, type Keyed, type Reply } from './route.ts'

/** A reply as it is sent: JSON text, or a stream. */
export type SentReply = SentText | Extract<Reply, { readonly frames: unknown }>

export interface SentText {
  readonly status: number
  readonly text: string | null
  /** Remembered in place of the text. */
  readonly remembered?: string
  /** Sent in place of the text. */
  readonly bytes?: Body
  readonly headers: Readonly<Record<string, string>>
}

/** The request that a key belongs to. `path` is the concrete one, its parameters decoded. */
interface KeyedRequest {
  readonly principal: Principal
  readonly method: string
  readonly path: string
  readonly body: Uint8Array
  /** The key that the body brings. */
  readonly bodyKey: Pick<IdempotencyScope, 'key' | 'name'> | undefined
  readonly requestId: string
}

/** The store of remembered replies, and the function that answers a failure. */
interface Idempotency {
  readonly replies: RememberedReplies
  readonly log: Log
  readonly failure: (error: unknown) => SentText
}

const MAX_KEY_LENGTH = 255

/** The scope of the request's key: of the body's own, else of the header's; null without either. */
export function keyScope(headers: Headers, request: KeyedRequest): IdempotencyScope | null {
  const { principal, method, path, bodyKey } = request
  const digest = createHash('sha256').update(request.body).digest('base64url')
  if (bodyKey !== undefined) return { principal, method, path, digest, ...bodyKey }
  const key = headers.get('idempotency-key')
  if (key === null) return null
  if (key === '' || key.length > MAX_KEY_LENGTH) {
    const detail = `\`Idempotency-Key\` has ${key.length} characters; 1 to ${MAX_KEY_LENGTH} are allowed.`
    throw badRequest(detail, { path: 'Idempotency-Key', hint: 'Use a UUID.' })
  }
  return { principal, method, path, digest, key, name: 'Idempotency-Key' }
}

/**
 * Acts once per scope; a repeat gets the remembered status and body with `Idempotency-Replayed: true`. A refusal is forgotten,
 * since nothing was stored; an unexpected failure is remembered, since something may have been. A stream is remembered as its outcome.
 * If a process died before its reply, a repeat follows the run that the first request started, or gives the conversation that it made. If another request has taken the key
 * meanwhile, this one starts nothing, fails with `IN_PROGRESS`, and keeps the other's reply.
 */
export async function actOnce(
  scope: IdempotencyScope,
  act: (keyed: Keyed) => Promise<SentReply>,
  { replies, log, failure }: Idempotency,
): Promise<SentReply> {
  const begun = await replies.begin(scope)
  if (begun.state === 'done') {
    const text = begun.body === '' ? null : begun.body
    return { status: begun.status, text, headers: { 'idempotency-replayed': 'true' } }
  }
  const { reservation } = begun
  const finish = (reply: { readonly status: number; readonly body: string }): Promise<void> =>
    replies
      .finish(scope, reservation, reply)
      .catch((error: unknown) => log('error', 'a reply could not be remembered', { error }))
  try {
    const reply = await act(keyedBy(begun))
    if ('frames' in reply) {
      reply.outcome?.().then(({ status, body }) => finish({ status, body: JSON.stringify(body) }), ignore)
    } else await finish({ status: reply.status, body: reply.remembered ?? reply.text ?? '' })
    return reply
  } catch (error) {
    if (wasRefused(error)) {
      // The first request made the run or the conversation that its note names: it stays, even if this repeat was refused.
      if (begun.state !== 'fresh') throw error
      if (!mayStillHappen(error)) await replies.abandon(scope, reservation)
      throw error
    }
    const reply = failure(error)
    await finish({ status: reply.status, body: reply.text ?? '' })
    return reply
  }
}

/** What a request does: all of it, or no more than to reply with what the first one has stored. */
function keyedBy(begun: Exclude<Awaited<ReturnType<RememberedReplies['begin']>>, { readonly state: 'done' }>): Keyed {
  if (begun.state === 'noted') return { noted: begun.runId }
  return begun.state === 'made' ? { made: begun.conversationId } : { note: begun.reservation }
}

/** True if the error came before anything was stored, or if the same request may be retried. */
function wasRefused(error: unknown): boolean {
  if (!isWitanError(error)) return false
  const { status, retryable } = errorTable[error.code]
  return status < 500 || retryable === true
}

/**
 * True if the store was lost during the request: for a while a repeat must not do the work again. A request that started a run is
 * or made a conversation is safe in any case. Of a message to a task the key does not record whether it was stored, and without the store the
 * key cannot be deleted.
 */
function mayStillHappen(error: unknown): boolean {
  return isWitanError(error) && error.details['outcome'] === 'unknown'
}

/** The next start resumes a run whose process crashed; the key has its id, so a repeat follows it. */
function ignore(): void {}
