/** The embedded store: one SQLite file, held by one process. */
import { resolve } from 'node:path'
import { WitanError } from '@witan/protocol'
import { systemClock } from '../../identity/clock.ts'
import type { Store } from '../store.ts'
import { agentMethods, replyMethods } from './sqlite-agents.ts'
import { artifactMethods } from './sqlite-artifacts.ts'
import { blockMethods } from './sqlite-blocks.ts'
import { contentMethods } from './sqlite-contents.ts'
import { interruptionMethods } from './sqlite-interruptions.ts'
import { jobMethods } from './sqlite-jobs.ts'
import { embeddedKnowledge } from './sqlite-knowledge.ts'
import { logMethods } from './sqlite-log.ts'
import { participantMethods } from './sqlite-participants.ts'
import { recordMethods } from './sqlite-records.ts'
import { SqliteSession } from './sqlite-session.ts'
import { snapshotMethods } from './sqlite-snapshot.ts'
import { usageMethods } from './sqlite-usage.ts'

/** Where the store is kept and how safely. */
export interface SqliteStoreOptions {
  /**
   * The store file. Its folder is created if missing; a relative path is resolved once. `-wal` and `.lock` files are beside it, and `-knowledge`
   * with the documents of knowledge bases, once there are any.
   */
  readonly file: string
  /** `full`, the default, survives a power cut; `normal` only the end of the process, and saves a disk sync per commit. */
  readonly synchronous?: 'full' | 'normal'
  /** Default: the machine's clock. */
  readonly now?: () => number
}

/**
 * A store in one SQLite file. Nothing is created before `open`, which throws `STORE_LOCKED` while another process, or another store
 * of this process, has the file. After `open`, jobs of dead owners can be claimed at once. Appends of one turn share a commit.
 */
export function sqliteStore(options: SqliteStoreOptions): Store {
  const { file, synchronous = 'full', now = systemClock.now } = options ?? {}
  if (typeof file !== 'string' || file === '')
    throw new WitanError('CONFIG_INVALID', 'A SQLite store needs a file.', {
      path: 'file',
      hint: "Write `sqliteStore({ file: './witan.db' })`.",
    })
  const path = resolve(file)
  const session = new SqliteSession({ file: path, synchronous, now })
  const knowledge = embeddedKnowledge({ file: `${path}-knowledge`, synchronous, now })
  return {
    now,
    history: 0, // nobody else writes the file while it is open
    async open() {
      await session.open()
      knowledge.open()
    },
    async close() {
      await knowledge.close()
      await session.close()
    },
    knowledge: knowledge.records,
    ...logMethods(session),
    ...participantMethods(session),
    ...jobMethods(session),
    ...interruptionMethods(session),
    ...agentMethods(session),
    ...recordMethods(session),
    ...blockMethods(session),
    ...replyMethods(session),
    ...snapshotMethods(session),
    ...contentMethods(session),
    ...artifactMethods(session),
    ...usageMethods(session),
    // Only this process has the file, so there are no notifications.
    listen: () => () => {},
    notify: () => {},
  }
}
