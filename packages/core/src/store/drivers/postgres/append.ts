/** One group of appends to one database: read under lock, decided here, written and committed in two round trips. */
import { faultPoint } from '../../../identity/fault-point.ts'
import { pause } from '../../../identity/turn.ts'
import { readSql } from '../../sql/postgres/append.ts'
import { contentSql } from '../../sql/postgres/contents.ts'
import { entryOf, isSameEntry } from '../../entry-text.ts'
import type { AppendResult } from '../../store.ts'
import type { Transaction } from './connection.ts'
import { inDoubt } from './error.ts'
import type { Statement, Row } from './statements.ts'
import { conclude, type PostgresSession } from './session.ts'
import { restored, stored } from './text.ts'
import { apply, createBatch, type Batch, expired, type GroupMember, layOut } from './working.ts'
import { type Evidence, evidenceOf, writesOf } from './writing.ts'

/** A group to store; `markId` is unique to it. */
interface Group {
  readonly database: string
  readonly members: readonly GroupMember[]
  readonly markId: string
}

/** The result of each member, in order, and the expired conversations that were replaced. */
interface StoredGroup {
  readonly results: readonly AppendResult[]
  readonly replaced: ReadonlySet<string>
  /** Whether it used something, which waits to be added to the sums. */
  readonly hasUsage: boolean
}

/** What an attempt wrote whose commit got no reply. It may be stored. */
interface Unreported extends StoredGroup {
  readonly evidence: Evidence
}

/**
 * Stores a group. If the connection is lost, it checks under the same locks whether the commit happened, and reports the stored
 * result or tries again. Throws `STORE_UNAVAILABLE`.
 */
export function storeGroup(session: PostgresSession, group: Group): Promise<StoredGroup> {
  let unreported: Unreported | null = null
  const work = session.transaction(stored(group.database), async (transaction) => {
    const read = await readGroup(transaction, group, unreported?.evidence ?? null)
    if (unreported !== null && read.isStored) return unreported
    unreported = null
    const { batch } = read
    await readMore(transaction, batch, group)
    await readFollowed(transaction, batch, group)
    const results = group.members.map((member) => apply(batch, member))
    const done: StoredGroup = { results, replaced: batch.purged, hasUsage: batch.usage.conversations > 0 }
    const last = await sendAllButLast(transaction, writesOf(batch))
    if (last.length === 0) return done
    const { evidence, writes: marks } = evidenceOf(batch, group.markId)
    unreported = { ...done, evidence }
    faultPoint('committing')
    await conclude(transaction.commit([...last, ...marks]), () => {
      unreported = null
    })
    return done
  })
  return work.catch((error: unknown) => {
    throw unreported === null ? error : inDoubt(error)
  })
}

/** Sends pieces, each in a turn of its own, up to the last one, which it returns. */
async function sendAllButLast(
  { send }: Transaction,
  pieces: Iterable<readonly Statement[]>,
): Promise<readonly Statement[]> {
  let last: readonly Statement[] = []
  for (const piece of pieces) {
    if (last.length > 0) {
      faultPoint('committing')
      await send(last)
      await pause()
    }
    last = piece
  }
  return last
}

/** Reads what nearly every append needs. Principals are locked before conversations, and these before jobs, as in every transaction. */
async function readGroup(transaction: Transaction, { database, members }: Group, evidence: Evidence | null) {
  const names = namesOf(members)
  const at = stored(database)
  const limited = [...names.limits.keys()]
  const locks: Statement[] = limited.length > 0 ? [[readSql.lockPrincipals, at, limited]] : []
  const queries: Statement[] = [[readSql.lockConversations, at, names.conversations]]
  if (names.runsIn.length > 0) queries.push([readSql.lockJobs, at, names.jobs, names.runsIn])
  else queries.push([readSql.lockNamedJobs, at, names.jobs])
  const add = (query: Statement) => queries.push(query) - 1
  const interruptionsAt =
    names.interruptions.length > 0 ? add([readSql.lockInterruptions, at, names.interruptions]) : -1
  const repliesAt = names.keys.length > 0 ? add([readSql.lockReplies, at, names.keys]) : -1
  const principalsAt = limited.length > 0 ? add([readSql.countLiveRuns, at, limited, [...names.limits.values()]]) : -1
  if (evidence !== null) queries.push(evidenceQuery(at, evidence))
  const rows = (await transaction.send([...locks, ...queries])).slice(locks.length)
  const [conversations = [], jobs = []] = rows
  const batch = createBatch(database, transaction.now())
  const [interruptions = [], replies = [], principals = []] = [interruptionsAt, repliesAt, principalsAt].map(
    (n) => rows[n],
  )
  layOut(batch, { conversations, jobs, interruptions, replies, principals })
  return { batch, isStored: evidence !== null && isEvident(evidence, rows.at(-1) ?? []) }
}

