/** The contract of a store: the log, and the small tables beside it for conversations, jobs, interruptions and replies. */
import type { InterruptionState } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import type { AgentChange, AgentReading } from '../agent/records.ts'
import type { Followed, Refusal, RunLimit } from './append-terms.ts'
import type { ArtifactRecords } from './artifact-records.ts'
import type { BlockRecords } from '../memory/records.ts'
import type { ContentUse, StoredContent } from './stored-content.ts'
import type { ReadLimit } from '../identity/rights.ts'
import type { ConversationFilter, InterruptionReader } from './list-filters.ts'
import type { KnowledgeRecords } from '../knowledge/records.ts'
import type { StoreListener } from './listener.ts'
import type { ConversationState } from './still.ts'
import type { Addition, Records } from './record.ts'
import type { ReadBound, RowPage } from '../identity/row-page.ts'
import type { RunPlace, RunsOf, RunsPage } from './runs-of.ts'
import type { ReplyRecords, Reservation } from './reply-records.ts'
import type { StrandedSearch } from './stranded.ts'
import type { UsageRecords } from './usage-records.ts'
import type {
  ConversationRow,
  InterruptionRow,
  JobKind,
  JobRow,
  JobStatus,
  ListedConversation,
  ParticipantRow,
} from './stored-rows.ts'

export type {
  ConversationRow,
  InterruptionRow,
  JobKind,
  JobRow,
  JobStatus,
  LastRun,
  ListedConversation,
  ParticipantRow,
} from './stored-rows.ts'

/** A change of one job inside an append. */
export type JobChange =
  /**
   * Creates a job, leased to its owner, or queued for any worker with `owner: null`. Refused with `exists` if the database has a job
   * of that id; then with `active` if it is a run and another run of the conversation is live.
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
   * Wakes a live job for which entries were appended. If the job has an owner, `wake` is set. If not, `owner` takes it over, which
   * clears `wake` as a claim does; with `owner: null`, or if the job was given back after a worker was lost with it, `wake` is set and any
   * worker can claim it. Refused with `inactive` if it has ended.
   */
  | { readonly kind: 'wake'; readonly id: string; readonly owner: string | null; readonly leaseMs: number }
  /** Its owner made progress: `attempts` is reset to 1. Refused with `inactive` if the job has ended. */
  | { readonly kind: 'progress'; readonly id: string }
  /** Parks or ends the job. Refused with `woken` if `wake` is set. The refusal clears `wake`, unless the job has no owner; otherwise no worker would claim it. */
  | {
      readonly kind: 'rest'
      readonly id: string
      readonly status: Exclude<JobStatus, 'queued' | 'running'>
      readonly result: unknown
      readonly at: number
    }

/** Settles an open interruption of the conversation. The append is refused with `settled` if it is no longer open. */
export interface Settlement {
  readonly id: string
  readonly state: Exclude<InterruptionState, 'open'>
  readonly answer: unknown
  readonly by: string | null
  readonly at: number
}

