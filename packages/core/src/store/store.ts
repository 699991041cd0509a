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

/** Where a job is: `queued`, `running` and `waiting` are live. `queued`: nobody has owned it yet. */
export type JobStatus = 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled'

/** A run, of which a conversation has at most one that is live; or a task, of which it may have many. */
export type JobKind = 'run' | 'task'

/** One root call, or one task: what a worker claims. The id is that call's id. */
export interface JobRow {
  readonly id: string
  readonly database: string
  readonly conversation: string
  readonly kind: JobKind
  readonly status: JobStatus
  readonly owner: string | null
  /** Rises with every claim; every append checks it [D5]. */
  readonly epoch: number
  readonly leaseUntil: number
  /** Something was appended to the conversation for this job by somebody else. */
  readonly wake: boolean
  /** Owners in a row that did not get on: 1 at first, one more with every claim, and 1 again with a `step` [D23]. */
  readonly attempts: number
  readonly createdAt: number
  /** When it was owned first; null while it is queued. */
  readonly startedAt: number | null
  readonly endedAt: number | null
  readonly firstSeq: number
  /** What it is about, as JSON that the engine made with it: never changed, never read by a store. */
  readonly about: unknown
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
  /** What an answer must keep to, as JSON that the engine made; null where anything goes. */
  readonly terms: unknown
  readonly answer: unknown
  readonly answeredBy: string | null
  readonly createdAt: number
  /** When nobody may answer any more, by the store's clock; null for never. */
  readonly expiresAt: number | null
  readonly settledAt: number | null
}

/** A change of one job inside an append. */
export type JobChange =
  /**
   * A new job, leased to its owner, or with `owner: null` queued for whoever claims it first. Refused with `exists` where its id is
   * taken in the database, and then with `active` where it is a run and another run of the conversation is live.
   */
  | {
      readonly kind: 'create'
      readonly id: string
      readonly job: JobKind
      readonly owner: string | null
      readonly leaseMs: number
      readonly at: number
      readonly about: unknown
    }
  /**
   * Tells a live job that something was appended for it: sets `wake` where it is owned. Where nobody owns it, it is taken over, which
   * takes the mark off as a claim does; or with `owner: null` it is marked and can be claimed at once. Refused with `inactive` where
   * it has ended.
   */
  | { readonly kind: 'wake'; readonly id: string; readonly owner: string | null; readonly leaseMs: number }
  /** Its owner got on: tries are counted anew. Refused with `inactive` where it has ended. */
  | { readonly kind: 'step'; readonly id: string }
  /** Parks or ends the job. Refused with `woken` where `wake` is set, which takes the mark off; of a job that nobody owns it stays, else none would claim it. */
  | {
      readonly kind: 'rest'
      readonly id: string
      readonly status: Exclude<JobStatus, 'queued' | 'running'>
      readonly result: unknown
      readonly at: number
    }

/** Settles an open interruption of the conversation, once; the append is refused with `settled` where it is not open any more. */
export interface Settlement {
  readonly id: string
  readonly state: Exclude<InterruptionState, 'open'>
  readonly answer: unknown
  readonly by: string | null
  readonly at: number
}

/** One member of a group: all of it is stored, or none. The store keeps a lease in its own clock. */
export interface Append {
  readonly database: string
  readonly conversation: string
  /** Makes the conversation in the same step; refused with `exists`. */
  readonly create?: ConversationRow
  /** The writer's job and epoch; refused with `fenced` where the job is not live, has no owner, or is in another epoch [D5]. */
  readonly fence?: { readonly job: string; readonly epoch: number }
  /** Refused with `moved` where the conversation's last seq is another. */
  readonly ifLastSeq?: number
  /** `(job, appendNo)` of each is unique: by it a store that lost the reply to a commit finds out whether it happened. */
  readonly entries: readonly Entry[]
  /** Changes of different jobs, in order: a run may end and the next begin. The first that is refused refuses the whole append. */
  readonly jobs?: readonly JobChange[]
  readonly open?: readonly InterruptionRow[]
  readonly settle?: readonly Settlement[]
  /** Parameters to hide behind the entries that are there already. What is hidden stays so; names that were not given are left out [E19]. */
  readonly hide?: readonly string[]
  /** Set where a person's message is among the entries. */
  readonly messageAt?: number
  /**
   * Written beside the reply that this reservation began: what a repeat of the request can follow. Refused with `reply-taken` where
   * that reply is not under way any more: it is gone, somebody else began another one, or it has a note or an end already [P20].
   * Nothing is written where `text` is null: then there is nothing to follow, and the reply must only be under way still.
   */
  readonly note?: Reservation & { readonly text: string | null }
}

/** Why a member of a group was not stored; of several reasons the first: reply, existence, fence, seq, interruptions, jobs. */
export type Refusal =
  | 'reply-taken'
  | 'exists'
  | 'missing'
  | 'fenced'
  | 'moved'
  | 'active'
  | 'inactive'
  | 'woken'
  | 'settled'

/** Stored: the entries have their seq. `jobs` are those of the changes after them, `before` the last seq before this append. */
export type AppendResult =
  | { readonly ok: true; readonly before: number; readonly lastSeq: number; readonly jobs: readonly JobRow[] }
  /** `job`: the live run for `active`, else the job of this conversation that the refusal is about, where there is one. */
  | { readonly ok: false; readonly reason: Refusal; readonly job: JobRow | null }

