/** Whole conversations and databases of the embedded store, for moving them. */
import { entryOf, entryText } from '../entry-text.ts'
import { interruptionSql } from '../sql/interruptions.ts'
import { jobSql } from '../sql/jobs.ts'
import { logSql } from '../sql/log.ts'
import type { Store, WholeConversation } from '../store.ts'
import { arriving } from '../whole.ts'
import { createConversation, insertInterruption } from './sqlite-append.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { insertJob, nextKey } from './sqlite-job-rows.ts'
import { conversationRow, interruptionRow, jobOfTuple } from './sqlite-rows.ts'
import type { SqliteSession } from './sqlite-session.ts'

type WholeMethods = Pick<Store, 'listDatabases' | 'readWhole' | 'putWhole'>

/** The methods of a store that are about moving conversations. */
export function wholeMethods(session: SqliteSession): WholeMethods {
  return {
    listDatabases: () => session.read(({ all }) => all(logSql.listDatabases).map(({ database }) => database as string)),
    readWhole: (database, id) =>
      session.read(({ get, all, tuples }) => {
        const row = get(logSql.getConversation, database, id, session.now())
        if (row === null) return null
        const number = row.number as number
        const entries = all(logSql.readEntries, database, id, 0, Number.MAX_SAFE_INTEGER)
        return {
          row: conversationRow(row),
          entries: entries.map(({ text, seq }) => entryOf(text as string, seq as number)),
          jobs: tuples(jobSql.listJobs, number).map(jobOfTuple),
          interruptions: all(interruptionSql.readInterruptions, number).map(interruptionRow),
        }
      }),
    async putWhole(database, whole) {
      const arrived = arriving(database, whole)
      const texts = arrived.entries.map(entryText) // what JSON cannot say fails here, alone
      return session.write((connection) => put(connection, arrived, { texts, now: session.now() }))
    },
  }
}

function put(
  connection: SqliteConnection,
  { row, jobs, interruptions }: WholeConversation,
  { texts, now }: { readonly texts: readonly string[]; readonly now: number },
): boolean {
  const { get, tuple, run } = connection
  const { database, id } = row
  const found = (get(logSql.findConversation, database, id)?.number as number | undefined) ?? null
  if (found !== null && get(logSql.isGone, found, now)?.gone !== 1) return false
  const isTaken = (conversation: unknown) => conversation !== null && conversation !== found
  if (jobs.some((job) => isTaken(tuple(jobSql.conversationOfJob, database, job.id)?.[0] ?? null))) return false
  const stateOf = (name: string) => tuple(interruptionSql.interruptionState, database, name)
  if (interruptions.some(({ view }) => isTaken(stateOf(view.id)?.[0] ?? null))) return false
  if (found !== null) for (const sql of logSql.deleteConversation) run(sql, found)
  const number = createConversation(connection, row)
  let key = number * 1_048_576
  for (const text of texts) run(logSql.insertEntry, ++key, text)
  for (const job of jobs) insertJob(connection, job, nextKey(connection, number, job.kind))
  for (const one of interruptions) insertInterruption(connection, one, number)
  return true
}
