/** Export and import of conversations, and the list of databases. */
import { faultPoint } from '../../../identity/fault-point.ts'
import { runWithPauses } from '../../../identity/pausable.ts'
import { pause } from '../../../identity/turn.ts'
import { usesInLog } from '../../block-uses.ts'
import { entryOf, entryText } from '../../entry-text.ts'
import { piecesOf } from '../../pieces.ts'
import { readSql } from '../../sql/postgres/append.ts'
import { contentSql } from '../../sql/postgres/contents.ts'
import { interruptionSql, listInterruptions } from '../../sql/postgres/interruptions.ts'
import { jobSql } from '../../sql/postgres/jobs.ts'
import { logSql } from '../../sql/postgres/log.ts'
import { participantSql } from '../../sql/postgres/participants.ts'
import { collectedIfThere, rowsOf } from '../../open-snapshot.ts'
import type { Addition } from '../../record.ts'
import { aboutText, resultText } from '../../result-text.ts'
import { readBound } from '../../../identity/row-page.ts'
import type { ConversationSnapshot, JobRow, OpenSnapshot, Store } from '../../store.ts'
import { artifactRows } from '../../artifact-records.ts'
import { arriving, trialConversation } from '../../snapshot.ts'
import { usageOfSnapshot } from '../../usage-count.ts'
import type { UsageRow } from '../../usage-records.ts'
import type { Transaction } from './connection.ts'
import { insertArtifacts } from './artifacts.ts'
import { insertUses } from './blocks.ts'
import { putContent, readContent, useContents } from './contents.ts'
import { boundedQuery } from './some.ts'
import type { Row, Statement } from './statements.ts'
import { newMark } from './ids.ts'
import type { Notifications } from './notify.ts'
import { participantRow, setParticipants } from './participants.ts'
import { additionsTo } from './records.ts'
import { conversationRow, interruptionRow, jobRow, type StoredJob } from './rows.ts'
import { conclude, type PostgresSession } from './session.ts'
import { jsonText, restored, stored } from './text.ts'
import { addUsage } from './usage.ts'
import {
  confirmation,
  deletesOf,
  insertEntries,
  insertInterruptions,
  insertJobs,
  lengthOf,
  noText,
  writesOf,
} from './writing.ts'
import { arrive, createBatch } from './working.ts'

type SnapshotMethods = Pick<
  Store,
  'listDatabases' | 'openSnapshot' | 'readSnapshot' | 'putSnapshot' | 'checkWritable' | 'confirmStored'
>

const snapshotMs = 60_000

/** The time limit of a trial write, retries included. */
const trialMs = { reply: 3_000, retry: 1_000 }

/** The methods of a store for export and import, and the check that it is writable. */
export function snapshotMethods(session: PostgresSession, notifications: Notifications): SnapshotMethods {
  return {
    async listDatabases() {
      const [rows = []] = await session.writeAsWorker([logSql.listDatabases])
      return rows.map(({ database }) => restored(database as string)).sort()
    },
    openSnapshot: (database, id) => openSnapshot(session, database, id),
    readSnapshot: async (database, id) => collectedIfThere(await openSnapshot(session, database, id)),
    async putSnapshot(database, snapshot, beside = []) {
      const isPut = await putSnapshot(session, { database, beside }, await arriving(database, snapshot))
      if (!isPut) return false
      const at = { database, conversation: snapshot.row.id }
      notifications.gone(at)
      notifications.appended({ ...at, lastSeq: snapshot.row.lastSeq })
      notifications.due()
      return true
    },
    checkWritable: () => checkWritable(session),
    confirmStored: (database) => confirmStored(session, stored(database)),
  }
}

/** Runs the trial write in one transaction that no other transaction sees. */
async function checkWritable(session: PostgresSession): Promise<void> {
  const database = 'default'
  const id = `trial/${newMark()}`
  const trial = trialConversation(database, id, session.clock.now())
  const queries: Statement[] = [
    ...statementsOf(database, trial, await usageRows({ ...trial, id })),
    ...deletesOf(database, [id]),
  ]
  const options = { pool: 'write', replyMs: trialMs.reply } as const
  await session.work(() => session.connection.run({ database }, queries, options), { patienceMs: trialMs.retry })
}

