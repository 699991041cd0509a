/** What calls of agents on other servers need of this one. */
import type { ErrorCode } from '@witan/protocol'
import type { NoticeBody, RemoteAgent } from '@witan/protocol/entries'
import type { Clock } from '../identity/clock.ts'
import type { AbandonedCall, RemoteLink } from '../tool/remote.ts'
import type { Caller } from '../tool/tool.ts'
import type { RemoteEndpoint, RemoteFetch } from './transport.ts'

/** Where an agent answers, as its card says, or why it cannot be called. */
type FoundRemote =
  | {
      readonly ok: true
      readonly endpoint: RemoteEndpoint
      /** What a person reads of its card; null for nothing. */
      readonly notice: NoticeBody | null
    }
  | { readonly ok: false; readonly code: ErrorCode; readonly detail: string }

/** The message that a credential is for. */
interface SignedMessage extends RemoteLink {
  readonly database: string
  /** The call of the agent elsewhere; null for a request that only stops a task. */
  readonly caller: Caller | null
  readonly messageId: string
  /** False for a request that only reads or stops a task: it says nothing of for whom it is made. */
  readonly isMessage: boolean
  readonly contextId: string | null
}

/** How a message is sent. */
interface Credentials {
  /** Null for none. */
  readonly bearer: string | null
  /** What the message says of the chain that it belongs to. */
  readonly metadata: Readonly<Record<string, unknown>>
  readonly extensions: readonly string[]
}

/** For so long the other server is asked to stop a task, and the id of one that a message may have begun is waited for. */
export const stopMs = 5_000

/** What calls of other servers need. */
export interface RemoteServices {
  find(edge: RemoteAgent, database: string, signal: AbortSignal): Promise<FoundRemote>
  sign(message: SignedMessage): Promise<Credentials>
  /** Whether a part of the budget goes to this agent, and what it says of its usage counts. */
  sharesBudget(remote: string): boolean
  /** Whether this agent is believed about who has set a condition that it passes on. */
  passesIssuers(remote: string): boolean
  /** Tells the other server to stop. Never throws. */
  abandon(of: AbandonedCall): void
  /** Set while a message is under way that may begin a task: the id of that, by call; null if none has come. */
  readonly begun: Map<string, Promise<string | null>>
  /** An id for a request that carries no message. */
  newId(): string
  readonly fetch: RemoteFetch
  readonly clock: Clock
}