/** One append, stored atomically. The store measures leases with its own clock. */
export interface Append {
  readonly database: string
  readonly conversation: string
  /** Creates the conversation. Refused with `exists` if there is one with that id. */
  readonly create?: ConversationRow
  /**
   * What was decided on. Refused with `went-back` if the log does not have this entry any more; without an entry, if another history has
   * begun.
   */
  readonly follows?: Followed
  /**
   * The writer's job and epoch. Refused with `fenced` if the job is not live, has no owner, or another one than this, or is in another
   * epoch [D5].
   */
  readonly fence?: { readonly job: string; readonly epoch: number; readonly owner?: string }
  /** Refused with `moved` if the conversation's last seq is another. */
  readonly ifLastSeq?: number
  /** `(job, appendNo)` is unique. A store that lost the reply to a commit uses it to find out whether the commit happened. */
  readonly entries: readonly Entry[]
  /** Changes of different jobs, in order: a run may end and the next begin. One refused change refuses the append. */
  readonly jobs?: readonly JobChange[]
  readonly open?: readonly InterruptionRow[]
  readonly settle?: readonly Settlement[]
  /** Parameters to hide for runs that start later. Hidden ones stay hidden; unknown names are ignored [E19]. */
  readonly hide?: readonly string[]
  /** Set if a person's message is among the entries. */
  readonly messageAt?: number
  /** The new rows of these people. A person's first row gives the position in lists, which stays. */
  readonly participants?: readonly ParticipantRow[]
  /** Content that the conversation refers to from now on. Refused with `contentless` if the store does not have it. */
  readonly contents?: readonly ContentUse[]
  /**
   * Stored with the reservation's reply, so that a repeat of the request can find the run. Refused with `reply-taken` if that reply
   * is no longer pending: it was removed, another request holds its key, or it has a note or a status already [P20]. If `text` is
   * null nothing is stored, but the reply must be pending.
   */
  readonly note?: Reservation & { readonly text: string | null }
  /**
   * The principal for whom the usage in the entries counts, which is added in the same append [T27]. Absent: they are copies, and
   * count nowhere.
   */
  readonly usedBy?: string
  /**
   * With an append that begins a run: refused with `too-many` if `most` runs of conversations that this principal created are live.
   * Such appends are decided one after another, between processes too. A run that another append begins meanwhile may not count.
   */
  readonly runLimit?: RunLimit
}

/** If stored, the entries have their seq. `jobs` are the changed jobs, and `before` is the last seq before this append. */
export type AppendResult =
  | { readonly ok: true; readonly before: number; readonly lastSeq: number; readonly jobs: readonly JobRow[] }
  /** `job` is the live run for `active`, else the refused job of this conversation, or null. */
  | { readonly ok: false; readonly reason: Refusal; readonly job: JobRow | null }

/** Where a job is. */
export type JobPlace = Pick<JobRow, 'database' | 'id'>

/** A job that is still owned. `wake` is set if another writer appended entries for it. */
export interface HeldJob {
  readonly id: string
  readonly wake: boolean
}

/** All rows of one conversation, for export to another store. */
export interface ConversationSnapshot {
  readonly row: ConversationRow
  readonly entries: readonly Entry[]
  readonly jobs: readonly JobRow[]
  readonly interruptions: readonly InterruptionRow[]
  /** The content that it refers to, sorted by digest; absent if there is none. */
  readonly contents?: readonly StoredContent[]
  /** Its people, in the order of their first joining; absent if there are none. */
  readonly participants?: readonly ParticipantRow[]
}

/** Rows of an open snapshot, in order. They can be read more than once. */
export interface SnapshotRows<Row> extends AsyncIterable<Row> {
  readonly count: number
}

/** A conversation as it was when it was opened. Its rows are read a few at a time; reading throws `NOT_FOUND` once it is deleted. */
export interface OpenSnapshot {
  readonly row: ConversationRow
  readonly entries: SnapshotRows<Entry>
  readonly jobs: SnapshotRows<JobRow>
  readonly interruptions: SnapshotRows<InterruptionRow>
  /** Sorted by digest. */
  readonly contents: SnapshotRows<StoredContent>
  /** In the order of their first joining. */
  readonly participants: readonly ParticipantRow[]
}

/** Whose a conversation is. */
export interface OwnerRow extends Pick<ConversationRow, 'id' | 'agent' | 'createdBy'> {
  readonly takesPart: boolean
}

/**
 * A store. Every method sees only its `database`. Expected refusals are results; a thrown error means that the store itself failed
 * (`STORE_UNAVAILABLE`). If an append throws, so does every later append of its conversation that was made before the rejection.
 * Whether an append that threw was stored is unknown; the caller must read the log again.
 */
