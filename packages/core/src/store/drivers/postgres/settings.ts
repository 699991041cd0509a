/** Connection settings of a store: server, user and time-outs. */
import type { Histories } from './history.ts'
import type { Way } from './url.ts'

/** Time-outs in ms. */
export interface Timeouts {
  /** For a connection: a new one, or a free one of the pool. */
  readonly connectMs: number
  /** For the reply to one round trip. */
  readonly replyMs: number
  /** For a lock that another transaction holds. */
  readonly lockMs: number
  /** How long the server keeps a transaction whose process is silent. */
  readonly silentMs: number
}

/** All connection settings. */
export interface ConnectionSettings {
  readonly way: Way
  /** For what needs a session of its own, listening and migrating: the same, or the other address. */
  readonly listening: Way
  /** A pooler may give each transaction of `way` another session. Nothing is set on it for longer than a transaction. */
  readonly isShared: boolean
  readonly schema: string
  /** How many migrations this program knows. */
  readonly version: number
  /** The user may read the version of the schema only in one of the roles. */
  readonly entersByRole: boolean
  readonly roles: { readonly app: string; readonly worker: string }
  readonly poolSize: number
  readonly timeouts: Timeouts
  /** Called with the server's time at every transaction, and with the monotonic time when it was requested. */
  readonly observe: (serverNow: number, askedAt: number) => void
  /** Takes the origin of every transaction. */
  readonly histories: Histories
}
