/** Conversations and entries of the embedded store: appended, read, listed, deleted. */
import { pageStart } from '../cursor.ts'
import { entryOf, entryText } from '../entry-text.ts'
import { logSql } from '../sql/log.ts'
import type { JobRow, Store } from '../store.ts'
import { storeAppend, type WriteCache } from './sqlite-append.ts'
import { sweepContents } from './sqlite-contents.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { conversationRow, listedConversation } from './sqlite-rows.ts'
import type { SqliteSession } from './sqlite-session.ts'
import { removeConversation } from './sqlite-usage-rows.ts'

type LogMethods = Pick<
  Store,
  'append' | 'getConversation' | 'listConversations' | 'deleteConversation' | 'sweepConversations' | 'readEntries'
>

/** Content that a deletion released is unused since 0. */
const released = 1

/** The methods of a store that are about the log. */
export function logMethods(session: SqliteSession): LogMethods {
  return {
    async append(append) {
      const texts = append.entries.map(entryText) // an entry that JSON cannot hold fails here, without the group
      const result = await session.write(
        (connection, cache) => storeAppend({ connection, ...cache, now: session.now() }, append, texts),
        true,
      )
      if (!result.ok) return result
      append.entries.forEach((entry, index) => {
        entry.seq = result.before + 1 + index
      })
      for (const job of result.jobs) noteWork(session, job)
      return result
    },
    getConversation: (database, id) =>
      session.read(({ get }) => {
        const row = get(logSql.getConversation, database, id, session.now())
        return row === null ? null : conversationRow(row)
      }),
    listConversations: (database, { limit, after, bound, agent, createdBy, participant = null }) =>
      session.read(({ get, some }) => {
        const last = after === null ? null : pageStart(get(logSql.findConversation, database, after))
        const below = (last?.number as number | undefined) ?? Number.MAX_SAFE_INTEGER
        const values = [database, below, agent, limit, session.now()] as const
        const rows =
          createdBy === null && participant === null
            ? some(bound, logSql.listConversations, ...values)
            : some(bound, logSql.listConversationsOf, ...values, createdBy, participant)
        return rows.map(listedConversation)
      }),
    async deleteConversation(database, id) {
      const isGone = await session.write((connection, { usage }) => {
        const found = connection.get(logSql.findConversation, database, id)
        if (found !== null) removeConversation(connection, usage, found.number as number)
        return found !== null
      })
      if (isGone) await sweepContents(session, released)
      return isGone
    },
    async sweepConversations(limit) {
      const isDue = await session.read(({ get }) => get(logSql.goneConversations, session.now(), 1) !== null)
      if (!isDue) return []
      const gone = await session.write((connection, cache) => sweep(connection, cache, { now: session.now(), limit }))
      await sweepContents(session, released)
      return gone
    },
    readEntries: (database, conversation, { after, limit, bound }) =>
      session.read(({ some }) =>
        some(bound, logSql.readEntries, database, conversation, after, limit).map((row) =>
          entryOf(row.text as string, row.seq as number),
        ),
      ),
  }
}

function sweep(
  connection: SqliteConnection,
  { usage }: WriteCache,
  { now, limit }: { readonly now: number; readonly limit: number },
): { database: string; id: string }[] {
  return connection.all(logSql.goneConversations, now, limit).map(({ number, database, id }) => {
    removeConversation(connection, usage, number as number)
    return { database: database as string, id: id as string }
  })
}

function noteWork({ atWork }: SqliteSession, { id, owner }: JobRow): void {
  if (owner === null) atWork.delete(id)
  else atWork.add(id)
}
