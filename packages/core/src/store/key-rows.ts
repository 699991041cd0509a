/** Creates and reads API keys, whether a runtime asks or a command on the store. */
import { type DatabaseId, WitanError } from '@witan/protocol'
import { type ApiKey, type CreatedKey, databaseNamePattern, type KeyRequestData } from '@witan/protocol/keys'
import { readAddress } from '@witan/protocol/names'
import { digestOfKey } from '../identity/key.ts'
import { randomKey } from '../identity/ids.ts'
import { changedBy } from '../identity/changed.ts'
import type { Principal } from '../identity/principal.ts'
import type { AgentReading } from '../agent/records.ts'
import { auditOf } from './audit.ts'
import { type KeyRow, keyTable, putKey } from './keys.ts'
import type { Records } from './record.ts'
import type { Store } from './store.ts'

/** The part of a store that creating a key uses. */
type KeyStore = Pick<Records, 'addRecord' | 'deleteRecord'> & Pick<AgentReading, 'listAgents'> & Pick<Store, 'now'>

/** A database, and who changes its keys. */
interface KeyAdminPlace {
  readonly database: string
  readonly principal: Principal
}

/** Creates a key in a database, and stores its digest. Nothing else ever shows the key. Throws `ID_INVALID` for a name that no database can have, `NAME_TAKEN` for an agent's address. */
export async function createKey(
  store: KeyStore,
  request: KeyRequestData,
  { database, principal }: KeyAdminPlace,
): Promise<CreatedKey> {
  refuseBadName(database)
  if (request.address !== null) await refuseAgentsAddress(store, database, request.address)
  const { id: holder, roles, name, address, expiresInSeconds } = request
  const changed = changedBy(principal, store.now(database))
  const { by, at: createdAt } = changed
  const expiresAt = expiresInSeconds === null ? null : createdAt + expiresInSeconds * 1000
  const { id, key } = randomKey()
  const about = { database, id, digest: digestOfKey(key), holder, roles: [...new Set(roles)], name, address }
  const row: KeyRow = { ...about, createdBy: by, createdAt, expiresAt, lastUsedAt: null }
  const made = auditOf(changed, { kind: 'key', name: id, action: 'create' })
  if (!(await putKey(store, row, [made]))) throw new Error('two keys have the same random bits')
  const { keyId, ...shown } = withoutUse(row)
  return { keyId, key, ...shown }
}

/** Deletes a key. False if there was none. */
export function revokeKey(store: KeyStore, id: string, { database, principal }: KeyAdminPlace): Promise<boolean> {
  const revoked = auditOf(changedBy(principal, store.now(database)), { kind: 'key', name: id, action: 'revoke' })
  return store.deleteRecord(database, { table: keyTable, id: id }, [revoked])
}

/** Throws `NAME_TAKEN` for the address of an agent of the database. */
async function refuseAgentsAddress(store: KeyStore, database: string, given: string): Promise<void> {
  const read = readAddress(given)
  if (!read.ok) return
  const { text } = read.address
  const agent = (await store.listAgents(database)).find(({ data }) => 'address' in data && data.address === text)
  if (agent === undefined) return
  throw new WitanError('NAME_TAKEN', `\`${text}\` is the address of agent \`${agent.id}\`.`, {
    path: 'address',
    hint: 'Choose another address for the key.',
  })
}

/** Throws `ID_INVALID` for a name that no database can have. */
function refuseBadName(database: string): void {
  if (databaseNamePattern.test(database)) return
  const detail = `\`${database.slice(0, 80)}\` cannot be the name of a database.`
  throw new WitanError('ID_INVALID', detail, { path: 'database', hint: 'Use 1 to 64 of a-z, 0-9 and `-`.' })
}

/** The principal that a key speaks for. */
export function principalOfKey({ database, id, holder, roles, address }: KeyRow): Principal {
  return Object.freeze({
    database: database as DatabaseId,
    id: holder ?? `key:${id}`,
    roles: Object.freeze([...roles]),
    address,
    via: 'key',
  })
}

/** A key as a list shows it. */
export function shownKey(row: KeyRow): ApiKey {
  return { ...withoutUse(row), lastUsedAt: isoOrNull(row.lastUsedAt) }
}

function withoutUse(row: KeyRow): Omit<ApiKey, 'lastUsedAt'> {
  const { id: keyId, name, address, createdAt, expiresAt } = row
  const { id, roles } = principalOfKey(row)
  const times = { createdAt: new Date(createdAt).toISOString(), expiresAt: isoOrNull(expiresAt) }
  return { keyId, id, roles: [...roles], name, address, ...times }
}

function isoOrNull(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}
