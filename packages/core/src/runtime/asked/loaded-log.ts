/** A whole log with what its fold needs: its row, and every definition that it names. */
import { definitionsIn, type Entry } from '@witan/protocol/entries'
import type { AgentLookup } from '../../conversation/fold.ts'
import { entriesOf } from '../../conversation/warm-conversations.ts'
import type { ConversationRow } from '../../store/store.ts'
import type { Environment } from '../../job/environment.ts'
import type { Scope } from '../scope.ts'

/** A log, and what it is folded with. */
export interface LoadedLog {
  readonly row: ConversationRow
  readonly entries: readonly Entry[]
  readonly agents: AgentLookup
  readonly env: Environment
}

/** Loads the log of a conversation up to now. */
export async function loadLog({ parts, database }: Scope, row: ConversationRow): Promise<LoadedLog> {
  const { registry, store, env } = parts
  await registry.ensure(database)
  const entries: Entry[] = []
  for await (const entry of entriesOf(store, { database, conversation: row.id })) {
    if (entry.type === 'start' && entry.kind === 'agent')
      for (const [id, revision] of definitionsIn(entry.body)) await registry.ensureRevision(database, id, revision)
    entries.push(entry)
  }
  return { row, entries, agents: (id, revision) => registry.revision(database, id, revision), env }
}
