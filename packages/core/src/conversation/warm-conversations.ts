/** Keeps the folds of recently used conversations in memory and loads others from the log. */
import { type AgentStartBody, definitionsIn, type Entry } from '@witan/protocol/entries'
import { channelOf } from '../identity/channel.ts'
import type { ConversationRow, Store } from '../store/store.ts'
import { type AgentLookup, emptyState } from './fold.ts'
import { storedOf } from './stored-values.ts'
import { ConversationLog, type LogContext } from './log.ts'
import type { WarmDocuments } from './warm-documents.ts'
import { notFound } from '../identity/not-found.ts'
import { isTurnSpent, nextTurn } from '../identity/turn.ts'
import { isSameEntry } from '../store/entry-text.ts'
import { readCharacters } from '../identity/row-page.ts'

/** What loading a conversation needs. */
interface WarmContext {
  readonly store: Store
  readonly append: LogContext['append']
  readonly stored: LogContext['stored']
  /** Loads a revision, so that `lookup` finds it. */
  ensureRevision(database: string, id: string, revision: number): Promise<void>
  lookup(database: string): AgentLookup
  /** What is stored went back behind what a log knew. */
  wentBack(): void
  /** The warm documents, which are dropped with their conversation. */
  readonly documents: WarmDocuments
  /** The most logs to keep; logs with live jobs are always kept. */
  readonly capacity: number
}

const pageSize = 1000

/** The warm conversations of a process. */
export class WarmConversations {
  readonly #context: WarmContext
  readonly #logs = new Map<string, ConversationLog>()
  readonly #logContextOf: (database: string) => LogContext
  readonly #loading = new Map<string, Promise<ConversationLog>>()

  constructor(context: WarmContext) {
    this.#context = context
    this.#logContextOf = logContexts(context)
  }

  /** The warm log, loaded from the store if necessary. Throws `NOT_FOUND`. */
  async get(database: string, id: string): Promise<ConversationLog> {
    const key = channelOf(database, id)
    const warm = this.#logs.get(key)
    if (warm !== undefined && !warm.isBroken && !warm.sync.known.isConfirmed) await warm.sync.known.confirm()
    if (warm !== undefined && !warm.isBroken) {
      this.#logs.delete(key)
      this.#logs.set(key, warm)
      return warm
    }
    const loading = this.#loading.get(key) ?? this.#load(database, id).finally(() => this.#loading.delete(key))
    this.#loading.set(key, loading)
    return loading
  }

  /** The log with everything stored at the time of the call. Throws `NOT_FOUND`. */
  async latest(database: string, id: string): Promise<ConversationLog> {
    const key = channelOf(database, id)
    const mayBeBehind = this.peek(database, id) !== null || this.#loading.has(key)
    const log = await this.get(database, id)
    if (mayBeBehind) await log.catchUp()
    return log.isBroken ? this.latest(database, id) : log
  }

  /** A log for a new conversation, or with `isLoaded` for one that others may have written to. Only `keep` makes it warm. */
  fresh(row: ConversationRow, isLoaded = false): ConversationLog {
    const { database, id, agent, maxModelIterationsPerCall } = row
    const stored = storedOf(row.parameters)
    const state = emptyState({ database, id, rootAgent: agent, stored, maxModelIterationsPerCall })
    return new ConversationLog(state, this.#logContextOf(database), isLoaded)
  }

  /** The log if it is warm and valid, else null. Never loads it. */
  peek(database: string, id: string): ConversationLog | null {
    const warm = this.#logs.get(channelOf(database, id))
    return warm === undefined || warm.isBroken ? null : warm
  }

  keep(log: ConversationLog): void {
    this.#logs.set(log.state.channel, log)
    if (this.#logs.size <= this.#context.capacity) return
    for (const [key, old] of this.#logs) {
      if (this.#logs.size <= this.#context.capacity) return
      if (old.watchers.size === 0) this.#logs.delete(key)
    }
  }

  /** Drops a log and its documents. */
  drop(database: string, id: string): void {
    this.#logs.delete(channelOf(database, id))
    this.#context.documents.drop(database, id)
  }

  async #load(database: string, id: string): Promise<ConversationLog> {
    const { store } = this.#context
    for (;;) {
      const history = store.history
      const row = await store.getConversation(database, id)
      if (row === null) throw notFound('conversation', id)
      const log = this.fresh(row, true)
      await log.catchUp(true)
      if (history !== store.history) continue
      this.keep(log)
      return log
    }
  }
}

/** What the logs of a database share, made once for each database. */
function logContexts(context: WarmContext): (database: string) => LogContext {
  const { store, append, stored, lookup } = context
  const made = new Map<string, LogContext>()
  const make = (database: string): LogContext => ({
    append,
    stored,
    agents: lookup(database),
    async read(conversation, after) {
      const entries: Entry[] = []
      for await (const entry of entriesOf(store, { database, conversation, after })) {
        if (entry.type === 'start' && entry.kind === 'agent') await ensurePinned(context, database, entry.body)
        entries.push(entry)
      }
      return entries
    },
    history: {
      current: () => store.history,
      async has(conversation, entry) {
        const [found] = await store.readEntries(database, conversation, { after: entry.seq - 1, limit: 1 })
        return found !== undefined && found.seq === entry.seq && isSameEntry(found, entry)
      },
      wentBack: context.wentBack,
    },
  })
  return (database) => {
    const known = made.get(database) ?? make(database)
    made.set(database, known)
    return known
  }
}

async function ensurePinned({ ensureRevision }: WarmContext, database: string, start: AgentStartBody): Promise<void> {
  for (const [id, revision] of definitionsIn(start)) await ensureRevision(database, id, revision)
}

/** All entries of a conversation in order, page by page; with `upTo` those up to this seq, and no more are read. */
export async function* entriesOf(
  store: Store,
  of: { readonly database: string; readonly conversation: string; readonly after?: number; readonly upTo?: number },
): AsyncGenerator<Entry, void, void> {
  const { database, conversation, upTo = Number.POSITIVE_INFINITY } = of
  let after = of.after ?? 0
  while (after < upTo) {
    const limit = Math.min(pageSize, upTo - after)
    let isCut = false
    const cut = () => {
      isCut = true
    }
    // A store may reply synchronously, so the share of the turn is asked for before each read and after each entry.
    if (isTurnSpent()) await nextTurn()
    const bound = { characters: readCharacters, cut }
    const page = await store.readEntries(database, conversation, { after, limit, bound })
    for (const entry of page) {
      if (isTurnSpent()) await nextTurn()
      yield entry
    }
    const last = page.at(-1)
    if (last === undefined || (page.length < limit && !isCut)) return
    after = last.seq
  }
}
