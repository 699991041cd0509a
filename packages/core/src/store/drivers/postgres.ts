/** The scaled store: PostgreSQL, shared by any number of processes. */
import type { Client, ClientConfig, Pool, PoolConfig } from 'pg'
import { WitanError } from '@witan/protocol'
import { clock } from '../sql/postgres/clock.ts'
import type { Store } from '../store.ts'
import { storeGroup } from './postgres/append.ts'
import { steady } from '../../identity/clock.ts'
import { PostgresConnection, poolConfig, useParsers } from './postgres/connection.ts'
import { artifactMethods } from './postgres/artifacts.ts'
import { contentMethods } from './postgres/contents.ts'
import { agentMethods, replyMethods } from './postgres/agents.ts'
import { listeningConfig } from './postgres/listener.ts'
import { GroupCommit } from './postgres/group.ts'
import { newMark, newSender } from './postgres/ids.ts'
import { interruptionMethods } from './postgres/interruptions.ts'
import { jobMethods } from './postgres/jobs.ts'
import { logMethods } from './postgres/log.ts'
import { migrate, readNotificationKey, unreachable } from './postgres/migrate.ts'
import { createNotifications } from './postgres/notify.ts'
import { participantMethods } from './postgres/participants.ts'
import { recordMethods } from './postgres/records.ts'
import { PostgresSession } from './postgres/session.ts'
import type { ConnectionSettings, Timeouts } from './postgres/settings.ts'
import { readAddress } from './postgres/url.ts'
import { snapshotMethods } from './postgres/snapshot.ts'
import { usageMethods } from './postgres/usage.ts'

/** Where the store is kept, as whom, and how long it waits. */
export interface PostgresStoreOptions {
  /** `postgres://user:password@host:5432/database`, with options such as `?sslmode=verify-full`. No message ever contains it. */
  readonly url: string
  /** The schema that holds all tables, created if missing. At most 40 lower-case letters, digits and `_`. Default `witan`. */
  readonly schema?: string
  /** The roles that isolate databases (tenants), created if missing. Default `<schema>_app` and `<schema>_worker`. */
  readonly roles?: { readonly app: string; readonly worker: string }
  /** The most connections, half of them for writing; one more listens. Default 10. */
  readonly poolSize?: number
  /** How many groups of appends of one database may be under way at once. Default 2. */
  readonly groupsAtOnce?: number
  /** How long the server may be unreachable before `STORE_UNAVAILABLE` is thrown, in ms. Default 10,000. */
  readonly unavailableAfterMs?: number
  /** In ms; by default 5,000 for a connection and for a reply, 3,000 for a lock and for a silent transaction. */
  readonly timeouts?: Partial<Timeouts>
}

const defaultTimeouts: Timeouts = { connectMs: 5_000, replyMs: 5_000, lockMs: 3_000, silentMs: 3_000 }

/** The used part of the package `pg`, which is imported only when a store opens. */
interface Pg {
  readonly Pool: new (config: PoolConfig) => Pool
  readonly Client: new (config: ClientConfig) => Client
  readonly types: Parameters<typeof useParsers>[0]
}

/**
 * A store on a PostgreSQL server (15 or newer). Any number of processes may open it. `open` creates or updates the schema and the
 * roles. It throws `STORE_UNREACHABLE`, with a hint what to check, or `SCHEMA_TOO_NEW`. Appends of one turn share a commit.
 */
export function postgresStore(options: PostgresStoreOptions): Store {
  const { unavailableAfterMs = 10_000, groupsAtOnce = 2 } = options
  const session = new PostgresSession({ unavailableAfterMs })
  const settings = { ...readSettings(options), observe: session.clock.observe }
  let pg: Pg | null = null
  const notifications = createNotifications({
    session,
    sender: newSender(),
    channel: `${settings.schema}_notices`,
    connect: async () => connect(pg as Pg, listeningConfig(poolConfig(settings))),
    readKey: (client) => readNotificationKey(client, settings),
    readClock: serverNow,
  })
  const makeGroup = () =>
    new GroupCommit({
      async store(database, members) {
        const { results, replaced } = await storeGroup(session, { database, members, markId: newMark() })
        for (const conversation of replaced) notifications.gone({ database, conversation })
        return results
      },
      stored: ({ database, conversation }, { before, lastSeq, jobs }) => {
        const at = { database, conversation }
        if (lastSeq > before) notifications.appended({ ...at, lastSeq })
        if (jobs.some(({ owner, wake, endedAt }) => owner === null && wake && endedAt === null)) notifications.due()
      },
      groupsAtOnce,
    })
  let group = makeGroup()
  let opening: Promise<void> | null = null
  const open = async () => {
    pg = (await import('pg')).default as unknown as Pg
    useParsers(pg.types)
    const key = await prepare(pg, settings, session)
    session.begin(new PostgresConnection(settings, pg))
    group = makeGroup()
    notifications.open(key)
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
      await notifications.close()
      await session.close()
      opening = null
    },
    ...logMethods({ session, group: { append: (one) => group.append(one) }, notifications }),
    ...jobMethods(session, notifications),
    ...interruptionMethods(session),
    ...agentMethods(session),
    ...recordMethods(session),
    ...replyMethods(session),
    ...snapshotMethods(session, notifications),
    ...contentMethods(session),
    ...participantMethods(session),
    ...artifactMethods(session),
    ...usageMethods(session),
    listen: notifications.listen,
    notify: notifications.notify,
  }
}

function readSettings(options: PostgresStoreOptions): Omit<ConnectionSettings, 'observe'> {
  const { url, schema = 'witan', poolSize = 10, timeouts } = options
  if (!/^[a-z_][a-z0-9_]{0,39}$/.test(schema)) {
    const hint = 'Use lower-case letters, digits and `_`, at most 40, not beginning with a digit.'
    throw new WitanError('STORE_UNREACHABLE', `\`${schema}\` cannot be the name of a schema.`, { hint })
  }
  const { roles = { app: `${schema}_app`, worker: `${schema}_worker` } } = options
  return { url, address: readAddress(url), schema, roles, poolSize, timeouts: { ...defaultTimeouts, ...timeouts } }
}

/** Migrates over a separate connection, as the user of the URL, and sets the clock. Returns the key of the notifications. */
async function prepare(pg: Pg, settings: ConnectionSettings, session: PostgresSession): Promise<Buffer | null> {
  const client = await connect(pg, { ...poolConfig(settings), pipeline: false, query_timeout: 60_000 }).catch(
    (error) => {
      throw unreachable(error, settings)
    },
  )
  try {
    await migrate(client, settings)
    const askedAt = steady()
    session.clock.observe(await serverNow(client), askedAt)
    return await readNotificationKey(client, settings)
  } finally {
    await client.end()
  }
}

async function serverNow(client: Client): Promise<number> {
  const { rows } = await client.query<{ now: number }>(`select ${clock} as now`)
  return rows[0]?.now as number
}

async function connect(pg: Pg, config: ClientConfig): Promise<Client> {
  const client = new pg.Client(config)
  client.on('error', () => {}) // pending queries reject by themselves
  await client.connect()
  return client
}
