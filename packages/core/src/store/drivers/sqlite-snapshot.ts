/** Export and import of conversations, and the list of databases, of the embedded store. */
import { entryOf, entryText } from '../entry-text.ts'
import { interruptionSql } from '../sql/interruptions.ts'
import { jobSql } from '../sql/jobs.ts'
import { logSql } from '../sql/log.ts'
import type { ConversationSnapshot, Store } from '../store.ts'
import { arriving, trialConversation } from '../snapshot.ts'
import { addSnapshot, UsageCount } from '../usage-count.ts'
import { contentsOf, importContents } from './sqlite-content-rows.ts'
import { insertArtifacts } from './sqlite-artifact-rows.ts'
import { createConversation, insertInterruption } from './sqlite-append.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { insertJob, nextKey } from './sqlite-job-rows.ts'
import { conversationRow, interruptionRow, jobOfTuple } from './sqlite-rows.ts'
import { participantsOf, setParticipants } from './sqlite-participant-rows.ts'
import type { SqliteSession } from './sqlite-session.ts'
import { addUsage, removeConversation, type WaitingUsage } from './sqlite-usage-rows.ts'

type SnapshotMethods = Pick<Store, 'listDatabases' | 'readSnapshot' | 'putSnapshot' | 'checkWritable'>

/** The methods of a store for export and import, and the check that it is writable. */
export function snapshotMethods(session: SqliteSession): SnapshotMethods {
  return {
    listDatabases: () => session.read(({ all }) => all(logSql.listDatabases).map(({ database }) => database as string)),
    readSnapshot: (database, id) =>
      session.read((connection) => {
        const { get, all, tuples } = connection
        const row = get(logSql.getConversation, database, id, session.now())
        if (row === null) return null
        const number = row.number as number
        const contents = contentsOf(connection, number)
        const participants = participantsOf(connection, number)
        const entries = all(logSql.readEntries, database, id, 0, Number.MAX_SAFE_INTEGER)
        return {
          row: conversationRow(row),
          entries: entries.map(({ text, seq }) => entryOf(text as string, seq as number)),
          jobs: tuples(jobSql.listJobs, number).map(jobOfTuple),
          interruptions: all(interruptionSql.readInterruptions, number).map(interruptionRow),
          ...(contents.length === 0 ? {} : { contents }),
          ...(participants.length === 0 ? {} : { participants }),
        }
      }),
    async putSnapshot(database, snapshot) {
      const arrived = arriving(database, snapshot)
      const texts = arrived.entries.map(entryText) // an entry that JSON cannot hold fails here, without the group
      return session.write((connection, { usage }) => put(connection, arrived, { texts, usage, now: session.now() }))
    },
    checkWritable: () => session.write((connection, { usage }) => tryToWrite(connection, usage, session.now())),
  }
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
