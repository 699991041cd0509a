/** The keys that a server signs with. Every process of a store signs with the same ones, and no export carries them. */
import type { Changed } from '../identity/changed.ts'
import { auditOf } from './audit.ts'
import { defineRecord, type RecordRow, type Records, addition } from './record.ts'
import type { Store } from './store.ts'

/**
 * The declaration. `id` is the number of the key: each process tries to add the next one, and one of them does. `thumbprint` names the key
 * to others. Times are in ms of the store's clock.
 */
export const signingKeyTable = defineRecord({
  name: 'signing_keys',
  since: 18,
  columns: { thumbprint: 'text', privateKey: 'text', publicKey: 'text', createdAt: 'integer' },
  filters: [],
  isDeleted: true,
})

/** A key of the server. `privateKey` is PKCS 8 in base64, `publicKey` the coordinate `x` of a JWK. */
export type SigningKeyRow = RecordRow<typeof signingKeyTable>

/** Keys belong to the server: all of them stand in one database. */
const database = 'default'

/** The time of the clock of these keys, in ms. */
export function signingNow(store: Pick<Store, 'now'>): number {
  return store.now(database)
}
const mostKeys = 100

/** All keys, the latest first. */
export function listSigningKeys(store: Pick<Records, 'listRecords'>): Promise<readonly SigningKeyRow[]> {
  return store.listRecords(database, signingKeyTable, { limit: mostKeys, after: null })
}

/** Adds a key, and says so in the audit. False if another process has added one with this number. */
export function addSigningKey(
  store: Pick<Records, 'addRecord'>,
  row: SigningKeyRow,
  changed: Changed,
): Promise<boolean> {
  const made = auditOf(changed, { kind: 'signing-key', name: row.thumbprint, action: 'create' })
  return store.addRecord(database, addition(signingKeyTable, row), [made])
}

/** Deletes a key that counts no more. */
export function dropSigningKey(store: Pick<Records, 'deleteRecord'>, id: string): Promise<boolean> {
  return store.deleteRecord(database, { table: signingKeyTable, id })
}