/** A commit that waits for disk and standby: what was committed before it is then as durable. */
async function confirmStored(session: PostgresSession, database: string): Promise<void> {
  await session.transaction(database, ({ commit }) => commit(confirmation(database, session.clock.now())))
}

type Rows = readonly Row[]

/** How many rows are read with the head: all of most conversations. */
const firstRows = 200
const long = { entries: ['text'], jobs: ['about', 'result'], interruptions: ['view', 'bound', 'terms', 'answer'] }

/** Reads at one time what may change later, the keys of the rest, and its first rows. */
async function openSnapshot(session: PostgresSession, database: string, id: string): Promise<OpenSnapshot | null> {
  const at = [stored(database), stored(id)] as const
  const read = (queries: readonly Statement[]) =>
    session.work(() => session.connection.run({ database: at[0] }, queries, { snapshot: true, replyMs: snapshotMs }), {
      mayBeLong: true,
    })
  const after = queriesOf(at)
  const [places = [], rows = [], entries = [], jobs = [], interruptions = [], ...rest] = await read([
    [logSql.conversationPlace, ...at],
    [logSql.getConversation, ...at],
    after.entries(0, firstRows),
    after.jobs(0, firstRows),
    after.interruptions(0, firstRows),
    [jobSql.numbersOf, ...at],
    [jobSql.listLiveJobs, ...at],
    [interruptionSql.numbersOf, ...at],
    [interruptionSql.openOf, ...at],
    [contentSql.digestsOf, ...at],
    [participantSql.listParticipants, ...at, -1, null],
  ])
  const [row] = rows
  if (row === undefined) return null
  const [jobNumbers = [], live = [], interruptionNumbers = [], open = [], digests = [], people = []] = rest
  /** The rows of a query if the conversation is still this one. */
  const here = async (query: Statement): Promise<Rows | null> => {
    const [found = [], page = []] = await read([[logSql.conversationPlace, ...at], query])
    return found[0]?.number === places[0]?.number ? page : null
  }
  const part = <Made>(
    { count, first = [] }: { readonly count: number; readonly first?: Rows },
    query: (from: number, limit: number) => Statement,
    make: (row: Row) => Made,
  ) =>
    rowsOf(id, count, async (from, to) => {
      const page = from < first.length ? first.slice(from) : await here(query(from, to - from))
      return page?.map(make) ?? null
    })
  const before = (numbers: Rows, from: number) => (numbers[from]?.number as number) - 1
  const [liveJobs, openOnes] = [live, open].map((list) => new Map(list.map((one) => [one.id, one])))
  return {
    row: conversationRow(row),
    participants: people.map(participantRow),
    entries: part({ count: row.last_seq as number, first: entries }, after.entries, ({ text, seq }) =>
      entryOf(text as string, seq as number, id),
    ),
    jobs: part(
      { count: jobNumbers.length, first: jobs },
      (from, limit) => after.jobs(before(jobNumbers, from), limit),
      (one) => jobRow(liveJobs?.get(one.id) ?? one),
    ),
    interruptions: part(
      { count: interruptionNumbers.length, first: interruptions },
      (from, limit) => after.interruptions(before(interruptionNumbers, from), limit),
      (one) => interruptionRow(openOnes?.get(one.id) ?? one),
    ),
    contents: rowsOf(id, digests.length, async (from) => {
      const place: Statement = [logSql.conversationPlace, ...at]
      const [[found = []], content] = await readContent(session, [...at, digests[from]?.digest as string], [place])
      return found[0]?.number === places[0]?.number && content !== null ? [content] : null
    }),
  }
}

/** Pages of the rows of a conversation behind a seq or number. */
function queriesOf(at: readonly [database: string, id: string]) {
  const ofConversation = { state: null, conversation: at[1], addressees: null }
  const { sql, values } = listInterruptions(ofConversation)
  return {
    entries: (after: number, limit: number) =>
      boundedQuery([logSql.readEntries, ...at, after, limit], long.entries, readBound),
    jobs: (after: number, limit: number) => boundedQuery([jobSql.jobsAfter, ...at, after, limit], long.jobs, readBound),
    interruptions: (after: number, limit: number) =>
      boundedQuery([sql, at[0], after, limit, ...values], long.interruptions, readBound),
  }
}

