/** Polls the conversations that are read in this process with one query for all, so that lost notifications do no harm. */
import { logSql } from '../../sql/postgres/log.ts'
import type { StoreListener, WatchedConversation } from '../../listener.ts'
import type { Histories } from './history.ts'
import type { PostgresSession } from './session.ts'
import { stored } from './text.ts'

/** The pause between two polls. */
const pauseMs = 1_000
/** The most conversations in one query. */
const atOnce = 2_000

/** What watching needs. */
interface WatchParts {
  readonly session: PostgresSession
  readonly histories: Pick<Histories, 'current'>
}

/** Polls until the returned function is called. Sends no query while nothing is read. */
export function startWatch(of: WatchParts, listeners: ReadonlySet<{ readonly listener: StoreListener }>): () => void {
  let timer: NodeJS.Timeout | null = null
  let isClosed = false
  const look = async () => {
    for (const { listener } of listeners) await lookFor(of, listener).catch(() => {}) // the next poll finds it
    if (!isClosed) timer = setTimeout(look, pauseMs).unref()
  }
  timer = setTimeout(look, pauseMs).unref()
  return () => {
    isClosed = true
    if (timer !== null) clearTimeout(timer)
  }
}

async function lookFor(of: WatchParts, listener: StoreListener): Promise<void> {
  const all = [...listener.watched()]
  for (let from = 0; from < all.length; from += atOnce) await compareAll(of, listener, all.slice(from, from + atOnce))
}

async function compareAll(
  { session, histories }: WatchParts,
  listener: StoreListener,
  watched: readonly WatchedConversation[],
): Promise<void> {
  const databases = watched.map(({ database }) => stored(database))
  const ids = watched.map(({ conversation }) => stored(conversation))
  const history = histories.current()
  const [rows = []] = await session.connection.run('worker', [[logSql.lastSeqs, databases, ids]])
  if (history !== histories.current()) return // what the readers know may be lost; they look themselves
  const found = new Map(rows.map(({ place, last_seq }) => [place as number, last_seq as number]))
  for (const [index, one] of watched.entries()) compare(listener, one, found.get(index + 1) ?? null)
}

/** Entries are never removed, so a conversation with a lower seq than before the query is another one of that id. */
function compare(listener: StoreListener, watched: WatchedConversation, lastSeq: number | null): void {
  const { database, conversation, lastSeq: known } = watched
  const at = { database, conversation }
  if (lastSeq !== null && lastSeq > (known ?? 0)) listener.appended({ ...at, lastSeq })
  else if (known !== null && lastSeq !== known) listener.gone(at)
}
