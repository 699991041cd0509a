/** One append inside a transaction: everything is checked by reading, and only then something is written. */
import { WitanError } from '@witan/protocol'
import { hide } from '../hide.ts'
import { interruptionSql } from '../sql/interruptions.ts'
import { jobSql } from '../sql/jobs.ts'
import { logSql } from '../sql/log.ts'
import type { Append, AppendResult, ConversationRow, JobChange, JobRow, Refusal, Settlement } from '../store.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { jobOf, jsonText, type Row, type StoredJob, storedJob } from './sqlite-rows.ts'

/** What is known of the conversation before the append. */
interface Head {
  readonly number: number
  readonly lastSeq: number
  /** The latest job; the only one that can be live. */
  readonly latest: StoredJob | null
}

/** Where and when an append is stored. */
export interface AppendPlace {
  readonly connection: SqliteConnection
  readonly now: number
}

/** An append under way. `changed` is the job it changes. */
interface Member {
  readonly connection: SqliteConnection
  readonly append: Append
  readonly head: Head | null
  /** The number of a conversation under this id whose time is over: it goes when a new one is made. */
  readonly over: number | null
  readonly changed: StoredJob | null
}

/** So many keys a conversation has, for its entries and for its jobs. */
const keysOfConversation = 1_048_576

/** Stores one append, or says why not. Throws `STORE_UNAVAILABLE` before anything is written where the conversation is full. */
export function storeAppend(at: AppendPlace, append: Append, texts: readonly string[]): AppendResult {
  const { connection } = at
  const { head, over } = readHead(at, append)
  const { job } = append
  const changed = job === undefined || job.kind === 'create' ? null : findJob({ connection, append, head }, job.id)
  const member = { connection, append, head, over, changed }
  const reason = refusal(member)
  return reason === null ? write(member, texts) : refused(member, reason)
}

function readHead({ connection, now }: AppendPlace, { database, conversation }: Append): Pick<Member, 'head' | 'over'> {
  const row = connection.tuple(logSql.readHead, database, conversation, now)
  if (row === null) return { head: null, over: null }
  const number = row[0] as number
  if (row.at(-1) === 1) return { head: null, over: number }
  return { head: { number, lastSeq: row[1] as number, latest: storedJob(row, 2) }, over: null }
}

/** A job of this conversation; nearly always the latest. */
function findJob({ connection, append, head }: Omit<Member, 'changed' | 'over'>, id: string): StoredJob | null {
  if (head === null) return null
  if (head.latest?.id === id) return head.latest
  const row = connection.tuple(jobSql.getJob, append.database, id)
  return row?.at(-1) === append.conversation ? storedJob(row) : null
}

const isLive = (job: StoredJob | null | undefined): boolean => job?.endedAt === null

/** Why an append must be refused, before anything is changed. */
function refusal(member: Member): Refusal | null {
  const { append, head, changed } = member
  const { fence, job } = append
  if (append.create !== undefined && head !== null) return 'exists'
  if (append.create === undefined && head === null) return 'missing'
  if (fence !== undefined && findJob(member, fence.job)?.epoch !== fence.epoch) return 'fenced'
  if (append.ifLastSeq !== undefined && append.ifLastSeq !== (head?.lastSeq ?? 0)) return 'moved'
  if (append.settle?.some((one) => !isOpen(member, one)) === true) return 'settled'
  if (job === undefined) return null
  if (job.kind === 'create') return isLive(head?.latest) ? 'active' : null
  if (!isLive(changed)) return 'inactive'
  return job.kind === 'rest' && changed?.wake === true ? 'woken' : null
}

/** An interruption may be opened and settled in one append. */
function isOpen({ connection, append }: Member, { id }: Settlement): boolean {
  const row: Row | null = connection.get(interruptionSql.interruptionState, append.database, id)
  return (row?.state ?? append.open?.find(({ view }) => view.id === id)?.view.state) === 'open'
}

function refused(member: Member, reason: Refusal): AppendResult {
  const { connection, append, head } = member
  const id = append.fence?.job ?? append.job?.id
  const job = reason === 'active' ? head?.latest : id === undefined ? null : findJob(member, id)
  if (job === null || job === undefined) return { ok: false, reason, job: null }
  if (reason !== 'woken') return { ok: false, reason, job: jobOf(job, append) }
  connection.run(jobSql.wakeJob, job.key, 0)
  return { ok: false, reason, job: { ...jobOf(job, append), wake: false } }
}

