/** Adds what waits to the sums of usage: once a second, or after many groups. Readers count what waits, so nothing depends on when. */
import { usageSql } from '../../sql/postgres/usage.ts'
import type { PostgresSession } from './session.ts'
import { stored } from './text.ts'

const everyMs = 1_000
/** So many groups are added at once. */
const most = 512
const manyGroups = 256

/** Adds up the usage of groups that this process has written. */
interface UsageAdding {
  /** A group of this database has left a row that waits. */
  noted(database: string): void
  /** Stops. What waits is added by the next process that writes to the database. */
  close(): void
}

/** Begins with nothing. A failed addition is left to the next one. */
export function createUsageAdding(session: PostgresSession): UsageAdding {
  const groups = new Map<string, number>()
  let timer: NodeJS.Timeout | null = null
  const add = (database: string) => {
    groups.delete(database)
    const query = [usageSql.addWaiting, stored(database), most] as const
    const run = async () => session.connection.run({ database: stored(database) }, [query], { pool: 'write' })
    run().catch(() => {})
  }
  const addAll = () => {
    timer = null
    for (const database of [...groups.keys()]) add(database)
  }
  return {
    noted(database) {
      const count = (groups.get(database) ?? 0) + 1
      groups.set(database, count)
      if (count >= manyGroups) add(database)
      else timer ??= setTimeout(addAll, everyMs).unref()
    },
    close() {
      if (timer !== null) clearTimeout(timer)
      timer = null
      groups.clear()
    },
  }
}
