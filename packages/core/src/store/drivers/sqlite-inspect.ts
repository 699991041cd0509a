/** Looks at a store file from outside: reads, takes nothing over, starts nothing. */
import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { migrations } from '../sql/schema.ts'
import { applicationId } from './sqlite-connection.ts'
import { isHeldElsewhere } from './sqlite-error.ts'
import { readHolder } from './sqlite-lock.ts'

/**
 * What a store file is. `held`: open in another process, which `pid` names if it said so; `foreign`: of another program;
 * `unreadable`: `detail` says why. Counts and agents are of database `default`, and only there when it is `readable`.
 */
export interface StoreFileReport {
  readonly state: 'missing' | 'readable' | 'held' | 'foreign' | 'unreadable'
  readonly pid: number | null
  readonly detail: string | null
  /** The file's schema, and the newest that this version knows. A higher one cannot be opened [E12]. */
  readonly version: number | null
  readonly knownVersion: number
  /** Jobs that have not ended, and open interruptions. */
  readonly openJobs: number
  readonly openInterruptions: number
  /** The stored agents' data. */
  readonly agents: readonly object[]
}

/** Never throws, and changes nothing in the file. Beside the log of a crashed process it leaves SQLite's index of that log. */
export function inspectStoreFile(file: string): StoreFileReport {
  const nothing: Omit<StoreFileReport, 'state'> = {
    ...{ pid: null, detail: null, version: null, knownVersion: migrations.length },
    ...{ openJobs: 0, openInterruptions: 0, agents: [] },
  }
  if (!existsSync(file)) return { ...nothing, state: 'missing' }
  try {
    const db = new DatabaseSync(addressOf(file), { readOnly: true })
    try {
      return { ...nothing, ...look(db) }
    } finally {
      db.close()
    }
  } catch (error) {
    if (isHeldElsewhere(error)) return { ...nothing, state: 'held', pid: readHolder(file)?.pid ?? null }
    return { ...nothing, state: 'unreadable', detail: error instanceof Error ? error.message : String(error) }
  }
}

/**
 * Whoever has the file open has a log beside it, and so has one that crashed; both are read with locks. Without a log the
 * file is whole by itself, and reading it as one that nobody changes makes no log either.
 */
function addressOf(file: string): URL | string {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false })
  if (log !== undefined && log.size > 0) return file
  const url = pathToFileURL(file)
  url.searchParams.set('immutable', '1')
  return url
}

function look(db: DatabaseSync): Partial<StoreFileReport> & Pick<StoreFileReport, 'state'> {
  const number = (sql: string) => Number(Object.values(db.prepare(sql).get() ?? {})[0])
  const version = number('pragma user_version')
  if (number('select count(*) from sqlite_schema') === 0) return { state: 'readable', version: 0 }
  if (number('pragma application_id') !== applicationId) return { state: 'foreign' }
  if (version > migrations.length) return { state: 'readable', version }
  const agents = db.prepare(`select data from agents join agent_revisions using (database, id, revision)
    where database = 'default' order by id`)
  return {
    ...{ state: 'readable', version },
    openJobs: number(`select count(*) from jobs where database = 'default' and ended_at is null`),
    openInterruptions: number(`select count(*) from interruptions where database = 'default' and state = 'open'`),
    agents: agents.all().map(({ data }) => JSON.parse(String(data)) as object),
  }
}
