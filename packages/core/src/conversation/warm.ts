/** Warm conversations: folds kept in memory, least recently used go first, cold ones are read from the log. */
import { WitanError } from '@witan/protocol'
import type { AgentStartBody, Entry } from '@witan/protocol/entries'
import { channelOf } from '../identity/channel.ts'
import type { ConversationRow, Store } from '../store/store.ts'
import { type AgentLookup, emptyState } from './fold.ts'
import { storedOf } from './given.ts'
import { ConversationLog } from './log.ts'
import type { LogContext } from './log-sync.ts'

/** What loading a conversation needs. */
export interface WarmContext {
  readonly store: Store
  readonly append: LogContext['append']
  readonly stored: LogContext['stored']
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
    const key = channelOf(database, id)
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

  /** The log with everything that is stored when this is called. Throws `NOT_FOUND`. */
  async latest(database: string, id: string): Promise<ConversationLog> {
    const key = channelOf(database, id)
    const mayBeBehind = this.peek(database, id) !== null || this.#loading.has(key)
    const log = await this.get(database, id)
    if (mayBeBehind) await log.catchUp()
    return log
  }

  /** A log for a conversation that is just being made; kept once `keep` is called. */
  fresh(row: ConversationRow): ConversationLog {
    const { database, id, agent, maxModelIterationsPerCall } = row
    const stored = storedOf(row.parameters)
    const state = emptyState({ database, id, rootAgent: agent, stored, maxModelIterationsPerCall })
    return new ConversationLog(state, {
      append: this.#context.append,
      stored: this.#context.stored,
      read: (after) => this.#read({ database, conversation: id, after }),
      agents: this.#context.lookup(database),
    })
  }

  /** The log if it is warm and of use; it is not read for this. */
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

  /** Forgets a log whose state is of no use any more. */
  drop(database: string, id: string): void {
    this.#logs.delete(channelOf(database, id))
  }

  async #read(of: { readonly database: string; readonly conversation: string; readonly after: number }) {
    const entries: Entry[] = []
    for await (const entry of entriesOf(this.#context.store, of)) {
      if (entry.type === 'start' && entry.kind === 'agent') await ensurePinned(this.#context, of.database, entry.body)
      entries.push(entry)
    }
    return entries
  }

  async #load(database: string, id: string): Promise<ConversationLog> {
    const { store } = this.#context
    const row = await store.getConversation(database, id)
    if (row === null)
      throw new WitanError('NOT_FOUND', `There is no conversation \`${id.slice(0, 200)}\`.`, {
        hint: 'GET /api/v1/conversations lists them.',
      })
    const log = this.fresh(row)
    await log.catchUp()
    this.keep(log)
    return log
  }
}

async function ensurePinned({ ensureRevision }: WarmContext, database: string, start: AgentStartBody): Promise<void> {
  await ensureRevision(database, start.agent, start.revision)
  for (const [id, revision] of Object.entries(start.revisions)) await ensureRevision(database, id, revision)
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
