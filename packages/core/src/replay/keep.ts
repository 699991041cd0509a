/** Stores a replayed conversation in another store. */
import { WitanError } from '@witan/protocol'
import { importInto } from '../store/export.ts'
import type { Store } from '../store/store.ts'
import type { ReplaySource } from './prepare.ts'
import type { ReplayReport } from './replay.ts'

/**
 * Writes a replayed conversation, with its definitions, into a store that holds nothing. The caller opens and closes the store. Throws
 * `NAME_TAKEN` if it holds anything.
 */
export async function storeReplay(store: Store, source: ReplaySource, report: ReplayReport): Promise<void> {
  const { database, conversation } = report
  const taken = await store.listDatabases()
  if (taken.length > 0)
    throw new WitanError('NAME_TAKEN', `The store is not empty: it holds the database \`${taken[0]}\`.`, {
      hint: 'Name a new file, or an empty database.',
    })
  const take = importInto(store)
  for (const { id, revisions } of source.definitions) {
    const current = revisions.at(-1)?.revision ?? null
    await take({ kind: 'agent', database, id, revisions, current })
  }
  const whole = await report.store.readSnapshot(database, conversation)
  if (whole !== null) await store.putSnapshot(database, whole)
}
