/** Warm conversations: folds kept in memory, least recently used go first, cold ones are read from the log. */
import { WitanError } from '@witan/protocol'
import type { AgentStartBody, Entry } from '@witan/protocol/entries'
import type { ConversationRow, Store } from '../store/store.ts'
import { type AgentLookup, emptyState, fold } from './fold.ts'
import { storedOf } from './given.ts'
import { type Appender, ConversationLog } from './log.ts'

/** What loading a conversation needs. */
export interface WarmContext {
  readonly store: Store
  readonly append: Appender
  /** Makes sure that a revision can be looked up. */
  ensureRevision(database: string, id: string, revision: number): Promise<void>
  lookup(database: string): AgentLookup
  /** How many are kept at most; those with live work stay. */
  readonly capacity: number
}

const pageSize = 2000

/** The warm conversations of a process. */
export class WarmConversations {
  readonly #context: WarmContext
  readonly #logs = new Map<string, ConversationLog>()
  readonly #loading = new Map<string, Promise<ConversationLog>>()

  constructor(context: WarmContext) {
    this.#context = context
  }

  /** The warm log, read from the store if need be. Throws `NOT_FOUND`. */
  async get(database: string, id: string): Promise<ConversationLog> {
    const key = keyOf(database, id)
    const warm = this.#logs.get(key)
    if (warm !== undefined && !warm.isBroken) {
      this.#logs.delete(key)
      this.#logs.set(key, warm)
      return warm
    }
    const loading = this.#loading.get(key) ?? this.#load(database, id).finally(() => this.#loading.delete(key))
    this.#loading.set(key, loading)
    return loading
  }

  /** A log for a conversation that is just being made; kept once `keep` is called. */
  fresh(row: ConversationRow): ConversationLog {
    const { database, id, agent, maxModelIterationsPerCall } = row
    const stored = storedOf(row.parameters)
    const state = emptyState({ database, id, rootAgent: agent, stored, maxModelIterationsPerCall })
    return new ConversationLog(state, this.#context.append, this.#context.lookup(database))
  }

  keep(log: ConversationLog): void {
    this.#logs.set(keyOf(log.state.database, log.state.id), log)
    for (const [key, old] of this.#logs) {
      if (this.#logs.size <= this.#context.capacity) return
      if (old.state.run === null) this.#logs.delete(key)
    }
  }

  /** Forgets a log whose state is of no use any more. */
  drop(database: string, id: string): void {
    this.#logs.delete(keyOf(database, id))
  }

  async #ensurePinned(database: string, start: AgentStartBody): Promise<void> {
    const { ensureRevision } = this.#context
    await ensureRevision(database, start.agent, start.revision)
    for (const [id, revision] of Object.entries(start.revisions)) await ensureRevision(database, id, revision)
  }

  async #load(database: string, id: string): Promise<ConversationLog> {
    const { store } = this.#context
    const row = await store.getConversation(database, id)
    if (row === null)
      throw new WitanError('NOT_FOUND', `There is no conversation \`${id.slice(0, 200)}\`.`, {
        hint: 'GET /api/v1/conversations lists them.',
      })
    const log = this.fresh(row)
    for await (const entry of entriesOf(store, { database, conversation: id })) {
      if (entry.type === 'start' && entry.kind === 'agent') await this.#ensurePinned(database, entry.body)
      fold(log.state, entry, this.#context.lookup(database))
    }
    this.keep(log)
    return log
  }
}

/** All entries of a conversation in order, page by page. */
export async function* entriesOf(
  store: Store,
  of: { readonly database: string; readonly conversation: string; readonly after?: number },
): AsyncGenerator<Entry, void, void> {
  const { database, conversation } = of
  let after = of.after ?? 0
  for (;;) {
    const page = await store.readEntries(database, conversation, { after, limit: pageSize })
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) return
    after = last.seq
  }
}

function keyOf(database: string, id: string): string {
  return `${database}\n${id}`
}
