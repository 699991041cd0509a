/** One append inside a transaction: all checks read first, then everything is written. */
import { WitanError } from '@witan/protocol'
import { channelOf } from '../../identity/channel.ts'
import { hide } from '../hide.ts'
import { decideAppend, type Planned, type StoredState } from '../refusal.ts'
import { contentSql } from '../sql/contents.ts'
import { interruptionSql } from '../sql/interruptions.ts'
import { jobSql } from '../sql/jobs.ts'
import { logSql } from '../sql/log.ts'
import { replySql } from '../sql/replies.ts'
import type { Append, AppendResult, ConversationRow, InterruptionRow, JobRow } from '../store.ts'
import { insertArtifacts } from './sqlite-artifact-rows.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { useContents } from './sqlite-content-rows.ts'
import { setParticipants } from './sqlite-participant-rows.ts'
import { firstRunKey, nextKey, startJob, takeJob } from './sqlite-job-rows.ts'
import { removeConversation } from './sqlite-unlinked.ts'
import type { WaitingUsage } from './sqlite-usage-rows.ts'
import { jobOf, jsonText, optionalText, type StoredJob, storedJob } from './sqlite-rows.ts'

/** The heads that earlier appends left, by channel, those of the latest appends last, until a run rests. Nothing else was written since. */
type Heads = Map<string, Head>

/** The state of the conversation before the append. */
interface Head {
  readonly number: number
  readonly lastSeq: number
  readonly expiresAt: number | null
  /** The latest run; the only one that can be live. */
  readonly latest: StoredJob | null
}

/** How many heads are kept. Without one, an append reads it. */
const mostHeads = 1024

/** What is cached between writes. */
export interface WriteCache {
  readonly heads: Heads
  readonly usage: WaitingUsage
  /** The numbers of conversations that are being written in several transactions. */
  readonly drafts: Set<number>
}

/** Where and when an append is stored. */
export interface AppendPlace extends Pick<WriteCache, 'heads' | 'usage'> {
  readonly connection: SqliteConnection
  readonly now: number
  /** The number of the new conversation, and how many entries are stored under it already. Default: the next number, and none. */
  readonly written?: Written
}

/** Entries that are stored and belong to no conversation yet. */
interface Written {
  readonly number: number
  readonly entries: number
}

/** An append under way. */
interface Member {
  readonly connection: SqliteConnection
  readonly usage: WaitingUsage
  readonly append: Append
  readonly head: Head | null
  /** The number of an expired conversation of this id, which is deleted when a new one is created. */
  readonly over: number | null
  readonly written: Written | null
}

/** How many entry keys a conversation has. */
export const keysOfConversation = 1_048_576

/** Stores one append, or returns the refusal. Throws `STORE_UNAVAILABLE`, before anything is written, if the conversation is full. */
export function storeAppend(at: AppendPlace, append: Append, texts: readonly string[]): AppendResult {
  const { connection, heads } = at
  const channel = channelOf(append.database, append.conversation)
  const member = memberOf(at, append)
  const decision = decideAppend(standingOf(member), append, at.now)
  heads.delete(channel)
  if (decision.ok) {
    const { result, head } = write(member, texts, decision.jobs)
    if (head !== null) heads.set(channel, head)
    if (heads.size > mostHeads) heads.delete(heads.keys().next().value as string)
    return result
  }
  const { reason, job } = decision
  if (job === null) return { ok: false, reason, job }
  if (reason !== 'woken' || job.owner === null) return { ok: false, reason, job: jobOf(job, append) }
  connection.run(jobSql.wakeJob, job.key, 0)
  return { ok: false, reason, job: { ...jobOf(job, append), wake: false } }
}

/** The refusal of an append without jobs, before anything of it is written; null if it may be stored. */
export function refusalOf(at: AppendPlace, append: Append): AppendResult | null {
  const decision = decideAppend(standingOf(memberOf(at, append)), append, at.now)
  return decision.ok ? null : { ok: false, reason: decision.reason, job: null }
}

function memberOf(at: AppendPlace, append: Append): Member {
  const { connection, heads, usage, written = null } = at
  const known = heads.get(channelOf(append.database, append.conversation))
  const place = known === undefined || isPast(known, at.now) ? readHead(at, append) : { head: known, over: null }
  return { connection, usage, append, written, ...place }
}

