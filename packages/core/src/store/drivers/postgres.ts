/** The scaled store: PostgreSQL, shared by any number of processes. */
import type { Client, ClientConfig, Pool, PoolConfig } from 'pg'
import { WitanError } from '@witan/protocol'
import type { Store } from '../store.ts'
import { storeGroup } from './postgres/append.ts'
import { steady } from './postgres/clock.ts'
import { PostgresConnection, poolConfig, useParsers } from './postgres/connection.ts'
import { agentMethods, replyMethods } from './postgres/desk.ts'
import { listeningConfig } from './postgres/ear.ts'
import { GroupCommit } from './postgres/group.ts'
import { newMark, newSender } from './postgres/ids.ts'
import { interruptionMethods } from './postgres/interruptions.ts'
import { jobMethods } from './postgres/jobs.ts'
import { logMethods } from './postgres/log.ts'
import { migrate, unreachable } from './postgres/migrate.ts'
import { createNotices } from './postgres/notify.ts'
import { PostgresSession } from './postgres/session.ts'
import type { ConnectionSettings, Timeouts } from './postgres/settings.ts'
import { readAddress } from './postgres/url.ts'
import { wholeMethods } from './postgres/whole.ts'

/** Where the store is kept, as whom, and how long it waits. */
export interface PostgresStoreOptions {
  /** `postgres://user:password@host:5432/database`, with `?sslmode=verify-full` and the like. It is in no message. */
  readonly url: string
  /** Everything is in it; made if need be. Lower-case letters, digits and `_`, at most 40. Default `witan`. */
  readonly schema?: string
  /** The roles that keep databases (tenants) apart. Default `<schema>_app` and `<schema>_worker`; made if need be. */
  readonly roles?: { readonly app: string; readonly worker: string }
  /** So many connections at most, half of them for writing; one more listens. Default 10. */
  readonly poolSize?: number
  /** So many groups of appends of one database are under way at once. Default 2. */
  readonly groupsAtOnce?: number
  /** How long the server may be away before `STORE_UNAVAILABLE` is thrown, in ms. Default 10,000. */
  readonly unavailableAfterMs?: number
  /** In ms; by default 5,000 for a connection and for a reply, 3,000 for a lock and for a silent transaction. */
  readonly timeouts?: Partial<Timeouts>
}

const defaultTimeouts: Timeouts = { connectMs: 5_000, replyMs: 5_000, lockMs: 3_000, silentMs: 3_000 }

/** What is used of the package `pg`; it is loaded when a store opens, and never before. */
interface Pg {
  readonly Pool: new (config: PoolConfig) => Pool
  readonly Client: new (config: ClientConfig) => Client
  readonly types: Parameters<typeof useParsers>[0]
}

/**
 * A store on a PostgreSQL server (15 or newer). Any number of processes may open it. `open` makes or updates the schema and the
 * roles, and throws `STORE_UNREACHABLE`, with what to look at, or `SCHEMA_TOO_NEW`. Appends of one turn share a commit.
 */
export function postgresStore(options: PostgresStoreOptions): Store {
  const { unavailableAfterMs = 10_000, groupsAtOnce = 2 } = options
  const session = new PostgresSession({ unavailableAfterMs })
  const settings = { ...readSettings(options), heard: session.clock.heard }
  let pg: Pg | null = null
  const notices = createNotices({
    session,
    sender: newSender(),
    channel: `${settings.schema}_notices`,
    connect: async () => connect(pg as Pg, listeningConfig(poolConfig(settings))),
  })
  const makeGroup = () =>
    new GroupCommit({
      store: (database, members) => storeGroup(session, { database, members, markId: newMark() }),
      stored: ({ database, conversation, create }, { before, lastSeq, jobs }) => {
        const at = { database, conversation }
        if (create !== undefined) notices.gone(at) // it may have been another one before
        if (lastSeq > before) notices.appended({ ...at, lastSeq })
        if (jobs.some(({ owner, wake, endedAt }) => owner === null && wake && endedAt === null)) notices.due()
      },
      groupsAtOnce,
    })
  let group = makeGroup()
  let opening: Promise<void> | null = null
  const open = async () => {
    pg = (await import('pg')).default as unknown as Pg
    useParsers(pg.types)
    await prepare(pg, settings, session)
    session.begin(new PostgresConnection(settings, pg))
    group = makeGroup()
    notices.open()
  }
  return {
    now: () => session.clock.now(),
    open() {
      opening ??= open().catch((error: unknown) => {
        opening = null
        throw error
      })
      return opening
    },
    async close() {
      await opening?.catch(() => {})
      await group.close()
      await notices.close()
      await session.close()
      opening = null
    },
    ...logMethods({ session, group: { append: (one) => group.append(one) }, notices }),
    ...jobMethods(session, notices),
    ...interruptionMethods(session),
    ...agentMethods(session),
    ...replyMethods(session),
    ...wholeMethods(session, notices),
    listen: notices.listen,
    say: notices.say,
  }
}

function readSettings(options: PostgresStoreOptions): Omit<ConnectionSettings, 'heard'> {
  const { url, schema = 'witan', poolSize = 10, timeouts } = options
  if (!/^[a-z_][a-z0-9_]{0,39}$/.test(schema)) {
    const hint = 'Use lower-case letters, digits and `_`, at most 40, not beginning with a digit.'
    throw new WitanError('STORE_UNREACHABLE', `\`${schema}\` cannot be the name of a schema.`, { hint })
  }
  const { roles = { app: `${schema}_app`, worker: `${schema}_worker` } } = options
  return { url, address: readAddress(url), schema, roles, poolSize, timeouts: { ...defaultTimeouts, ...timeouts } }
}

/** Migrates over a connection of its own, as the user of the address, and sets the clock. */
async function prepare(pg: Pg, settings: ConnectionSettings, session: PostgresSession): Promise<void> {
  const client = await connect(pg, { ...poolConfig(settings), pipeline: false, query_timeout: 60_000 }).catch(
    (error) => {
      throw unreachable(error, settings)
    },
  )
  try {
    await migrate(client, settings)
    const askedAt = steady()
    const { rows } = await client.query('select (extract(epoch from clock_timestamp()) * 1000)::bigint as now')
    session.clock.heard(rows[0]?.now as number, askedAt)
  } finally {
    await client.end()
  }
}

async function connect(pg: Pg, config: ClientConfig): Promise<Client> {
  const client = new pg.Client(config)
  client.on('error', () => {}) // whatever is under way is told of it itself
  await client.connect()
  return client
}
