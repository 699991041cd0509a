/** API keys of the embedded store. */
import { pageStart } from '../cursor.ts'
import type { KeyRecords } from '../keys.ts'
import { keySql } from '../sql/keys.ts'
import { addRecord } from './sqlite-records.ts'
import { jsonText, keyRow } from './sqlite-rows.ts'
import type { SqliteSession } from './sqlite-session.ts'

/** The methods of a store that are about keys. */
export function keyMethods(session: SqliteSession): KeyRecords {
  return {
    findKeys: (digests) =>
      session.read(({ get }) =>
        [...new Set(digests)].flatMap((digest) => {
          const row = get(keySql.findKey, digest)
          return row === null ? [] : [keyRow(row)]
        }),
      ),
    listKeys: (database, { limit, after }) =>
      session.read(({ get, all }) => {
        const above = after === null ? Number.MAX_SAFE_INTEGER : pageStart(get(keySql.keyPlace, database, after)).number
        return all(keySql.listKeys, database, above as number, limit).map(keyRow)
      }),
    putKey: (row, beside = []) =>
      session.write((connection) => {
        const { get, run } = connection
        const { database, id, digest, holder, roles, name, address, createdBy, createdAt, expiresAt, lastUsedAt } = row
        if (get(keySql.takenKey, database, id, digest) !== null) return false
        const about = [holder, jsonText(roles), name, address, createdBy] as const
        run(keySql.putKey, database, id, digest, ...about, createdAt, expiresAt, lastUsedAt)
        for (const one of beside) addRecord(connection, database, one)
        return true
      }),
    deleteKey: (database, id, beside = []) =>
      session.write((connection) => {
        const { get, run } = connection
        const number = get(keySql.keyPlace, database, id)?.number as number | undefined
        if (number === undefined) return false
        run(keySql.deleteKey, number)
        for (const one of beside) addRecord(connection, database, one)
        return true
      }),
    useKeys: (uses) =>
      session.write(({ run }) => {
        for (const { database, id, at } of uses) run(keySql.useKey, database, id, at)
      }),
  }
}
