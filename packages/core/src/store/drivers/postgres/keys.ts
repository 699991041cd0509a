/** API keys on PostgreSQL. */
import { pageStart } from '../../cursor.ts'
import type { KeyRecords, KeyRow, KeyUse } from '../../keys.ts'
import { keySql } from '../../sql/postgres/keys.ts'
import { keyRow } from './rows.ts'
import { additionsTo } from './records.ts'
import { conclude, type PostgresSession } from './session.ts'
import type { Statement } from './statements.ts'
import { jsonText, stored } from './text.ts'

const lastNumber = Number.MAX_SAFE_INTEGER

/** The methods of a store that are about keys. */
export function keyMethods(session: PostgresSession): KeyRecords {
  return {
    async findKeys(digests) {
      const known = digests.filter((digest) => /^[\w:-]+$/.test(digest)) // a comma would name two
      const [, rows = []] = await session.read('', [keySql.nameDigests, known.join()], [keySql.findKeys, known])
      return rows.map(keyRow)
    },
    async listKeys(database, { limit, after }) {
      const at = stored(database)
      const last = after === null ? null : await session.read(at, [keySql.keyPlace, at, stored(after)])
      const above = last === null ? lastNumber : (pageStart(last[0]?.[0]).number as number)
      const [rows = []] = await session.read(at, [keySql.listKeys, at, above, limit])
      return rows.map(keyRow)
    },
    putKey: (row, beside = []) => putKey(session, row, additionsTo(stored(row.database), beside)),
    deleteKey: (database, id, beside = []) =>
      deleteKey(session, { at: stored(database), id: stored(id) }, additionsTo(stored(database), beside)),
    async useKeys(uses) {
      for (const [database, own] of Map.groupBy(uses, (use) => use.database)) await useKeys(session, database, own)
    },
  }
}

/** If the reply to the commit was lost, the digest shows whether it happened: no other writer has it. */
async function putKey(session: PostgresSession, row: KeyRow, beside: readonly Statement[]): Promise<boolean> {
  const { database, id, digest, holder, roles, name, address, createdBy, createdAt, expiresAt, lastUsedAt } = row
  const [at, key] = [stored(database), stored(id)]
  const textOrNull = (text: string | null) => (text === null ? null : stored(text))
  const about = [textOrNull(holder), jsonText(roles), textOrNull(name), textOrNull(address), stored(createdBy)] as const
  const times = [Math.trunc(createdAt), expiresAt, lastUsedAt] as const
  let isUntold = false
  return session.transaction(at, async ({ send, commit }) => {
    if (isUntold) {
      const [found = []] = await send([[keySql.digestOfKey, at, key]])
      if (found[0]?.digest === stored(digest)) return true
    }
    isUntold = false
    const [made = []] = await send([[keySql.putKey, at, key, stored(digest), ...about, ...times]])
    if (made.length === 0) return false
    isUntold = true
    await conclude(commit(beside), () => {
      isUntold = false
    })
    return true
  })
}

/** If the reply to the commit was lost, a key that is missing counts as deleted by it. */
async function deleteKey(
  session: PostgresSession,
  { at, id }: { readonly at: string; readonly id: string },
  beside: readonly Statement[],
): Promise<boolean> {
  let isUntold = false
  return session.transaction(at, async ({ send, commit }) => {
    const [gone = []] = await send([[keySql.deleteKey, at, id]])
    if (gone.length === 0) return isUntold
    isUntold = true
    await conclude(commit(beside), () => {
      isUntold = false
    })
    return true
  })
}

/** Stores when keys were used, in the order of ids, so that two processes cannot deadlock. */
async function useKeys(session: PostgresSession, database: string, uses: readonly KeyUse[]): Promise<void> {
  const at = stored(database)
  const rows = uses.toSorted((one, other) => (one.id < other.id ? -1 : 1))
  const values = [rows.map(({ id }) => stored(id)), rows.map((use) => Math.trunc(use.at))] as const
  await session.transaction(at, ({ commit }) => commit([[keySql.useKeys, at, ...values]]))
}
