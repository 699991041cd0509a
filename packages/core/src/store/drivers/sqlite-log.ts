/** Conversations and entries of the embedded store: appended, read, listed, deleted. */
import { pageStart } from '../cursor.ts'
import { entryOf, entryText } from '../entry-text.ts'
import { isCopy } from '../pieces.ts'
import { logSql } from '../sql/log.ts'
import { isStill } from '../still.ts'
import type { Append, AppendResult, JobRow, Store } from '../store.ts'
import { appendCopy } from './sqlite-append-copy.ts'
import { storeAppend, type WriteCache } from './sqlite-append.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { conversationRow, listedConversation } from './sqlite-rows.ts'
import type { SqliteSession } from './sqlite-session.ts'
import { clearUnlinked, firstUnlinked } from './sqlite-clearing.ts'
import { removeConversation } from './sqlite-unlinked.ts'

type LogMethods = Pick<
  Store,
  'append' | 'getConversation' | 'listConversations' | 'deleteConversation' | 'sweepConversations' | 'readEntries'
>

/** The methods of a store that are about the log. */
export function logMethods(session: SqliteSession): LogMethods {
  return {
    async append(append) {
      const result = isCopy(append) ? await appendCopy(session, append) : await appendAtOnce(session, append)
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
    async deleteConversation(database, id, as) {
      const isGone = await session.write((connection, { usage }) => {
        const found = connection.get(logSql.findState, database, id)
        if (
          found === null ||
          !isStill({ createdAt: found.created_at as number, lastSeq: found.last_seq as number }, as)
        )
          return false
        removeConversation(connection, usage, found.number as number)
        return true
      })
      if (isGone) await clearUnlinked(session)
      return isGone
    },
    async sweepConversations(limit) {
      const isDue = await session.read(
        (connection, cache) =>
          connection.get(logSql.goneConversations, session.now(), 1) !== null ||
          firstUnlinked(connection, cache) !== null,
      )
      if (!isDue) return []
      const gone = await session.write((connection, cache) => sweep(connection, cache, { now: session.now(), limit }))
      await clearUnlinked(session)
      return gone
    },
    readEntries: (database, conversation, { after, limit, bound }) =>
      session.read(({ some }) =>
        some(bound, logSql.readEntries, database, conversation, after, limit).map((row) =>
          entryOf(row.text as string, row.seq as number, conversation),
        ),
      ),
  }
}

function appendAtOnce(session: SqliteSession, append: Append): Promise<AppendResult> {
  const texts = append.entries.map((one) => entryText(one, append.conversation)) // an entry that JSON cannot hold fails here, without the group
  return session.write(
    (connection, cache) => storeAppend({ connection, ...cache, now: session.now() }, append, texts),
    true,
    texts.reduce((sum, { length }) => sum + length, 0),
  )
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
