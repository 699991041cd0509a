/** Sums of usage of the embedded store. */
import { nextTurn } from '../../identity/turn.ts'
import { usageSql } from '../sql/usage.ts'
import type { UsageRecords } from '../usage-records.ts'
import { usageRow } from './sqlite-rows.ts'
import type { SqliteSession } from './sqlite-session.ts'
import { addUsage } from './sqlite-usage-arriving.ts'

/** The methods of a store about usage. */
export function usageMethods(session: SqliteSession): UsageRecords {
  return {
    async listUsage(database, { by, after, limit }) {
      await addParts(session)
      const isComplete = await session.read((_, { usage }) => usage.isEmpty)
      if (!isComplete) await session.write((connection, { usage }) => usage.addUp(connection))
      return session.read(({ all }) =>
        all(usageSql.listUsage, database, by, after?.key ?? '', after?.day ?? Number.MIN_SAFE_INTEGER, limit).map(
          usageRow,
        ),
      )
    },
    addUsage: (database, rows) =>
      session.write((connection) => {
        for (const row of rows) addUsage(connection, database, row)
      }, true),
  }
}

/** Adds the usage of conversations that have arrived, a part in each transaction and turn. */
export async function addParts(session: SqliteSession): Promise<void> {
  const isOver = () => session.read((_, { usage }) => usage.arriving.isEmpty)
  while (!(await isOver())) {
    await session.write((connection, { usage }) => usage.arriving.addPart(connection), true)
    await nextTurn()
  }
}
