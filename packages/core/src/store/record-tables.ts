/** Every kind of record. The schema has a step for each, in the order of the versions that create their tables. */
import { auditTable } from './audit.ts'
import { keyTable } from './keys.ts'
import { remoteKeyTable } from './remote-keys.ts'
import { signingKeyTable } from './signing-keys.ts'
import type { RecordTable } from './record.ts'
import { usedEvidenceTable } from './used-evidence.ts'

/** One row for each kind; `store/record.ts` says what a declaration holds. */
export const recordTables: readonly RecordTable[] = [
  keyTable,
  auditTable,
  signingKeyTable,
  remoteKeyTable,
  usedEvidenceTable,
]

/** The tables whose rows a database exists for, beside those of the log. */
export const beginningTables: readonly string[] = recordTables
  .filter(({ beginsDatabase }) => beginsDatabase === true)
  .map(({ name }) => name)

/** All steps of a schema: those of the log, and between them one for each kind of record, made from its declaration. */
export function withRecords<Step>(steps: readonly Step[], stepOf: (table: RecordTable, before: Step) => Step): Step[] {
  const all = [...steps]
  for (const table of recordTables) {
    if (table.since === null) continue
    const before = all[table.since - 2]
    if (before === undefined) throw new Error(`no schema version comes before that of \`${table.name}\``)
    all.splice(table.since - 1, 0, stepOf(table, before))
  }
  return all
}
