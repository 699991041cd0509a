/** What a server remembers of requests with an idempotency key. */
import type { Principal } from '../identity/principal.ts'
import type { Reservation } from '../store/reply-records.ts'

/**
 * `fresh`: the key is reserved. Pass the reservation as the `note` of the run, then call `finish`. `done`: replay the
 * reply. `noted`: the first request died before its reply, but its run is stored and no longer at work. Follow that run,
 * then call `finish`. `made`: it has made a conversation in which nothing runs. Reply with that one, then call `finish`.
 */
type BegunReply =
  | { readonly state: 'fresh'; readonly reservation: Reservation }
  | { readonly state: 'noted'; readonly reservation: Reservation; readonly runId: string }
  | { readonly state: 'made'; readonly reservation: Reservation; readonly conversationId: string }
  | { readonly state: 'done'; readonly status: number; readonly body: string }

/** Replies remembered for 24 hours by (database, principal, method, path, key). */
export interface RememberedReplies {
  /** Reserves the key for a request, or returns what is known of it. Throws `IN_PROGRESS` or `IDEMPOTENCY_KEY_REUSED`. */
  begin(scope: IdempotencyScope): Promise<BegunReply>
  /** Does nothing if another request holds the key by now; the same applies to `abandon`. */
  finish(
    scope: IdempotencyScope,
    reservation: Reservation,
    reply: { readonly status: number; readonly body: string },
  ): Promise<void>
  /** Forgets a `fresh` key whose request failed before anything was stored. */
  abandon(scope: IdempotencyScope, reservation: Reservation): Promise<void>
}

/** What identifies a request; `digest` is a hash of the body. */
export interface IdempotencyScope {
  readonly principal: Principal
  readonly method: string
  readonly path: string
  readonly key: string
  /** Where the key was found: the header `Idempotency-Key`, or the field of a body. */
  readonly name: string
  readonly digest: string
  /** A repeat joins the run that the first request started while it is at work too, and need not wait until it rests. */
  readonly joins?: boolean
}
