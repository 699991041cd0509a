/** The keys of agents on other servers: the one that signed an agent's card first is kept, and only it may bring another [Mb14]. */
import type { Changed } from '../identity/changed.ts'
import { auditOf } from './audit.ts'
import { addition, defineRecord, type Records } from './record.ts'

/**
 * The declaration. `id` and `remote` are the address, or the URL of the card; `thumbprint` is that of RFC 7638. Times are in ms of the store's
 * clock.
 */
export const remoteKeyTable = defineRecord({
  name: 'remote_keys',
  since: 21,
  columns: { remote: 'text', thumbprint: 'text', keptAt: 'integer' },
  filters: ['remote'],
  isDeleted: true,
})

type Readable = Pick<Records, 'listRecords'>
type Writable = Pick<Records, 'addRecord' | 'deleteRecord'>

/** The thumbprint that is kept of a remote; null for none. */
export async function keptKeyOf(store: Readable, database: string, remote: string): Promise<string | null> {
  const [row] = await store.listRecords(database, remoteKeyTable, { limit: 1, after: null, where: { remote } })
  return row?.thumbprint ?? null
}

/** Keeps a key in place of the one before, and says so in the audit. If another process keeps one at the same time, one of both stays. */
export async function keepKey(
  store: Writable,
  database: string,
  { remote, thumbprint, changed }: { readonly remote: string; readonly thumbprint: string; readonly changed: Changed },
): Promise<void> {
  const row = addition(remoteKeyTable, { id: remote, remote, thumbprint, keptAt: changed.at })
  const noted = (action: 'create' | 'change') => auditOf(changed, { kind: 'remote-key', name: remote, action })
  const isReplaced = await store.deleteRecord(database, { table: remoteKeyTable, id: remote }, [row, noted('change')])
  if (!isReplaced) await store.addRecord(database, row, [noted('create')])
}