/** Finds the members whose writer decided in another history on what the log no longer has. Nearly always there is nothing to read. */
async function readFollowed(transaction: Transaction, batch: Batch, { database, members }: Group): Promise<void> {
  const history = transaction.history()
  const followed = members.flatMap(({ append }) => {
    const { follows } = append
    if (follows === undefined || follows.history === history) return []
    if (follows.entry !== null) return [{ append, entry: follows.entry }]
    batch.astray.add(append)
    return []
  })
  if (followed.length === 0) return
  const conversations = followed.map(({ append }) => stored(append.conversation))
  const seqs = followed.map(({ entry }) => entry.seq)
  const [rows = []] = await transaction.send([[readSql.readFollowed, stored(database), conversations, seqs]])
  const found = new Map(rows.map(({ conversation, seq, text }) => [`${seq} ${conversation}`, text as string]))
  for (const [index, { append, entry }] of followed.entries()) {
    const text = found.get(`${entry.seq} ${conversations[index]}`)
    if (text === undefined || !isSameEntry(entryOf(text, entry.seq, append.conversation), entry))
      batch.astray.add(append)
  }
}

function evidenceQuery(database: string, evidence: Evidence): Statement {
  return evidence.kind === 'mark'
    ? [readSql.readMark, database, evidence.id]
    : [readSql.readEvidence, database, stored(evidence.conversation), evidence.seq]
}

function isEvident(evidence: Evidence, rows: readonly Row[]): boolean {
  return evidence.kind === 'mark' ? rows.length > 0 : rows[0]?.text === evidence.text
}

interface Names {
  readonly conversations: readonly string[]
  readonly jobs: readonly string[]
  readonly interruptions: readonly string[]
  /** Keys of replies that get a note. */
  readonly keys: readonly string[]
  /** Conversations in which a run begins. */
  readonly runsIn: readonly string[]
  /** Principals whose runs are limited, and how many of them are counted. */
  readonly limits: ReadonlyMap<string, number>
}

function namesOf(members: readonly GroupMember[]): Names {
  const conversations = new Set<string>()
  const jobs = new Set<string>()
  const interruptions = new Set<string>()
  const keys = new Set<string>()
  const runsIn = new Set<string>()
  const limits = new Map<string, number>()
  for (const { append } of members) {
    conversations.add(append.conversation)
    if (append.fence !== undefined) jobs.add(append.fence.job)
    for (const change of append.jobs ?? []) {
      jobs.add(change.id)
      if (change.kind === 'create' && change.job === 'run') runsIn.add(append.conversation)
    }
    for (const { id } of append.settle ?? []) interruptions.add(id)
    if (append.note !== undefined) keys.add(append.note.key)
    if (append.runLimit !== undefined) {
      const principal = stored(append.runLimit.createdBy)
      limits.set(principal, Math.max(append.runLimit.most, limits.get(principal) ?? 0))
    }
  }
  const list = (names: ReadonlySet<string>) => [...names].map(stored)
  return {
    conversations: list(conversations),
    jobs: list(jobs),
    interruptions: list(interruptions),
    keys: list(keys),
    runsIn: list(runsIn),
    limits,
  }
}

/** Reads what is seldom needed: what keeps expired conversations, parameters to hide, and content that is referred to. */
async function readMore(transaction: Transaction, batch: Batch, { database, members }: Group): Promise<void> {
  const at = stored(database)
  const over = expired(batch)
  const hiding = members.filter(({ append }) => append.hide !== undefined).map(({ append }) => append.conversation)
  const digests = members.flatMap(({ append }) => append.contents?.map(({ digest }) => stored(digest)) ?? [])
  if (over.length + hiding.length + digests.length === 0) return
  const [keepers = [], parameters = [], contents = []] = await transaction.send([
    [readSql.readKeepers, at, over.map(stored)],
    [readSql.readParameters, at, hiding.map(stored)],
    ...(digests.length === 0 ? [] : [[contentSql.lockContents, at, digests] as const]),
  ])
  for (const { digest } of contents) batch.contents.add(restored(digest as string))
  for (const { id, live, open } of keepers) {
    const conversation = batch.conversations.get(restored(id as string))
    if (conversation === undefined) continue
    conversation.live = live as number
    for (const one of (open ?? []) as string[]) conversation.open.add(restored(one))
  }
  for (const { id, parameters: text } of parameters) {
    const conversation = batch.conversations.get(restored(id as string))
    if (conversation !== undefined) conversation.parameters = JSON.parse(text as string)
  }
}