function readHead({ connection, now }: AppendPlace, { database, conversation }: Append): Pick<Member, 'head' | 'over'> {
  const row = connection.tuple(logSql.readHead, database, conversation, now)
  if (row === null) return { head: null, over: null }
  const number = row[0] as number
  if (row.at(-1) === 1) return { head: null, over: number }
  const [, lastSeq, expiresAt] = row as [number, number, number | null]
  return { head: { number, lastSeq, expiresAt, latest: headOf(storedJob(row, 3)) }, over: null }
}

/** A run as a head keeps it: its texts, which may be long, only while it is live. */
function headOf(run: StoredJob | null): StoredJob | null {
  return run === null || run.endedAt === null ? run : { ...run, about: null, result: null }
}

/** Whether its conversation may have expired, which only a look at all its rows decides. */
function isPast({ expiresAt }: Head, now: number): boolean {
  return expiresAt !== null && expiresAt <= now
}

function standingOf(member: Member): StoredState<StoredJob> {
  const { connection, append, head, over } = member
  const latest = head?.latest ?? null
  return {
    lastSeq: head?.lastSeq ?? null,
    run: () => (latest?.endedAt === null ? latest : null),
    job: (id) => (latest?.id === id && latest.endedAt === null ? latest : findJob(member, id)),
    isTaken(id) {
      const row = connection.tuple(jobSql.conversationOfJob, append.database, id)
      return row !== null && row[0] !== over
    },
    isOpen(id) {
      const row = connection.tuple(interruptionSql.interruptionState, append.database, id)
      return row !== null && row[0] === head?.number && row[1] === 'open'
    },
    isHeld: ({ key, at }) => connection.tuple(replySql.heldReply, append.database, key, at) !== null,
    hasContent: (digest) => (connection.get(contentSql.findContent, append.database, digest)?.parts ?? null) !== null,
    liveRuns: ({ createdBy, most }) =>
      connection.get(jobSql.countLiveRunsOf, append.database, createdBy, most)?.count as number,
  }
}

/** A job of this conversation that is not its latest run. */
function findJob({ connection, append, head }: Member, id: string): StoredJob | null {
  if (head === null) return null
  const row = connection.tuple(jobSql.getJob, append.database, id)
  return row?.at(-1) === append.conversation ? storedJob(row) : null
}

function write(
  member: Member,
  texts: readonly string[],
  planned: readonly Planned<StoredJob>[],
): { readonly result: AppendResult & { readonly ok: true }; readonly head: Head | null } {
  const { connection, append, written } = member
  const before = member.head?.lastSeq ?? 0
  const lastSeq = (written?.entries ?? before) + texts.length
  if (lastSeq >= keysOfConversation) throw fullError(append.conversation)
  if (member.over !== null) removeConversation(connection, member.usage, member.over)
  const number = member.head?.number ?? createConversation(connection, newRow(append), written?.number)
  let key = number * keysOfConversation + before
  for (const text of texts) connection.run(logSql.insertEntry, ++key, text)
  if (append.messageAt !== undefined && member.head !== null) {
    connection.run(logSql.setLastMessageAt, number, append.messageAt)
  }
  if (append.hide !== undefined) hideParameters(connection, append.hide, { number, before })
  if (append.open !== undefined) for (const row of append.open) insertInterruption(connection, row, number)
  if (append.settle !== undefined) settle(connection, append)
  const { database, note } = append
  const at = { database, number, before }
  if (append.contents !== undefined) useContents(connection, append.contents, at)
  if (append.participants !== undefined) setParticipants(connection, append.participants, at)
  if (written === null) insertArtifacts(connection, append.entries, at)
  if (append.usedBy !== undefined)
    member.usage.note(connection, append.entries, { ...at, conversation: append.conversation, user: append.usedBy })
  if (note !== undefined && note.text !== null) connection.run(replySql.noteReply, database, note.key, note.text)
  const rows: JobRow[] = []
  let head: Head | null = {
    ...(member.head ?? { expiresAt: append.create?.expiresAt ?? null, latest: null }),
    ...{ number, lastSeq },
  }
  for (const one of planned) {
    const { row, stored } = changeJob(connection, one, { ...member, number })
    rows.push(row)
    if (row.kind === 'run' && head !== null) head = stored === null ? null : { ...head, latest: stored }
  }
  return { result: { ok: true, before, lastSeq, jobs: rows }, head }
}

