/** Records of the store in memory. */
import { pageStart } from '../cursor.ts'
import type { Addition, RecordPage, RecordRow, Records, RecordTable } from '../record.ts'
import { type MemoryAccess, type MemoryRecords, type MemoryTables, tablesOf } from './memory-tables.ts'

/** The methods of a store that are about records. */
export function recordMethods({ memory }: MemoryAccess): Records {
  return {
    async addRecord(database, one) {
      const tables = tablesOf(memory, database)
      if (tables.records.get(one.table)?.places.has(one.row.id) === true) return false
      addRecords(tables, [one])
      return true
    },
    listRecords: async <Table extends RecordTable>(database: string, table: Table, page: RecordPage<Table>) => {
      const { rows = [], places } = tablesOf(memory, database).records.get(table) ?? {}
      const wanted = Object.entries(page.where ?? {}).filter(([, value]) => value !== undefined)
      const found: Addition['row'][] = []
      let index = page.after === null ? rows.length : pageStart(places?.get(page.after))
      while (index > 0 && found.length < page.limit) {
        index -= 1
        const row = rows[index] as Addition['row']
        if (wanted.every(([name, value]) => row[name] === value)) found.push({ ...row })
      }
      return found as readonly object[] as readonly RecordRow<Table>[]
    },
  }
}

/** Adds rows whose ids are new. */
export function addRecords({ records }: MemoryTables, additions: readonly Addition[]): void {
  for (const { table, row } of additions) {
    const known: MemoryRecords = records.get(table) ?? { rows: [], places: new Map() }
    records.set(table, known)
    known.places.set(row.id, known.rows.push({ ...row }) - 1)
  }
}