export interface Store
  extends AgentReading,
    ArtifactRecords,
    BlockRecords,
    Records,
    ReplyRecords,
    StrandedSearch,
    UsageRecords {
  /** The time of the clock of a database in ms: an estimate of its server's clock on PostgreSQL, the injected one on memory and SQLite. */
  now(database: string): number
  /**
   * Grows whenever what is stored may have gone back: the database server was started again, another one took over, or a backup was
   * restored. It has grown before any caller gets a reply that shows the new history. What a caller knew before may be lost then.
   */
  readonly history: number
  /** Documents of knowledge bases. */
  readonly knowledge: KnowledgeRecords
  /** Opens files and connections, and migrates the schema. Throws `STORE_LOCKED`, `SCHEMA_TOO_NEW`, `STORE_UNREACHABLE`. */
  open(): Promise<void>
  close(): Promise<void>

  /**
   * Stores one append. Appends of one conversation through this store keep their order. Resolves when it is durable. Until then a new
   * conversation is missing for everybody; one without a job may be stored a little in each turn, and its order does not count.
   */
  append(append: Append): Promise<AppendResult>

  getConversation(database: string, id: string): Promise<ConversationRow | null>
  /**
   * Newest first. With `participant` those in which this person takes part; with `createdBy` too, those that satisfy one of both. The
   * cost of a page with `participant` does not grow with the conversations of others.
   */
  listConversations(database: string, page: RowPage & ConversationFilter): Promise<readonly ListedConversation[]>
  /** The people of a conversation, those who left included, in the order of their first joining; `after` is a person's id. */
  listParticipants(database: string, conversation: string, page: RowPage): Promise<readonly ParticipantRow[]>
  /** One person of a conversation; null if this person never took part. */
  getParticipant(database: string, conversation: string, user: string): Promise<ParticipantRow | null>
  /**
   * Whose these conversations are, and whether this person takes part in each now; false for null. Missing ones are left out, the
   * order is any. One read for all.
   */
  readOwners(database: string, conversations: readonly string[], person: string | null): Promise<readonly OwnerRow[]>
  /**
   * Deletes the conversation with its entries, jobs, interruptions, participants, its own usage, and content that no other one refers
   * to. What it has used stays in all other sums. False if there was none, and with `as` if it is no longer so: then it stays.
   */
  deleteConversation(database: string, id: string, as?: ConversationState): Promise<boolean>
  /**
   * Deletes expired conversations of any database, each atomically; one with a live job or an open interruption stays [E79].
   * Deletes at most `limit`, the longest expired first, and returns them; a store may go on behind those that it found kept. Before that they already count as missing for
   * `getConversation`, `listConversations` and every append, and their ids are free.
   */
  sweepConversations(limit: number): Promise<readonly { readonly database: string; readonly id: string }[]>
  /** Entries with a seq above `after`, in order. With a `bound` the read may end before its limit. */
  readEntries(
    database: string,
    conversation: string,
    range: { readonly after: number; readonly limit: number; readonly bound?: ReadBound },
  ): Promise<readonly Entry[]>

  /**
   * Stores content under its digest, once for each database, before an append refers to it. It stays for at least an hour without a
   * reference, and as long as a conversation refers to it. The caller has computed the digest.
   */
  putContent(database: string, digest: string, bytes: Uint8Array): Promise<void>
  /** Content that this conversation refers to, or null. */
  readContent(database: string, conversation: string, digest: string): Promise<StoredContent | null>

  getJob(database: string, id: string): Promise<JobRow | null>
  /** Jobs of a conversation, oldest first. With `live` only live ones, at a cost that does not grow with the others. */
  listJobs(database: string, conversation: string, options?: { readonly live?: boolean }): Promise<readonly JobRow[]>
  /** Runs of a conversation, newest first. The cost does not grow with other jobs. */
  listRuns(database: string, conversation: string, page: RowPage): Promise<readonly JobRow[]>
  /** How many runs a conversation has, live or not. */
  countRuns(database: string, conversation: string): Promise<number>
  /**
   * Tasks of all conversations, newest first by `createdAt`. With `of` only those of conversations that it admits: those of its
   * creator, and those in which its person takes part now. Then the cost of a page does not grow with the tasks of others.
   */
  listTasks(
    database: string,
    page: RowPage & { readonly live: boolean | null; readonly of?: ReadLimit | null },
  ): Promise<readonly JobRow[]>
  /**
   * Runs of the conversations that a principal created, the last changed first; of one conversation the last begun first, since there they
   * follow one another. `next`: behind which run to go on, if `look` ended the search. The cost grows with `look` alone; with `live` it
   * does not count, and the cost grows with the live runs of the database instead.
   */
  listRunsOf(
    database: string,
    page: RunsPage & RunsOf,
  ): Promise<{ readonly rows: readonly JobRow[]; readonly next: RunPlace | null }>
  /** How many of the first `look` runs of that list are wanted. */
  countRunsOf(database: string, of: RunsOf & Pick<RunsPage, 'look'>): Promise<number>
  /** How many of its runs are live, counted up to `most`. The cost does not grow with ended runs. */
  countLiveRunsOf(database: string, createdBy: string, most: number): Promise<number>
  /** Claims jobs that have no owner and `wake` set, or whose lease has lapsed. Each gets the owner, the next epoch and one more attempt. */
  claimJobs(claim: {
    readonly owner: string
    readonly leaseMs: number
    readonly limit: number
  }): Promise<readonly JobRow[]>
  /** Renews leases. Returns the jobs that are still owned in that epoch. */
  heartbeat(
    owner: string,
    jobs: readonly (JobPlace & { readonly epoch: number })[],
    leaseMs: number,
  ): Promise<readonly HeldJob[]>
  /** Releases all jobs of the owner, or only these. They can be claimed at once, and the attempt does not count. */
  releaseJobs(owner: string, jobs?: readonly JobPlace[]): Promise<void>

  /** How many open interruptions a database has, counted up to `most`. */
  countOpenInterruptions(database: string, most: number): Promise<number>
  getInterruption(database: string, id: string): Promise<InterruptionRow | null>
  listInterruptions(
    database: string,
    page: RowPage & {
      readonly state: string | null
      readonly conversation: string | null
      /** Only interruptions for one of these addressees, null among them: those without one; null for all. */
      readonly addressees: readonly (string | null)[] | null
      /** Only those that this reader may see; null for all. */
      readonly reader?: InterruptionReader | null
    },
  ): Promise<readonly InterruptionRow[]>
  /** Expired open interruptions of any database, the longest expired first. */
  dueInterruptions(limit: number): Promise<readonly InterruptionRow[]>

  /**
   * Applies all of the changes of definitions with the records beside them, or nothing; false if an expected revision is no longer
   * current.
   */
  changeAgents(database: string, changes: readonly AgentChange[], beside?: readonly Addition[]): Promise<boolean>

  /** The databases that are not empty, sorted by character codes. */
  listDatabases(): Promise<readonly string[]>
  /** A consistent snapshot of one conversation, or null. Between reads it holds no connection and no lock, however long they take. */
  openSnapshot(database: string, id: string): Promise<OpenSnapshot | null>
  /** The same with all its rows in memory. */
  readSnapshot(database: string, id: string): Promise<ConversationSnapshot | null>
  /**
   * Stores a conversation that `readSnapshot` returned, atomically. Its live jobs get no owner; those that are not parked can be claimed
   * at once. False if its id, or the id of one of its jobs or interruptions, is taken. Throws `BODY_INVALID` if its parts do not
   * belong together. The records beside it have new ids, and are stored with it.
   */
  putSnapshot(database: string, snapshot: ConversationSnapshot, beside?: readonly Addition[]): Promise<boolean>

  /**
   * Notifies a listener of changes by other processes, until the returned function is called. With several listeners, a store may
   * also report its own changes. Only a process with access to the store can read or send notifications; repeated and invalid ones are
   * ignored. A store in memory also reports conversations that it drops by itself.
   */
  listen(listener: StoreListener): () => void
  /**
   * Sends a text about a conversation, such as a model's delta, to the listeners of other processes. It may be lost. A text of more
   * than 5,000 bytes as JSON, names included, may not be sent.
   */
  notify(database: string, conversation: string, text: string): void

  /**
   * Resolves once what can be read of the database now is as durable as an append. For a request that finds done what it asks for, since
   * whoever did it may have been told that it is unknown whether it is stored. Throws `STORE_UNAVAILABLE`.
   */
  confirmStored(database: string): Promise<void>
  /**
   * Checks durably that a first message could be stored now, and removes what it wrote. Throws `STORE_UNAVAILABLE` if not; it does
   * not wait for a server to come back.
   */
  checkWritable(): Promise<void>
}
