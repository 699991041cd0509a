/** Evidence that was used: each piece counts for one message, in all processes of a store, and is forgotten once it could not be used again [E68]. */
import { addition, defineRecord, type Records } from './record.ts'
import type { Store } from './store.ts'

/**
 * The declaration. `id` and `digest` are the digest of the evidence, `message` that of the message that it came with: who sent it, to whom,
 * under which id. `until` is in ms of the store's clock.
 */
export const usedEvidenceTable = defineRecord({
  name: 'used_evidence',
  since: 22,
  columns: { digest: 'text', message: 'text', until: 'integer' },
  filters: ['digest'],
  isDeleted: true,
  until: 'until',
})

/** One use of a piece of evidence. */
export interface EvidenceUse {
  readonly digest: string
  readonly message: string
  readonly until: number
}

/** It belongs to the server: what is used in one database is used in all. */
const database = 'default'

/** The time of the clock of this record, in ms. */
export function evidenceNow(store: Pick<Store, 'now'>): number {
  return store.now(database)
}

/** Notes a use. False if the evidence was used with another message. */
export async function useEvidence(
  store: Pick<Records, 'addRecord' | 'listRecords'>,
  { digest, message, until }: EvidenceUse,
): Promise<boolean> {
  const row = { id: digest, digest, message, until }
  if (await store.addRecord(database, addition(usedEvidenceTable, row))) return true
  return (await usedWith(store, digest)) === message
}

/** The message that evidence was used with; null for none. */
export async function usedWith(store: Pick<Records, 'listRecords'>, digest: string): Promise<string | null> {
  const page = { limit: 1, after: null, where: { digest } }
  const [row] = await store.listRecords(database, usedEvidenceTable, page)
  return row?.message ?? null
}

/** Forgets what cannot be used any more. */
export function forgetEvidence(store: Pick<Records, 'forgetRecords'>, now: number): Promise<void> {
  return store.forgetRecords(database, usedEvidenceTable, now)
}
