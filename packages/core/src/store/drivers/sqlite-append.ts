/** One append inside a transaction: everything is checked by reading, and only then something is written. */
import { WitanError } from '@witan/protocol'
import { interruptionSql } from '../sql/interruptions.ts'
import { jobSql } from '../sql/jobs.ts'
import { logSql } from '../sql/log.ts'
import type { Append, AppendResult, ConversationRow, JobChange, Refusal, Settlement } from '../store.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { jobOf, jsonText, type Row } from './sqlite-rows.ts'

/** What is known of the conversation before the append. */
interface Head {
  readonly number: number
  readonly lastSeq: number
  /** The row of the latest job; the only one that can be live. */
  readonly latest: Row | null
}

/** An append under way. `changed` is the row of the job it changes. */
interface Member {
  readonly connection: SqliteConnection
  readonly append: Append
  readonly head: Head | null
  readonly changed: Row | null
}

/** So many keys a conversation has, for its entries and for its jobs. */
const keysOfConversation = 1_048_576

/** Stores one append, or says why not. Throws `STORE_UNAVAILABLE` before anything is written where the conversation is full. */
export function storeAppend(connection: SqliteConnection, append: Append, texts: readonly string[]): AppendResult {
  const row = connection.get(logSql.readHead, append.database, append.conversation)
  const head = row === null ? null : headOf(row, append)
  const changed = append.job === undefined ? null : findJob({ connection, append, head }, append.job.id)
  const member = { connection, append, head, changed }
  const reason = refusal(member)
  return reason === null ? write(member, texts) : refused(member, reason)
}

function headOf(row: Row, { database, conversation }: Append): Head {
  if (row.key !== null) {
    row.database = database
    row.conversation = conversation
  }
  return { number: row.number as number, lastSeq: row.last_seq as number, latest: row.key === null ? null : row }
}

/** A job of this conversation; nearly always the latest. */
function findJob({ connection, append, head }: Omit<Member, 'changed'>, id: string): Row | null {
  if (head?.latest?.id === id) return head.latest
  const row = connection.get(jobSql.getJob, append.database, id)
  return row?.conversation === append.conversation ? row : null
}

const isLive = (row: Row | null | undefined): boolean => row?.ended_at === null

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
  return job.kind === 'rest' && changed?.wake === 1 ? 'woken' : null
}

/** An interruption may be opened and settled in one append. */
function isOpen({ connection, append }: Member, { id }: Settlement): boolean {
  const row = connection.get(interruptionSql.interruptionState, append.database, id)
  return (row?.state ?? append.open?.find(({ view }) => view.id === id)?.view.state) === 'open'
}

function refused(member: Member, reason: Refusal): AppendResult {
  const { connection, append, head } = member
  if (reason === 'active') return { ok: false, reason, job: jobOrNull(head?.latest ?? null) }
  const id = append.fence?.job ?? append.job?.id
  const job = id === undefined ? null : findJob(member, id)
  if (reason === 'woken' && job !== null) {
    connection.run(jobSql.wakeJob, job.key as number, 0)
    job.wake = 0
  }
  return { ok: false, reason, job: jobOrNull(job) }
}

function jobOrNull(row: Row | null) {
  return row === null ? null : jobOf(row)
}

function write(member: Member, texts: readonly string[]): AppendResult {
  const { connection, append } = member
  const before = member.head?.lastSeq ?? 0
  const lastSeq = before + texts.length
  if (lastSeq >= keysOfConversation) throw fullError(append.conversation)
  const head = member.head ?? createConversation(connection, newRow(append))
  let key = head.number * keysOfConversation + before
  for (const text of texts) connection.run(logSql.insertEntry, ++key, text)
  if (append.messageAt !== undefined && member.head !== null) {
    connection.run(logSql.setLastMessageAt, head.number, append.messageAt)
  }
  if (append.open !== undefined || append.settle !== undefined) writeInterruptions(connection, append, head.number)
  const job = append.job === undefined ? null : changeJob(append.job, { ...member, head })
  return { ok: true, before, lastSeq, job: jobOrNull(job) }
}

function newRow(append: Append): ConversationRow {
  const row = append.create as ConversationRow
  return { ...row, lastMessageAt: append.messageAt ?? row.lastMessageAt }
}

function createConversation({ nextConversation, run }: SqliteConnection, row: ConversationRow): Head {
  const { database, id, agent, createdBy, createdAt, lastMessageAt, parameters, maxModelIterationsPerCall } = row
  const number = nextConversation()
  const given = [database, id, agent, createdBy, createdAt, lastMessageAt]
  run(logSql.insertConversation, number, ...given, jsonText(parameters), maxModelIterationsPerCall)
  return { number, lastSeq: 0, latest: null }
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

/** Writes the change of a job and returns its row after it. */
function changeJob(change: JobChange, member: Member & { readonly head: Head }): Row {
  if (change.kind === 'create') return createJob(change, member)
  const { run } = member.connection
  const row = member.changed as Row
  const key = row.key as number
  if (change.kind === 'rest') {
    const ended = change.status === 'waiting' ? null : change.at
    const result = jsonText(change.result)
    run(jobSql.restJob, key, change.status, ended, result)
    return { ...row, status: change.status, owner: null, ended_at: ended, result }
  }
  if (row.owner !== null) {
    if (row.wake === 0) run(jobSql.wakeJob, key, 1)
    return { ...row, wake: 1 }
  }
  const { owner, leaseUntil } = change
  const epoch = (row.epoch as number) + 1
  run(jobSql.takeJob, key, owner, epoch, leaseUntil, row.wake as number, 1)
  return { ...row, status: 'running', owner, lease_until: leaseUntil, epoch, attempts: 1 }
}

function createJob(change: JobChange & { kind: 'create' }, member: Member & { readonly head: Head }): Row {
  const { connection, head, append } = member
  const { id, owner, leaseUntil, startedAt } = change
  const { database, conversation } = append
  const key = (head.latest === null ? head.number * keysOfConversation : (head.latest.key as number)) + 1
  const seq = head.lastSeq + 1
  connection.run(jobSql.insertJob, key, database, id, owner, leaseUntil, startedAt, seq)
  const fresh = { status: 'running', epoch: 1, wake: 0, attempts: 1, ended_at: null, result: null }
  const given = { owner, lease_until: leaseUntil, started_at: startedAt, first_seq: seq }
  return { key, id, database, conversation, ...fresh, ...given }
}

function fullError(conversation: string): WitanError {
  const detail = `Conversation \`${conversation}\` is full: it has ${keysOfConversation - 1} entries.`
  return new WitanError('STORE_UNAVAILABLE', detail, { hint: 'Go on in a new conversation.' })
}
