/** Usage in the store in memory. */
import { runWithPauses } from '../../identity/pausable.ts'
import { addedRows } from '../usage-count.ts'
import type { UsageRecords } from '../usage-records.ts'
import { type MemoryAccess, tablesOf } from './memory-tables.ts'

/** The methods of a store about usage. */
export function usageMethods({ memory }: MemoryAccess): UsageRecords {
  return {
    async listUsage(database, { by, after, limit }) {
      const isBehind = (row: { readonly key: string; readonly day: number }) =>
        after === null || row.key > after.key || (row.key === after.key && row.day > after.day)
      const { usage, added } = tablesOf(memory, database)
      const counted = await runWithPauses(usage.rowsInPieces([by]))
      const more = added.filter((row) => row.by === by)
      const rows = more.length === 0 ? counted : addedRows(counted, more)
      return rows.filter(isBehind).slice(0, limit)
    },
    async addUsage(database, rows) {
      const tables = tablesOf(memory, database)
      tables.added = addedRows(tables.added, rows)
    },
  }
}
