/** The rows of a store as its contract speaks of them: conversations, jobs, interruptions and people. */
import type { Interruption } from '@witan/protocol'

/** A conversation's row. `parameters` are JSON values that the runtime made. */
export interface ConversationRow {
  readonly database: string
  readonly id: string
  readonly agent: string
  readonly createdBy: string
  readonly createdAt: number
  readonly lastMessageAt: number
  readonly lastSeq: number
  /** The caller's parameters: `{ name: [value, hidden, after] }`. If a value was hidden later, `after` is the last seq before that [E19]. */
  readonly parameters: Readonly<Record<string, readonly [value: unknown, hidden: boolean, after?: number]>>
  readonly maxModelIterationsPerCall: number | null
  /** When it expires, by the store's clock; null for never [Rb35]. */
  readonly expiresAt: number | null
}

/** A conversation in a list: its row, its first message and its latest run. */
export interface ListedConversation extends ConversationRow {
  /** The first 200 characters of its first message; null if its log does not begin with a message. */
  readonly firstMessage: string | null
  /** The latest run, live or not; null before the first. */
  readonly lastRun: LastRun | null
}

/** The fields of a run's job that a list shows. */
export type LastRun = Pick<JobRow, 'id' | 'status' | 'createdAt' | 'endedAt' | 'about'>

/** The status of a job. `queued`, `running` and `waiting` are live; `queued` has never had an owner. */
export type JobStatus = 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled'

/** A conversation has at most one live run, and any number of live tasks. */
export type JobKind = 'run' | 'task'

/** A job is one root call or one task, which a worker claims. Its id is that call's id. */
export interface JobRow {
  readonly id: string
  readonly database: string
  readonly conversation: string
  readonly kind: JobKind
  readonly status: JobStatus
  readonly owner: string | null
  /** Increases with every claim; every append checks it [D5]. */
  readonly epoch: number
  readonly leaseUntil: number
  /** Another writer appended entries for this job. */
  readonly wake: boolean
  /** Owners in a row without progress: 1 at first, plus 1 with every claim, and 1 again after `progress` [D23]. */
  readonly attempts: number
  readonly createdAt: number
  /** When it first had an owner; null while it is queued. */
  readonly startedAt: number | null
  readonly endedAt: number | null
  /** When it was made, was woken from waiting, began to wait or ended: the latest of these. An export leaves it out: then it is when it began or ended. */
  readonly changedAt: number
  readonly firstSeq: number
  /** JSON that the engine stores with the job for readers. A store neither changes nor reads it. */
  readonly about: unknown
  /** The last result, as JSON; null before the first. */
  readonly result: unknown
}

/** A stored interruption. Readers get `view`; the answer is stored beside it. */
export interface InterruptionRow {
  readonly database: string
  readonly conversation: string
  readonly job: string
  /** The waiting tool call. */
  readonly call: string
  readonly view: Interruption
  /** The bound values of the asking agent, for principals that may answer. They are never in the log. */
  readonly bound: Readonly<Record<string, unknown>>
  /** The rules that an answer must satisfy, as JSON that the engine made; null for no rules. */
  readonly terms: unknown
  readonly answer: unknown
  readonly answeredBy: string | null
  readonly createdAt: number
  /** When it expires, by the store's clock; null for never. */
  readonly expiresAt: number | null
  readonly settledAt: number | null
}

/** A person who takes part in a conversation, or did. */
export interface ParticipantRow {
  readonly user: string
  readonly name: string | null
  readonly roles: readonly string[]
  /** When this person joined last. */
  readonly joinedAt: number
  /** Null while this person takes part. */
  readonly leftAt: number | null
}
