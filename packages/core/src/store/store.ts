/** The contract of a store: the log, and the small tables beside it that are looked up or claimed. */
import type { Interruption, InterruptionState } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import type { AgentRecords } from '../agent/records.ts'

/** A conversation's own row; `parameters` and `options` are JSON values the runtime made. */
export interface ConversationRow {
  readonly database: string
  readonly id: string
  readonly agent: string
  readonly createdBy: string
  readonly createdAt: number
  readonly lastMessageAt: number
  readonly lastSeq: number
  /** What the caller gave: `{ name: [value, hidden] }`; the third, where it was hidden later on, is the last seq before that [E19]. */
  readonly parameters: Readonly<Record<string, readonly [value: unknown, hidden: boolean, after?: number]>>
  readonly maxModelIterationsPerCall: number | null
  /** When its time is over, by the store's clock; null for never [Rb35]. */
  readonly expiresAt: number | null
}

/** Where a job is: `running` and `waiting` are live. */
export type JobStatus = 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled'

/** One root call: what a worker claims. The id is the root call's id and so the run's. */
export interface JobRow {
  readonly id: string
  readonly database: string
  readonly conversation: string
  readonly status: JobStatus
  readonly owner: string | null
  /** Rises with every claim; every append checks it [D5]. */
  readonly epoch: number
  readonly leaseUntil: number
  /** Something was appended to the conversation for this job by somebody else. */
  readonly wake: boolean
  readonly attempts: number
  readonly startedAt: number
  readonly endedAt: number | null
  readonly firstSeq: number
  /** The last result, as JSON; null while none was told. */
  readonly result: unknown
}

/** An interruption as stored. `view` is what readers get; the answer stands beside it. */
export interface InterruptionRow {
  readonly database: string
  readonly conversation: string
  readonly job: string
  /** The waiting tool call. */
  readonly call: string
  readonly view: Interruption
  /** The bound values of the asking agent, for whoever may answer: beside the log, never in it. */
  readonly bound: Readonly<Record<string, unknown>>
  readonly answer: unknown
  readonly answeredBy: string | null
  readonly createdAt: number
  readonly settledAt: number | null
}

/** A change of one job inside an append. */
export type JobChange =
  /** A new job, leased to its owner. Refused with `active` where another job of the conversation is live. */
  | {
      readonly kind: 'create'
      readonly id: string
      readonly owner: string
      readonly leaseUntil: number
      readonly startedAt: number
    }
  /** Tells a live job that something was appended; takes it over where nobody owns it. Refused with `inactive` where it has ended. */
  | { readonly kind: 'wake'; readonly id: string; readonly owner: string; readonly leaseUntil: number }
  /** Parks or ends the job. Refused with `woken` where `wake` is set. */
  | {
      readonly kind: 'rest'
      readonly id: string
      readonly status: Exclude<JobStatus, 'running'>
      readonly result: unknown
      readonly at: number
    }

/** Settles an open interruption; the append is refused with `settled` where it is not open any more. */
export interface Settlement {
  readonly id: string
  readonly state: Exclude<InterruptionState, 'open'>
  readonly answer: unknown
  readonly by: string | null
  readonly at: number
}

/** One member of a group: all of it is stored, or none. */
export interface Append {
  readonly database: string
  readonly conversation: string
  /** Makes the conversation in the same step; refused with `exists`. */
  readonly create?: ConversationRow
  /** The writer's job and epoch; refused with `fenced` where they do not match. */
  readonly fence?: { readonly job: string; readonly epoch: number }
  /** Refused with `moved` where the conversation's last seq is another. */
  readonly ifLastSeq?: number
  readonly entries: readonly Entry[]
  readonly job?: JobChange
  readonly open?: readonly InterruptionRow[]
  readonly settle?: readonly Settlement[]
  /** Parameters to hide behind the entries that are there already. What is hidden stays so; names that were not given are left out [E19]. */
  readonly hide?: readonly string[]
  /** Set where a person's message is among the entries. */
  readonly messageAt?: number
}

