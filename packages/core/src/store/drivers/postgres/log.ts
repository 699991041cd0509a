/** Conversations and their entries on PostgreSQL: appended, read, listed, deleted. */
import { pageStart } from '../../cursor.ts'
import { entryOf } from '../../entry-text.ts'
import { listConversations, logSql } from '../../sql/postgres/log.ts'
import { type ConversationState, isStill } from '../../still.ts'
import type { Store } from '../../store.ts'
import type { GroupCommit } from './group.ts'
import type { Notifications } from './notify.ts'
import { conversationRow, listedConversation } from './rows.ts'
import type { PostgresSession } from './session.ts'
import { someRows } from './some.ts'
import type { Row } from './statements.ts'
import { restored, stored } from './text.ts'
import { confirmation, deletesOf } from './writing.ts'

type LogMethods = Pick<
  Store,
  'append' | 'getConversation' | 'listConversations' | 'deleteConversation' | 'sweepConversations' | 'readEntries'
>

/** What these methods need. */
interface LogParts {
  readonly session: PostgresSession
  readonly group: Pick<GroupCommit, 'append'>
  readonly notifications: Notifications
}

/** The time-out for a delete: a long log takes longest. */
const deleteMs = 60_000

/** The methods of a store that are about the log. */
export function logMethods({ session, group, notifications }: LogParts): LogMethods {
  const sweep = createSweep(session)
  return {
    append: (append) => group.append(append),
    async getConversation(database, id) {
      const [rows = []] = await session.read(database, [logSql.getConversation, stored(database), stored(id)])
      return rows[0] === undefined ? null : conversationRow(rows[0])
    },
    listConversations: (database, page) => list(session, database, page),
    async deleteConversation(database, id, as) {
      const isGone = await remove(session, { database, id }, as)
      if (isGone) notifications.gone({ database, conversation: id })
      return isGone
    },
    async sweepConversations(limit) {
      const gone = await sweep(limit)
      for (const { database, id } of gone) notifications.gone({ database, conversation: id })
      return gone
    },
    async readEntries(database, conversation, { after, limit, bound }) {
      const query = [logSql.readEntries, stored(database), stored(conversation), after, limit] as const
      const rows = await someRows(session, { database, query, long: ['text'] }, bound)
      return rows.map(({ text, seq }) => entryOf(text as string, seq as number, conversation))
    },
  }
}

async function list(session: PostgresSession, database: string, page: Parameters<Store['listConversations']>[1]) {
  const { limit, after, bound, agent, createdBy, participant = null } = page
  const at = stored(database)
  const last = after === null ? null : await session.read(database, [logSql.conversationPlace, at, stored(after)])
  const below = last === null ? Number.MAX_SAFE_INTEGER : pageStart(last[0]?.[0]).number
  const wanted = [agent, createdBy, participant].filter((value) => value !== null).map(stored)
  const query = [listConversations(page), at, below as number, limit, ...wanted] as const
  const rows = await someRows(session, { database, query, long: ['parameters'] }, bound)
  return rows.map(listedConversation)
}

/** Reads first, so that a delete whose reply was lost still returns true, also if its id is used again. */
async function remove(session: PostgresSession, { database, id }: Gone, as?: ConversationState): Promise<boolean> {
  let wasThere = false
  const at = stored(database)
  return session.transaction(
    at,
    async ({ send, commit }) => {
      const [[found] = []] = await send([[logSql.lockConversation, at, stored(id)]])
      const now = found && { createdAt: found.created_at as number, lastSeq: found.last_seq as number }
      if (now === undefined || (as !== undefined && now.createdAt !== as.createdAt)) {
        // Another deletion may have been told that it is unknown whether it is stored.
        if (!wasThere) await commit(confirmation(at, session.clock.now()))
        return wasThere
      }
      if (!isStill(now, as)) return false
      wasThere = true
      await commit(deletesOf(database, [id]))
      return true
    },
    { replyMs: deleteMs },
  )
}

interface Gone {
  readonly database: string
  readonly id: string
}

/** How many conversations whose time has come are looked at at once. */
const lookedAtOnce = 25
const first = { expiresAt: -1, number: -1 }

/**
 * The worker role finds expired conversations; each database then checks again under lock and deletes its own. A look ends where it
 * finds none to delete, and the next goes on behind: what something keeps is not looked at each time.
 */
function createSweep(session: PostgresSession): (limit: number) => Promise<readonly Gone[]> {
  let place = first
  return async (limit) => {
    const gone: Gone[] = []
    for (;;) {
      const query = [logSql.overConversations, place.expiresAt, place.number, lookedAtOnce] as const
      const [rows = []] = await session.writeAsWorker(query)
      const over = rows.filter((row) => row.is_over === true).slice(0, limit - gone.length)
      const last = gone.length + over.length === limit ? over.at(-1) : rows[lookedAtOnce - 1]
      place = last === undefined ? first : { expiresAt: last.expires_at as number, number: last.number as number }
      gone.push(...(await removeAll(session, over)))
      if (over.length === 0 || gone.length >= limit || place === first) return gone
    }
  }
}

async function removeAll(session: PostgresSession, rows: readonly Row[]): Promise<readonly Gone[]> {
  const over = rows.map(({ database, id }) => ({ database: restored(database as string), id: restored(id as string) }))
  const removed = new Set<string>()
  for (const database of new Set(over.map((one) => one.database))) {
    const ids = over.filter((one) => one.database === database).map(({ id }) => id)
    for (const id of await removeOver(session, database, ids)) removed.add(JSON.stringify([database, id]))
  }
  return over.filter(({ database, id }) => removed.has(JSON.stringify([database, id])))
}

async function removeOver(session: PostgresSession, database: string, ids: readonly string[]) {
  const at = stored(database)
  let found: readonly string[] = []
  return session.transaction(
    at,
    async ({ send, commit }, mayBeDone) => {
      const names = ids.map(stored)
      const [, rows = []] = await send([
        [logSql.lockOver, at, names],
        [logSql.stillOver, at, names],
      ])
      const over = rows.map(({ id }) => restored(id as string))
      found = mayBeDone ? [...new Set([...found, ...over])] : over
      if (over.length > 0) await commit(deletesOf(database, over))
      return found
    },
    { replyMs: deleteMs },
  )
}