/** Which page of rows. */
export interface RowPage {
  readonly limit: number
  /** Exclusive; the id of the row that the page before ended with. Where that row is gone the list throws `BODY_INVALID`. */
  readonly after: string | null
}

/** Whose an idempotency key is: it is told from the next one's by the moment at which its reply was begun, in ms of the store's clock. */
export interface Reservation {
  readonly key: string
  readonly at: number
}

/** Remembered replies; see the runtime's idempotency desk. */
export interface ReplyRow {
  readonly key: string
  readonly digest: string
  readonly status: number | null
  readonly body: string | null
  /** What the request stored, once it did; see `Append.note`. */
  readonly note: string | null
  readonly at: number
}

/** A job that is still owned; `wake` is set where something was appended for it by somebody else. */
export interface HeldJob {
  readonly id: string
  readonly wake: boolean
}

/** Everything of one conversation, to be moved to another store. */
export interface WholeConversation {
  readonly row: ConversationRow
  readonly entries: readonly Entry[]
  readonly jobs: readonly JobRow[]
  readonly interruptions: readonly InterruptionRow[]
}

/** What a process hears of the others on the same store. It may be told twice, late, or never: whoever must not miss it also looks. */
export interface StoreListener {
  /** Entries up to `lastSeq` stand in the log. */
  appended(at: { readonly database: string; readonly conversation: string; readonly lastSeq: number }): void
  /** A job can be claimed. */
  due(): void
  /** The conversation is gone. */
  gone(at: { readonly database: string; readonly conversation: string }): void
  /** What another process said with `say`. */
  said(at: { readonly database: string; readonly conversation: string }, text: string): void
}

/**
 * A store. Every method sees only its `database`. Expected refusals are results; a thrown error means that the store itself is
 * broken (`STORE_UNAVAILABLE`). An append that throws takes with it every later one of its conversation that was made before the
 * failure was told; whether it was stored is then unknown, and whoever made it reads the log again.
 */
export interface Store extends AgentRecords {
  /** The store's clock in ms: the database's own on PostgreSQL, as well as it is known here; the injected one on memory and SQLite. */
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
  /** Jobs of a conversation, oldest first; only those that are live where that is asked, at a cost that does not grow with the others. */
  listJobs(database: string, conversation: string, options?: { readonly live?: boolean }): Promise<readonly JobRow[]>
  /** Tasks of all conversations, the newest first by `createdAt`. */
  listTasks(database: string, page: RowPage & { readonly live: boolean | null }): Promise<readonly JobRow[]>
  /** Takes over jobs that nobody owns and that have something to do, or whose lease has lapsed: each gets the owner, a higher epoch and one attempt more. */
  claimJobs(claim: {
    readonly owner: string
    readonly leaseMs: number
    readonly limit: number
  }): Promise<readonly JobRow[]>
  /** Prolongs leases; returns the jobs that are still owned with that epoch. */
  heartbeat(
    owner: string,
    jobs: readonly { readonly id: string; readonly epoch: number }[],
    leaseMs: number,
  ): Promise<readonly HeldJob[]>
  /** Gives jobs back at an orderly end, all of the owner's or these: the next worker takes them at once, and it is no attempt. */
  releaseJobs(owner: string, ids?: readonly string[]): Promise<void>

  getInterruption(database: string, id: string): Promise<InterruptionRow | null>
  listInterruptions(
    database: string,
    page: RowPage & {
      readonly state: string | null
      readonly conversation: string | null
      /** Only those for one of these; null for all. */
      readonly addressees: readonly string[] | null
    },
  ): Promise<readonly InterruptionRow[]>
  /** Open ones of any database whose time to answer is over, longest first. */
  dueInterruptions(limit: number): Promise<readonly InterruptionRow[]>

  /**
   * Stores a fresh key and returns null, or returns the row that is there. Rows older than `expiresBefore` count as gone, and so do
   * those of the same digest without reply and note from before `lostBefore`: whoever began them has lost them, dead or alive. While
   * an append that is to leave a note at a row is being stored, it waits for that to end.
   */
  beginReply(
    database: string,
    row: {
      readonly key: string
      readonly digest: string
      readonly at: number
      readonly expiresBefore: number
      readonly lostBefore: number
    },
  ): Promise<ReplyRow | null>
  /**
   * Stores the reply of a reservation; null forgets it, unless something was noted for it: what a request has stored it must not store
   * again. Does nothing where the key is somebody else's by now.
   */
  finishReply(
    database: string,
    of: Reservation,
    reply: { readonly status: number; readonly body: string } | null,
  ): Promise<void>

  /** The databases that hold anything, in the order of their names' character codes. */
  listDatabases(): Promise<readonly string[]>
  /** Everything of one conversation as it is at one moment, or null. */
  readWhole(database: string, id: string): Promise<WholeConversation | null>
  /**
   * Stores a conversation that `readWhole` gave, whole or not at all. Nobody owns its live jobs; those that are not parked can be
   * claimed at once. False where its id, or that of a job or interruption of it, is taken; throws `BODY_INVALID` where its parts do
   * not belong together.
   */
  putWhole(database: string, whole: WholeConversation): Promise<boolean>

  /** Hears of other processes on the same store; the returned function ends it. A store that no other process can open never calls. */
  listen(listener: StoreListener): () => void
  /** Tells the other processes something about a conversation, such as what a model is saying: at most 7,000 bytes, and it may be lost. */
  say(database: string, conversation: string, text: string): void
}