function write(member: Member, texts: readonly string[]): AppendResult {
  const { connection, append } = member
  const before = member.head?.lastSeq ?? 0
  const lastSeq = before + texts.length
  if (lastSeq >= keysOfConversation) throw fullError(append.conversation)
  if (member.over !== null) for (const sql of logSql.deleteConversation) connection.run(sql, member.over)
  const head = member.head ?? createConversation(connection, newRow(append))
  let key = head.number * keysOfConversation + before
  for (const text of texts) connection.run(logSql.insertEntry, ++key, text)
  if (append.messageAt !== undefined && member.head !== null) {
    connection.run(logSql.setLastMessageAt, head.number, append.messageAt)
  }
  if (append.hide !== undefined) hideParameters(connection, append.hide, { number: head.number, before })
  if (append.open !== undefined || append.settle !== undefined) writeInterruptions(connection, append, head.number)
  const job = append.job === undefined ? null : changeJob(append.job, { ...member, head })
  return { ok: true, before, lastSeq, job }
}

function newRow(append: Append): ConversationRow {
  const row = append.create as ConversationRow
  return { ...row, lastMessageAt: append.messageAt ?? row.lastMessageAt }
}

function createConversation({ nextConversation, run }: SqliteConnection, row: ConversationRow): Head {
  const { database, id, agent, createdBy, createdAt, lastMessageAt, parameters } = row
  const number = nextConversation()
  const given = [database, id, agent, createdBy, createdAt, lastMessageAt]
  run(logSql.insertConversation, number, ...given, jsonText(parameters), row.maxModelIterationsPerCall, row.expiresAt)
  return { number, lastSeq: 0, latest: null }
}

function hideParameters(
  { get, run }: SqliteConnection,
  names: readonly string[],
  { number, before }: { readonly number: number; readonly before: number },
): void {
  const text = get(logSql.readParameters, number)?.parameters
  run(logSql.setParameters, number, jsonText(hide(JSON.parse(text as string), names, before)))
}

function writeInterruptions({ run }: SqliteConnection, append: Append, number: number): void {
  const { database, open = [], settle = [] } = append
  for (const { view, job, call, bound, answer, answeredBy, createdAt, settledAt } of open) {
    const texts = [jsonText(view), jsonText(bound), jsonText(answer)]
    const names = [database, view.id, number, job, call, view.state]
    run(interruptionSql.insertInterruption, ...names, ...texts, answeredBy, createdAt, settledAt)
  }
  for (const { id, state, answer, by, at } of settle) {
    run(interruptionSql.settleInterruption, database, id, state, jsonText(answer), by, at)
  }
}

/** Writes the change of a job and returns the job after it. */
function changeJob(change: JobChange, member: Member & { readonly head: Head }): JobRow {
  if (change.kind === 'create') return createJob(change, member)
  const { connection, append } = member
  const changed = member.changed as StoredJob
  const { key } = changed
  if (change.kind === 'rest') {
    const { status, result, at } = change
    const endedAt = status === 'waiting' ? null : at
    connection.run(jobSql.restJob, key, status, endedAt, jsonText(result))
    return { ...jobOf({ ...changed, result: null }, append), status, owner: null, endedAt, result }
  }
  const row = jobOf(changed, append)
  if (row.owner !== null) {
    if (!row.wake) connection.run(jobSql.wakeJob, key, 1)
    return { ...row, wake: true }
  }
  const { owner, leaseUntil } = change
  const epoch = row.epoch + 1
  connection.run(jobSql.takeJob, key, owner, epoch, leaseUntil, row.wake ? 1 : 0, 1)
  return { ...row, status: 'running', owner, leaseUntil, epoch, attempts: 1 }
}

function createJob(change: JobChange & { kind: 'create' }, member: Member & { readonly head: Head }): JobRow {
  const { connection, head, append } = member
  const { id, owner, leaseUntil, startedAt } = change
  const { database, conversation } = append
  const key = (head.latest?.key ?? head.number * keysOfConversation) + 1
  const firstSeq = head.lastSeq + 1
  connection.run(jobSql.insertJob, key, database, id, owner, leaseUntil, startedAt, firstSeq)
  const fresh = { status: 'running', epoch: 1, wake: false, attempts: 1, endedAt: null, result: null } as const
  return { ...fresh, id, database, conversation, owner, leaseUntil, startedAt, firstSeq }
}

function fullError(conversation: string): WitanError {
  const detail = `Conversation \`${conversation}\` is full: it has ${keysOfConversation - 1} entries.`
  return new WitanError('STORE_UNAVAILABLE', detail, { hint: 'Go on in a new conversation.' })
}
