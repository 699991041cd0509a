/** The API keys of one principal's database, and the look-up of keys that a server gets. */
import { WitanError } from '@witan/protocol'
import { keyRequestSchema } from '@witan/protocol/schemas'
import { notFound } from '../identity/not-found.ts'
import { findKeys, listKeys, useKeys } from '../store/keys.ts'
import { createKey, principalOfKey, revokeKey, shownKey } from '../store/key-rows.ts'
import { parseBody } from './body.ts'
import type { KeyAdmin, KeyLookup } from './key-contract.ts'
import type { Scope } from './scope.ts'
import { rowPage } from './page.ts'
import type { Parts } from './wiring.ts'

/** The keys of one principal's database. For everybody but an admin there are none. */
export function keyAdmin({ parts, principal, database, ready }: Scope): KeyAdmin {
  const { store } = parts
  const admitted = async () => {
    await ready()
    if (!principal.roles.includes('admin'))
      throw new WitanError('NOT_FOUND', 'There are no keys here.', { hint: 'Keys are for the role `admin`.' })
  }
  return {
    async create(request) {
      await admitted()
      return createKey(store, parseBody(keyRequestSchema, request), { database, principal })
    },
    async list(options = {}) {
      await admitted()
      return rowPage(options, (page) => listKeys(store, database, page), { item: shownKey, id: ({ id }) => id })
    },
    async revoke(keyId) {
      await admitted()
      if (!(await revokeKey(store, keyId, { database, principal }))) throw notFound('key', keyId)
    },
  }
}

/** Finds keys by digest in all databases. */
export function keyLookup({ store }: Parts, ready: () => Promise<void>): KeyLookup {
  return {
    now: (database = 'default') => store.now(database),
    async find(digests) {
      await ready()
      const rows = await findKeys(store, digests)
      return rows.map((row) => {
        const { id: keyId, digest, expiresAt, lastUsedAt } = row
        return { keyId, digest, expiresAt, lastUsedAt, principal: principalOfKey(row) }
      })
    },
    async noteUses(uses) {
      await ready()
      await useKeys(
        store,
        uses.map(({ keyId, database, at }) => ({ id: keyId, database, at })),
      )
    },
    async isEmpty() {
      await ready()
      for (const database of await store.listDatabases())
        if ((await listKeys(store, database, { limit: 1, after: null })).length > 0) return false
      return true
    },
  }
}
