/** The one connection to a store file: opened exclusively, configured and migrated. */
import type { DatabaseSync } from 'node:sqlite'
import { blockSql } from '../sql/blocks.ts'
import { jobSql } from '../sql/jobs.ts'
import { logSql } from '../sql/log.ts'
import { replySql } from '../sql/replies.ts'
import { migrations, usageVersion } from '../sql/schema.ts'
import { countLogs } from './sqlite-count-logs.ts'
import {
  type FileSchema,
  numberOf,
  openFile,
  type SqliteSettings,
  type Statements,
  statementsOf,
  versionOf,
} from './sqlite-file.ts'
import { forgetHolder } from './sqlite-lock.ts'
import { type FilePlace, placeOf } from './sqlite-place.ts'

/** An open file. */
export interface SqliteConnection extends Statements {
  readonly db: DatabaseSync
  /** An unused number for a conversation of this file. */
  nextConversation(): number
  /** An unused number for a block of memory, which no deleted one had since the file was opened: what takes several turns goes by it. */
  nextBlock(): number
  readonly place: FilePlace
  close(): void
}

/** The mark of our files: `WITN`. */
export const applicationId = 0x5749544e

const schema: FileSchema = {
  applicationId,
  get version() {
    return migrations.length // tests of upgrades add migrations after this module was loaded
  },
  migrate,
}

/**
 * Opens the file exclusively. Earlier owners must be dead, so their leases lapse at once, and their pending replies are removed.
 * Throws `STORE_LOCKED` with the holder's process id, `SCHEMA_TOO_NEW`, or `STORE_UNREACHABLE` for any other reason.
 */
export async function openConnection(settings: SqliteSettings): Promise<SqliteConnection> {
  return connect(await openFile(settings, schema), settings.file)
}

function migrate(db: DatabaseSync): void {
  const version = versionOf(db)
  for (const migration of migrations.slice(version)) db.exec(migration)
  if (version < usageVersion) db.exec('delete from usage_marks') // no sums were there
  countLogs(db)
  db.exec(`pragma secure_delete = on; ${blockSql.clearDeleted}; pragma secure_delete = off`)
  db.exec(jobSql.lapseAllLeases)
  db.exec(replySql.dropLostReplies)
}

function connect(db: DatabaseSync, file: string): SqliteConnection {
  const place = placeOf(file)
  let lastNumber = numberOf(db, logSql.lastConversationNumber)
  let lastBlock = numberOf(db, blockSql.lastNumber)
  return {
    db,
    ...statementsOf(db),
    nextConversation: () => ++lastNumber,
    nextBlock: () => ++lastBlock,
    place,
    close() {
      if (place.lost === null) forgetHolder(file)
      db.close() // of a file that is not at its path any more, SQLite leaves the log there as it is
    },
  }
}
