/** One group of appends to one database: read under lock, decided here, written and committed in two round trips. */
import { faultPoint } from '../../../identity/fault-point.ts'
import { readSql } from '../../sql/postgres/append.ts'
import type { AppendResult } from '../../store.ts'
import type { Transaction } from './connection.ts'
import { inDoubt } from './error.ts'
import type { Query, Row } from './statements.ts'
import { conclude, type PostgresSession } from './session.ts'
import { restored, stored } from './text.ts'
import { apply, createDesk, type Desk, expired, type GroupMember, layOut } from './working.ts'
import { type Evidence, evidenceOf, writesOf } from './writing.ts'

/** A group to be stored; `markId` is unique to it. */
export interface Group {
  readonly database: string
  readonly members: readonly GroupMember[]
  readonly markId: string
}

/** What an attempt wrote of which nobody knows whether it was committed. */
interface Untold {
  readonly results: readonly AppendResult[]
  readonly evidence: Evidence
}

/**
 * Stores a group: what became of each member, in order. Where a connection is lost on the way it looks, under the same locks,
 * whether that was before the commit or after, and tells of it or does it again. Throws `STORE_UNAVAILABLE`.
 */
export function storeGroup(session: PostgresSession, group: Group): Promise<readonly AppendResult[]> {
  let untold: Untold | null = null
  const place = { database: stored(group.database) }
  const work = session.work(() =>
    session.connection.transaction(place, async (transaction) => {
      const read = await readGroup(transaction, group, untold?.evidence ?? null)
      if (untold !== null && read.isStored) return untold.results
      untold = null
      const { desk } = read
      await readMore(transaction, desk, group)
      const results = group.members.map((member) => apply(desk, member))
      const writes = writesOf(desk)
      if (writes.length === 0) return results
      const { evidence, writes: marks } = evidenceOf(desk, group.markId)
      untold = { results, evidence }
      faultPoint('committing')
      await conclude(transaction.commit([...writes, ...marks]), () => {
        untold = null
      })
      return results
    }),
  )
  return work.catch((error: unknown) => {
    throw untold === null ? error : inDoubt(error)
  })
}

/** Everything that is nearly always all. Conversations are locked before jobs, as everybody does. */
async function readGroup(transaction: Transaction, { database, members }: Group, evidence: Evidence | null) {
  const names = namesOf(members)
  const at = stored(database)
  const queries: Query[] = [[readSql.lockConversations, at, names.conversations]]
  if (names.runsIn.length > 0) queries.push([readSql.lockJobs, at, names.jobs, names.runsIn])
  else queries.push([readSql.lockNamedJobs, at, names.jobs])
  const add = (query: Query) => queries.push(query) - 1
  const interruptionsAt =
    names.interruptions.length > 0 ? add([readSql.lockInterruptions, at, names.interruptions]) : -1
  const repliesAt = names.keys.length > 0 ? add([readSql.lockReplies, at, names.keys]) : -1
  if (evidence !== null) queries.push(evidenceQuery(at, evidence))
  const rows = await transaction.send(queries)
  const [conversations = [], jobs = []] = rows
  const desk = createDesk(database, transaction.now())
  layOut(desk, { conversations, jobs, interruptions: rows[interruptionsAt] ?? [], replies: rows[repliesAt] ?? [] })
  return { desk, isStored: evidence !== null && isEvident(evidence, rows.at(-1) ?? []) }
}

function evidenceQuery(database: string, evidence: Evidence): Query {
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
  /** Keys of replies at which somebody leaves a note. */
  readonly keys: readonly string[]
  /** Conversations in which somebody begins a run. */
  readonly runsIn: readonly string[]
}

function namesOf(members: readonly GroupMember[]): Names {
  const conversations = new Set<string>()
  const jobs = new Set<string>()
  const interruptions = new Set<string>()
  const keys = new Set<string>()
  const runsIn = new Set<string>()
  for (const { append } of members) {
    conversations.add(append.conversation)
    if (append.fence !== undefined) jobs.add(append.fence.job)
    for (const change of append.jobs ?? []) {
      jobs.add(change.id)
      if (change.kind === 'create' && change.job === 'run') runsIn.add(append.conversation)
    }
    for (const { id } of append.settle ?? []) interruptions.add(id)
    if (append.note !== undefined) keys.add(append.note.key)
  }
  const list = (names: ReadonlySet<string>) => [...names].map(stored)
  return {
    conversations: list(conversations),
    jobs: list(jobs),
    interruptions: list(interruptions),
    keys: list(keys),
    runsIn: list(runsIn),
  }
}

/** What is seldom needed: what keeps conversations whose time is over, and parameters that somebody hides. */
async function readMore(transaction: Transaction, desk: Desk, { database, members }: Group): Promise<void> {
  const at = stored(database)
  const over = expired(desk)
  const hiding = members.filter(({ append }) => append.hide !== undefined).map(({ append }) => append.conversation)
  if (over.length + hiding.length === 0) return
  const [keepers = [], parameters = []] = await transaction.send([
    [readSql.readKeepers, at, over.map(stored)],
    [readSql.readParameters, at, hiding.map(stored)],
  ])
  for (const { id, live, open } of keepers) {
    const conversation = desk.conversations.get(restored(id as string))
    if (conversation === undefined) continue
    conversation.live = live as number
    for (const one of (open ?? []) as string[]) conversation.open.add(restored(one))
  }
  for (const { id, parameters: text } of parameters) {
    const conversation = desk.conversations.get(restored(id as string))
    if (conversation !== undefined) conversation.parameters = JSON.parse(text as string)
  }
}
