/** API keys: a digest of each, never the key itself. */
import { readAddress } from '@witan/protocol/names'
import { type Addition, addition, defineRecord, json, type RecordRow, type Records, type RecordUse } from './record.ts'
import type { RowPage } from '../identity/row-page.ts'

/**
 * The declaration. `holder` is the principal that a key speaks for, such as `user:anna`; null: the key is a principal of its own. Times are
 * in ms of the store's clock. An expired key stays until it is deleted.
 */
export const keyTable = defineRecord({
  name: 'keys',
  since: null,
  columns: {
    digest: 'text',
    holder: 'text?',
    roles: json<readonly string[]>(),
    name: 'text?',
    address: 'text?',
    createdBy: 'text',
    createdAt: 'integer',
    expiresAt: 'integer?',
    lastUsedAt: 'integer?',
  },
  filters: [],
  secret: 'digest',
  latest: 'lastUsedAt',
  isDeleted: true,
  beginsDatabase: true,
})

/** A key, and the database that it is for. */
export type KeyRow = RecordRow<typeof keyTable> & { readonly database: string }

/** The keys with these digests, of any database and in any order: who knows a digest may read its row, and no other one. */
export function findKeys(store: Pick<Records, 'findRecords'>, digests: readonly string[]): Promise<readonly KeyRow[]> {
  return store.findRecords(keyTable, digests)
}

/** The keys of a database, the latest first. */
export async function listKeys(
  store: Pick<Records, 'listRecords'>,
  database: string,
  page: RowPage,
): Promise<readonly KeyRow[]> {
  const rows = await store.listRecords(database, keyTable, page)
  return rows.map((row) => Object.assign(row, { database }))
}

/** The id of the key of a database that has this address, in canonical form; null for none. Reads all its keys, page by page. */
export async function keyWithAddress(
  store: Pick<Records, 'listRecords'>,
  database: string,
  address: string,
): Promise<string | null> {
  for (let after: string | null = null; ; ) {
    const rows = await listKeys(store, database, { limit: pageSize, after })
    const found = rows.find((row) => row.address !== null && canonical(row.address) === address)
    if (found !== undefined) return found.id
    after = rows.at(-1)?.id ?? null
    if (rows.length < pageSize) return null
  }
}

const pageSize = 500

function canonical(address: string): string | null {
  const read = readAddress(address)
  return read.ok ? read.address.text : null
}

/** Stores a key with the records beside it. False if the database has a key of that id, or any database has its digest. */
export function putKey(
  store: Pick<Records, 'addRecord'>,
  { database, ...row }: KeyRow,
  beside: readonly Addition[] = [],
): Promise<boolean> {
  return store.addRecord(database, addition(keyTable, row), beside)
}

/** Stores when keys were used last, never earlier than before. Keys that are gone are ignored. */
export function useKeys(store: Pick<Records, 'useRecords'>, uses: readonly RecordUse[]): Promise<void> {
  return store.useRecords(keyTable, uses)
}