async function usageRows(snapshot: Parameters<typeof usageOfSnapshot>[0]): Promise<readonly UsageRow[]> {
  return runWithPauses((await usageOfSnapshot(snapshot)).rowsInPieces())
}

async function putSnapshot(
  session: PostgresSession,
  { database, beside }: { readonly database: string; readonly beside: readonly Addition[] },
  snapshot: ConversationSnapshot,
): Promise<boolean> {
  const { row } = snapshot
  const used = await usageRows({ ...snapshot, id: row.id })
  const at = stored(database)
  const options = { replyMs: snapshotMs }
  let isUntold = false
  return session.transaction(
    at,
    async (transaction) => {
      const found = await look(transaction, at, snapshot)
      if (isUntold && found.conversation !== null && isSame(found.conversation, row)) return true
      isUntold = false
      if (found.isTaken) return false
      if (found.isOver) await transaction.send(deletesOf(database, [row.id]))
      for (const queries of piecesOf(statementsOf(database, snapshot, used), lengthOf)) {
        faultPoint('committing')
        await transaction.send(queries)
        await pause()
      }
      isUntold = true
      await conclude(transaction.commit(additionsTo(at, beside)), () => {
        isUntold = false
      })
      return true
    },
    options,
  )
}

function isSame(one: ConversationSnapshot['row'], other: ConversationSnapshot['row']): boolean {
  return jsonText(Object.entries(one).sort()) === jsonText(Object.entries(other).sort())
}

/** Checks whether its ids are taken. Expired conversations and their rows do not count. */
async function look({ send }: Transaction, at: string, { row, jobs, interruptions }: ConversationSnapshot) {
  const id = stored(row.id)
  const [, current = [], over = [], takenJobs = [], takenInterruptions = []] = await send([
    [logSql.lockConversation, at, id],
    [logSql.getConversation, at, id],
    [logSql.stillOver, at, [id]],
    [readSql.lockNamedJobs, at, jobs.map((job) => stored(job.id))],
    [readSql.lockInterruptions, at, interruptions.map(({ view }) => stored(view.id))],
  ])
  const isOver = over.length > 0
  const others = [...takenJobs, ...takenInterruptions].filter((one) => !isOver || one.conversation !== id)
  const conversation = current[0] === undefined ? null : conversationRow(current[0])
  return { conversation, isOver, isTaken: conversation !== null || others.length > 0 }
}

function* statementsOf(
  database: string,
  snapshot: ConversationSnapshot,
  used: readonly UsageRow[],
): Generator<Statement> {
  const { row, entries, jobs, interruptions, contents = [], participants = [] } = snapshot
  const batch = createBatch(database, 0)
  arrive(batch, row)
  for (const queries of writesOf(batch)) yield* queries
  const [at, conversation] = [stored(database), row.id]
  yield* insertEntries(at, linesOf(snapshot))
  const artifacts = artifactRows(entries, 0).map((one) => ({ ...one, conversation }))
  for (const rows of piecesOf(artifacts, noText)) yield* insertArtifacts(at, rows)
  for (const rows of piecesOf(used, noText)) yield* addUsage(at, rows)
  for (const rows of piecesOf(storedJobs(jobs), ({ about, result }) => about.length + result.length))
    yield insertJobs(at, rows)
  for (const rows of piecesOf(interruptions, (one) => jsonText(one).length)) yield insertInterruptions(at, rows)
  for (const content of contents) yield putContent(at, content)
  const uses = contents.map((content) => ({ ...content, conversation }))
  for (const rows of piecesOf(uses, noText)) yield* useContents(at, rows)
  yield* setParticipants(
    at,
    participants.map((one) => ({ ...one, conversation })),
  )
  for (const uses of piecesOf(usesInLog(conversation, entries), noText)) yield* insertUses(at, conversation, uses)
}

function* storedJobs(jobs: readonly JobRow[]): Generator<StoredJob> {
  for (const job of jobs) yield { ...job, about: aboutText(job.about), result: resultText(job.result, job) }
}

function* linesOf({ row: { id }, entries }: ConversationSnapshot) {
  for (const entry of entries) yield { id, seq: entry.seq, text: entryText(entry, id) }
}
