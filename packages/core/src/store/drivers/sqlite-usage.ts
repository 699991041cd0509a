/** Sums of usage of the embedded store. */
import { usageRow } from '../rows.ts'
import { usageSql } from '../sql/usage.ts'
import type { UsageRecords } from '../usage-records.ts'
import type { SqliteSession } from './sqlite-session.ts'
import { addUp } from './sqlite-usage-rows.ts'

/** The methods of a store that read usage. */
export function usageMethods(session: SqliteSession): UsageRecords {
  return {
    async listUsage(database, { by, after, limit }) {
      if (await session.read(({ get }) => get(usageSql.anyFact) !== null)) await session.write(addUp)
      return session.read(({ all }) =>
        all(usageSql.listUsage, database, by, after?.key ?? '', after?.day ?? Number.MIN_SAFE_INTEGER, limit).map(
          (row) => usageRow(row),
        ),
      )
    },
  }
}
