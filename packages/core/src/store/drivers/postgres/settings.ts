/** How a store connects: where, as whom, and how long it waits. */
import type { ServerAddress } from './url.ts'

/** How long anything may take, in ms. */
export interface Timeouts {
  /** For a connection: a new one, or a free one of the pool. */
  readonly connectMs: number
  /** For the reply to one round trip. */
  readonly replyMs: number
  /** For a lock that somebody else holds. */
  readonly lockMs: number
  /** How long the server keeps a transaction whose process fell silent. */
  readonly silentMs: number
}

/** Everything about how to connect. */
export interface ConnectionSettings {
  readonly url: string
  readonly address: ServerAddress
  readonly schema: string
  readonly roles: { readonly app: string; readonly worker: string }
  readonly poolSize: number
  readonly timeouts: Timeouts
  /** Told the server's clock with every transaction, and when the steady clock of this process asked for it. */
  readonly heard: (serverNow: number, askedAt: number) => void
}
