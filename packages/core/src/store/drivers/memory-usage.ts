/** Usage in the store in memory. */
import { runWithPauses } from '../../identity/pausable.ts'
import type { UsageRecords } from '../usage-records.ts'
import { type MemoryAccess, tablesOf } from './memory-tables.ts'

/** The methods of a store that read usage. */
export function usageMethods({ memory }: MemoryAccess): UsageRecords {
  return {
    async listUsage(database, { by, after, limit }) {
      const isBehind = (row: { readonly key: string; readonly day: number }) =>
        after === null || row.key > after.key || (row.key === after.key && row.day > after.day)
      const rows = await runWithPauses(tablesOf(memory, database).usage.rowsInPieces([by]))
      return rows.filter(isBehind).slice(0, limit)
    },
  }
}
