/** Inspects a store file without opening the store: only reads, claims no jobs, starts nothing. */
import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { migrations } from '../sql/schema.ts'
import { applicationId } from './sqlite-connection.ts'
import { isHeldElsewhere } from './sqlite-error.ts'
import { readHolder } from './sqlite-lock.ts'

/**
 * The state of a store file. `held`: open in another process, whose `pid` is set if known. `foreign`: of another program.
 * `unreadable`: `detail` says why. Counts and agents are those of database `default`, and only set if `readable`.
 */
interface StoreFileReport {
  readonly state: 'missing' | 'readable' | 'held' | 'foreign' | 'unreadable'
  readonly pid: number | null
  readonly detail: string | null
  /** The file's schema version, and the newest one that this version knows. A higher one cannot be opened [E12]. */
  readonly version: number | null
  readonly knownVersion: number
  /** Jobs that have not ended, and open interruptions. */
  readonly openJobs: number
  readonly openInterruptions: number
  /** The stored agents' data. */
  readonly agents: readonly object[]
}

/** Inspects a file. Never throws, and changes nothing in it. After a crash it may leave SQLite's index file of the write-ahead log. */
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
 * A file that is open, or was open in a crashed process, has a write-ahead log beside it and is read with locks. Without a log the
 * file is complete, and reading it as immutable creates no log.
 */
function addressOf(file: string): URL | string {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false })
  if (log !== undefined && log.size > 0) return file
  const url = pathToFileURL(file)
  url.searchParams.set('immutable', '1')
  return url
}

/** Whether the rows of this number belong to a conversation. */
const isLinked = (number: string) => `exists (select 1 from conversations c where c.number = ${number})`

function look(db: DatabaseSync): Partial<StoreFileReport> & Pick<StoreFileReport, 'state'> {
  const number = (sql: string) => Number(Object.values(db.prepare(sql).get() ?? {})[0])
  const version = number('pragma user_version')
  if (number('select count(*) from sqlite_schema') === 0) return { state: 'readable', version: 0 }
  if (number('pragma application_id') !== applicationId) return { state: 'foreign' }
  if (version > migrations.length) return { state: 'readable', version }
  const agents = db.prepare(`select data from agents join agent_revisions using (database, id, revision)
    where database = 'default' and id not like '%:%' order by id`)
  return {
    ...{ state: 'readable', version },
    openJobs: number(
      `select count(*) from jobs where database = 'default' and ended_at is null and ${isLinked('key >> 20')}`,
    ),
    openInterruptions: number(
      `select count(*) from interruptions where database = 'default' and state = 'open' and ${isLinked('conversation')}`,
    ),
    agents: agents.all().map(({ data }) => JSON.parse(String(data)) as object),
  }
}