/** Why a member of a group was not stored. */
export type Refusal = 'exists' | 'missing' | 'fenced' | 'moved' | 'active' | 'inactive' | 'woken' | 'settled'

/** Stored: the entries have their seq. `job` is the job after its change, `before` the last seq before this append. */
export type AppendResult =
  | { readonly ok: true; readonly before: number; readonly lastSeq: number; readonly job: JobRow | null }
  | { readonly ok: false; readonly reason: Refusal; readonly job: JobRow | null }

/** Which page of rows. */
export interface RowPage {
  readonly limit: number
  /** Exclusive; the row id the page before ended with. */
  readonly after: string | null
}

/** Remembered replies; see the runtime's idempotency desk. */
export interface ReplyRow {
  readonly key: string
  readonly digest: string
  readonly status: number | null
  readonly body: string | null
  readonly at: number
}

/**
 * A store. Every method sees only its `database`. Expected refusals are results; a thrown error means that the store itself is
 * broken (`STORE_UNAVAILABLE`), and then nothing of that append is stored.
 */
export interface Store extends AgentRecords {
  /** The store's clock in ms: the database's own on PostgreSQL, the injected one on memory and SQLite. */
  now(): number
  /** Opens files and connections and migrates. Throws `STORE_LOCKED`, `SCHEMA_TOO_NEW`, `STORE_UNREACHABLE`. */
  open(): Promise<void>
  close(): Promise<void>

  /** Stores one member, in order with every other append of the conversation made through this store; resolves when it is durable. */
  append(append: Append): Promise<AppendResult>

  getConversation(database: string, id: string): Promise<ConversationRow | null>
  listConversations(
    database: string,
    page: RowPage & { readonly agent: string | null; readonly createdBy: string | null },
  ): Promise<readonly ConversationRow[]>
  /** Removes the conversation with entries, jobs and interruptions. False where there was none. */
  deleteConversation(database: string, id: string): Promise<boolean>
  /**
   * Removes conversations of any database whose time is over, each with all that belongs to it in one step; one with a live job or
   * an open interruption stays [E79]. At most `limit`, those that are longest over first; returns what went. Until then they count
   * as missing for `getConversation`, `listConversations` and every append, and their ids as free.
   */
  sweepConversations(limit: number): Promise<readonly { readonly database: string; readonly id: string }[]>
  /** Entries after `after`, in order. */
  readEntries(
    database: string,
    conversation: string,
    range: { readonly after: number; readonly limit: number },
  ): Promise<readonly Entry[]>

  getJob(database: string, id: string): Promise<JobRow | null>
  /** Jobs of a conversation, oldest first. */
  listJobs(database: string, conversation: string): Promise<readonly JobRow[]>
  /** Takes over jobs that nobody owns and that have something to do, or whose lease has lapsed: each gets the owner, a higher epoch and one attempt more. */
  claimJobs(claim: {
    readonly owner: string
    readonly leaseMs: number
    readonly limit: number
  }): Promise<readonly JobRow[]>
  /** Prolongs leases; returns the ids that are still owned with that epoch. */
  heartbeat(
    owner: string,
    jobs: readonly { readonly id: string; readonly epoch: number }[],
    leaseMs: number,
  ): Promise<readonly string[]>
  /** Gives jobs back at an orderly end: the next worker takes them at once, and it is no attempt. */
  releaseJobs(owner: string): Promise<void>

  getInterruption(database: string, id: string): Promise<InterruptionRow | null>
  listInterruptions(
    database: string,
    page: RowPage & { readonly state: string | null; readonly conversation: string | null },
  ): Promise<readonly InterruptionRow[]>

  /** Stores a fresh key and returns null, or returns the row that is there. Rows older than `expiresBefore` count as gone. */
  beginReply(
    database: string,
    row: { readonly key: string; readonly digest: string; readonly at: number; readonly expiresBefore: number },
  ): Promise<ReplyRow | null>
  finishReply(
    database: string,
    key: string,
    reply: { readonly status: number; readonly body: string } | null,
  ): Promise<void>
}