function newRow(append: Append): ConversationRow {
  const row = append.create as ConversationRow
  return { ...row, lastMessageAt: append.messageAt ?? row.lastMessageAt }
}

/** Creates a conversation and returns its number. It has the rows that are stored under that number. */
export function createConversation(
  { nextConversation, run }: SqliteConnection,
  row: ConversationRow,
  number = nextConversation(),
): number {
  const { database, id, agent, createdBy, createdAt, lastMessageAt, parameters } = row
  const given = [database, id, agent, createdBy, createdAt, lastMessageAt]
  run(logSql.insertConversation, number, ...given, jsonText(parameters), row.maxModelIterationsPerCall, row.expiresAt)
  return number
}

function hideParameters(
  { get, run }: SqliteConnection,
  names: readonly string[],
  { number, before }: { readonly number: number; readonly before: number },
): void {
  const text = get(logSql.readParameters, number)?.parameters
  run(logSql.setParameters, number, jsonText(hide(JSON.parse(text as string), names, before)))
}

/** Adds an interruption to the conversation with this number. */
export function insertInterruption({ run }: SqliteConnection, row: InterruptionRow, number: number): void {
  const { database, view, job, call, bound, terms, answer, answeredBy, createdAt, expiresAt, settledAt } = row
  const texts = [jsonText(view), jsonText(bound), optionalText(terms), jsonText(answer)]
  const names = [database, view.id, number, job, call, view.addressee, view.state]
  run(interruptionSql.insertInterruption, ...names, ...texts, answeredBy, createdAt, expiresAt, settledAt)
}

function settle({ run }: SqliteConnection, { database, settle = [] }: Append): void {
  for (const { id, state, answer, by, at } of settle) {
    run(interruptionSql.settleInterruption, database, id, state, jsonText(answer), by, at)
  }
}

/** Writes the change of a job. Returns the job after it, and as a head keeps it: null if the next append has to read it. */
function changeJob(
  connection: SqliteConnection,
  planned: Planned<StoredJob>,
  { append, head, number }: Member & { readonly number: number },
): { readonly row: JobRow; readonly stored: StoredJob | null } {
  const { database, conversation } = append
  if (planned.before === null) {
    const { change, after } = planned
    const job = { ...after, database, conversation, about: change.about, result: null }
    const key = keyOfNew(connection, job, { head, number })
    startJob(connection, job, key)
    return { row: job, stored: { ...after, key, about: optionalText(change.about), result: null } }
  }
  const { change, before, after } = planned
  if (change.kind === 'rest') {
    const { result } = change
    connection.run(jobSql.restJob, before.key, after.status, after.endedAt, jsonText(result), after.changedAt)
    // The next write may be a person's answer or another run, in an hour or never: do not use the memory until then.
    return { row: { ...jobOf(after, append), result }, stored: null }
  }
  if (change.kind === 'progress' || after.owner !== before.owner) takeJob(connection, after)
  else if (!before.wake) connection.run(jobSql.wakeJob, before.key, 1)
  if (after.changedAt !== before.changedAt) connection.run(jobSql.moveJob, before.key, after.changedAt)
  return { row: jobOf(after, append), stored: after }
}

/** The first run of a new conversation, and the run after one that was read, need no query. */
function keyOfNew(
  connection: SqliteConnection,
  { kind }: JobRow,
  { head, number }: Pick<Member, 'head'> & { readonly number: number },
): number {
  if (kind === 'run' && head === null) return firstRunKey(number)
  if (kind === 'run' && head?.latest != null) return head.latest.key + 1
  return nextKey(connection, number, kind)
}

/** The error for an append that would make a log longer than one can be. */
export function fullError(conversation: string): WitanError {
  const detail = `Conversation \`${conversation}\` is full: it has ${keysOfConversation - 1} entries.`
  return new WitanError('STORE_UNAVAILABLE', detail, { hint: 'Go on in a new conversation.' })
}
