/** API keys of the store in memory. */
import { startOf } from '../cursor.ts'
import type { KeyRecords } from '../keys.ts'
import { addRecords } from './memory-records.ts'
import { type MemoryAccess, tablesOf } from './memory-tables.ts'

/** The methods of a store that are about keys. */
export function keyMethods({ memory }: MemoryAccess): KeyRecords {
  const { keys: byDigest } = memory
  return {
    findKeys: async (digests) =>
      [...new Set(digests)].flatMap((digest) => {
        const row = byDigest.get(digest)
        return row === undefined ? [] : [{ ...row }]
      }),
    async listKeys(database, { limit, after }) {
      const rows = [...tablesOf(memory, database).keys.values()].reverse()
      const from = startOf(rows, after, ({ id }) => id)
      return rows.slice(from, from + limit).map((row) => ({ ...row }))
    },
    async putKey(row, beside = []) {
      const tables = tablesOf(memory, row.database)
      const { keys } = tables
      if (keys.has(row.id) || byDigest.has(row.digest)) return false
      const own = { ...row, roles: [...row.roles] }
      keys.set(row.id, own)
      byDigest.set(row.digest, own)
      addRecords(tables, beside)
      return true
    },
    async deleteKey(database, id, beside = []) {
      const tables = tablesOf(memory, database)
      const { keys } = tables
      const row = keys.get(id)
      if (row === undefined) return false
      byDigest.delete(row.digest)
      addRecords(tables, beside)
      return keys.delete(id)
    },
    async useKeys(uses) {
      for (const { database, id, at } of uses) {
        const row = tablesOf(memory, database).keys.get(id)
        if (row !== undefined) row.lastUsedAt = Math.max(at, row.lastUsedAt ?? at)
      }
    },
  }
}
