/** Export and import of conversations, and the list of databases, of the embedded store. */
import { entryOf, entryText } from '../entry-text.ts'
import { interruptionSql } from '../sql/interruptions.ts'
import { jobSql } from '../sql/jobs.ts'
import { logSql } from '../sql/log.ts'
import { collectedIfThere, rowsOf } from '../open-snapshot.ts'
import { boundedRows, readBound as bound } from '../row-page.ts'
import { contentSql } from '../sql/contents.ts'
import type { ConversationSnapshot, OpenSnapshot, Store } from '../store.ts'
import { arriving, trialConversation } from '../snapshot.ts'
import { addSnapshot, UsageCount } from '../usage-count.ts'
import { contentOf, importContents } from './sqlite-content-rows.ts'
import { insertArtifacts } from './sqlite-artifact-rows.ts'
import { createConversation, insertInterruption } from './sqlite-append.ts'
import { type SqliteConnection, textIn } from './sqlite-connection.ts'
import { insertJob, nextKey } from './sqlite-job-rows.ts'
import { conversationRow, interruptionRow, jobOfTuple, type Tuple } from './sqlite-rows.ts'
import { participantsOf, setParticipants } from './sqlite-participant-rows.ts'
import type { SqliteSession } from './sqlite-session.ts'
import { addUsage, removeConversation, type WaitingUsage } from './sqlite-usage-rows.ts'

type SnapshotMethods = Pick<Store, 'listDatabases' | 'openSnapshot' | 'readSnapshot' | 'putSnapshot' | 'checkWritable'>

/** The methods of a store for export and import, and the check that it is writable. */
export function snapshotMethods(session: SqliteSession): SnapshotMethods {
  return {
    listDatabases: () => session.read(({ all }) => all(logSql.listDatabases).map(({ database }) => database as string)),
    openSnapshot: (database, id) => open(session, database, id),
    readSnapshot: async (database, id) => collectedIfThere(await open(session, database, id)),
    async putSnapshot(database, snapshot) {
      const arrived = arriving(database, snapshot)
      const texts = arrived.entries.map(entryText) // an entry that JSON cannot hold fails here, without the group
      return session.write((connection, { usage }) => put(connection, arrived, { texts, usage, now: session.now() }))
    },
    checkWritable: () => session.write((connection, { usage }) => tryToWrite(connection, usage, session.now())),
  }
}

/** What is read at once when a snapshot is opened: what may change later, and the keys of the rest. */
function head(
  connection: SqliteConnection,
  { database, id, now }: { readonly database: string; readonly id: string; readonly now: number },
) {
  const { get, all, tuples } = connection
  const row = get(logSql.getConversation, database, id, now)
  if (row === null) return null
  const number = row.number as number
  const open = all(interruptionSql.listInterruptionsOfConversation, database, 0, Number.MAX_SAFE_INTEGER, 'open', id)
  return {
    row: conversationRow(row),
    number,
    jobs: tuples(jobSql.keysOf, number).map(([key]) => key as number),
    live: new Map(tuples(jobSql.listLiveJobs, number).map((tuple) => [tuple[0], jobOfTuple(tuple)])),
    interruptions: all(interruptionSql.numbersOf, number).map((one) => one.number as number),
    open: new Map(open.map((one) => [one.id, interruptionRow(one)])),
    uses: all(contentSql.readUses, number),
    participants: participantsOf(connection, number),
  }
}

async function open(session: SqliteSession, database: string, id: string): Promise<OpenSnapshot | null> {
  const found = await session.read((connection) => head(connection, { database, id, now: session.now() }))
  if (found === null) return null
  const { row, number, jobs, live, interruptions, open: unsettled, uses, participants } = found
  const rows = <Row>(count: number, read: (connection: SqliteConnection, from: number, to: number) => readonly Row[]) =>
    rowsOf(id, count, (from, to) =>
      session.read((connection) => {
        const isHere = connection.get(logSql.findConversation, database, id)?.number === number
        return isHere ? read(connection, from, to) : null
      }),
    )
  return {
    row,
    participants,
    entries: rows(row.lastSeq, ({ some }, from, to) =>
      some(bound, logSql.readEntries, database, id, from, to - from).map(({ text, seq }) =>
        entryOf(text as string, seq as number),
      ),
    ),
    jobs: rows(jobs.length, (connection, from, to) =>
      boundedRows(jobsOf(connection, jobs.slice(from, to)), bound, textIn).map(
        (one) => live.get(one[0] as number) ?? jobOfTuple(one),
      ),
    ),
    interruptions: rows(interruptions.length, ({ some }, from, to) => {
      const [first = 0] = interruptions.slice(from, from + 1)
      const sql = interruptionSql.listInterruptionsOfConversation
      return some(bound, sql, database, first - 1, to - from, null, id).map(
        (one) => unsettled.get(one.id as string) ?? interruptionRow(one),
      )
    }),
    contents: rows(uses.length, (connection, from) =>
      uses.slice(from, from + 1).map((use) => contentOf(connection, use)),
    ),
  }
}

function* jobsOf({ tuple }: SqliteConnection, keys: readonly number[]): Generator<Tuple> {
  for (const key of keys) yield tuple(jobSql.jobOfKey, key) as Tuple
}

/** An id that no conversation can have. */
const trialId = ' trial'

/** Writes to the disk, although the content is unchanged in the end. */
function tryToWrite(connection: SqliteConnection, usage: WaitingUsage, now: number): void {
  const snapshot = trialConversation('default', trialId, now)
  if (!put(connection, snapshot, { texts: snapshot.entries.map(entryText), usage, now })) return
  const number = connection.get(logSql.findConversation, 'default', snapshot.row.id)?.number as number
  removeConversation(connection, usage, number)
}

function put(
  connection: SqliteConnection,
  { row, entries, jobs, interruptions, contents = [], participants = [] }: ConversationSnapshot,
  { texts, usage, now }: { readonly texts: readonly string[]; readonly usage: WaitingUsage; readonly now: number },
): boolean {
  const { get, tuple, run } = connection
  const { database, id } = row
  const found = (get(logSql.findConversation, database, id)?.number as number | undefined) ?? null
  if (found !== null && get(logSql.isGone, found, now)?.gone !== 1) return false
  const isTaken = (conversation: unknown) => conversation !== null && conversation !== found
  if (jobs.some((job) => isTaken(tuple(jobSql.conversationOfJob, database, job.id)?.[0] ?? null))) return false
  const stateOf = (name: string) => tuple(interruptionSql.interruptionState, database, name)
  if (interruptions.some(({ view }) => isTaken(stateOf(view.id)?.[0] ?? null))) return false
  if (found !== null) removeConversation(connection, usage, found)
  const number = createConversation(connection, row)
  let key = number * 1_048_576
  for (const text of texts) run(logSql.insertEntry, ++key, text)
  for (const job of jobs) insertJob(connection, job, nextKey(connection, number, job.kind))
  for (const one of interruptions) insertInterruption(connection, one, number)
  importContents(connection, contents, { database, number })
  setParticipants(connection, participants, { database, number })
  insertArtifacts(connection, entries, { database, number, before: 0 })
  const used = addSnapshot(new UsageCount(), { id, entries, jobs }).rows()
  for (const one of used) addUsage(connection, database, one)
  usage.addUp(connection)
  return true
}
