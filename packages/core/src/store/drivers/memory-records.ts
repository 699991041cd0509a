/** Records of the store in memory. */
import { pageStart } from '../cursor.ts'
import { mostForgotten } from '../record.ts'
import type { Addition, RecordPage, RecordRow, Records, RecordTable } from '../record.ts'
import { readRow, storedRow } from '../record-values.ts'
import { type Memory, type MemoryAccess, type MemoryRecord, type MemoryRecords, tablesOf } from './memory-tables.ts'

const empty: MemoryRecords = { rows: [], ids: new Map() }

/** The methods of a store that are about records. */
export function recordMethods({ memory }: MemoryAccess): Records {
  const recordsOf = (database: string, table: RecordTable) => tablesOf(memory, database).records.get(table) ?? empty
  return {
    async addRecord(database, one, beside = []) {
      const { table, row } = one
      const isKnown = memory.secrets.get(table)?.has(row[table.secret ?? ''] as string) === true
      if (isKnown || recordsOf(database, table).ids.has(row.id)) return false
      addRecords(memory, database, [one, ...beside])
      return true
    },
    listRecords: async <Table extends RecordTable>(database: string, table: Table, page: RecordPage<Table>) => {
      const { rows, ids } = recordsOf(database, table)
      const wanted = Object.entries(page.where ?? {}).filter(([, value]) => value !== undefined)
      const found: RecordRow<Table>[] = []
      let place = page.after === null ? rows.length : placeOf(rows, pageStart(ids.get(page.after)))
      while (place > 0 && found.length < page.limit) {
        place -= 1
        const { row } = rows[place] as MemoryRecord
        if (wanted.every(([name, value]) => row[name] === value)) found.push({ ...row } as object as RecordRow<Table>)
      }
      return found
    },
    findRecords: async <Table extends RecordTable>(table: Table, secrets: readonly string[]) =>
      [...new Set(secrets)].flatMap((secret) => {
        const found = memory.secrets.get(table)?.get(secret)
        if (found === undefined) return []
        return [{ ...found.row, database: found.database } as object as RecordRow<Table> & { database: string }]
      }),
    async useRecords(table, uses) {
      for (const { database, id, at } of uses) {
        const found = recordsOf(database, table).ids.get(id)
        const name = table.latest ?? ''
        if (found !== undefined) found.row[name] = Math.max(at, (found.row[name] as number | null) ?? at)
      }
    },
    async forgetRecords(database, table, before) {
      const { rows, ids } = recordsOf(database, table)
      const endOf = ({ row }: MemoryRecord) => row[table.until ?? ''] as number
      const ended = rows.filter((one) => endOf(one) < before).sort((one, other) => endOf(one) - endOf(other))
      const gone = new Set(ended.slice(0, mostForgotten))
      let kept = 0
      for (const one of rows) {
        if (gone.has(one)) continue
        rows[kept] = one
        kept += 1
      }
      rows.length = kept
      for (const { row } of gone) ids.delete(row['id'] as string)
    },
    async deleteRecord(database, { table, id }, beside = []) {
      const { rows, ids } = recordsOf(database, table)
      const found = ids.get(id)
      if (found === undefined) return false
      rows.splice(placeOf(rows, found), 1)
      ids.delete(id)
      memory.secrets.get(table)?.delete(found.row[table.secret ?? ''] as string)
      addRecords(memory, database, beside)
      return true
    },
  }
}

/** Adds rows whose ids and secrets are new. */
export function addRecords(memory: Memory, database: string, additions: readonly Addition[]): void {
  const { records } = tablesOf(memory, database)
  for (const { table, row } of additions) {
    const { rows, ids }: MemoryRecords = records.get(table) ?? { rows: [], ids: new Map() }
    records.set(table, { rows, ids })
    const one: MemoryRecord = {
      number: (rows.at(-1)?.number ?? 0) + 1,
      database,
      row: readRow(table, storedRow(table, row)),
    }
    rows.push(one)
    ids.set(row.id, one)
    if (table.secret === undefined) continue
    const secrets = memory.secrets.get(table) ?? new Map<unknown, MemoryRecord>()
    memory.secrets.set(table, secrets.set(row[table.secret], one))
  }
}

/** The place of a record, found by its number. */
function placeOf(rows: readonly MemoryRecord[], { number }: MemoryRecord): number {
  let [from, to] = [0, rows.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((rows[middle] as MemoryRecord).number < number) from = middle + 1
    else to = middle
  }
  return from
}
