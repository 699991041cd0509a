/** The scaled store: PostgreSQL, shared by any number of processes. */
import type { Client } from 'pg'
import { WitanError } from '@witan/protocol'
import { clock } from '../sql/postgres/clock.ts'
import { keySql, migrations } from '../sql/postgres/schema.ts'
import type { Store } from '../store.ts'
import { storeGroup } from './postgres/append.ts'
import { steady } from '../../identity/clock.ts'
import { clientConfig, connect, connectSession, type Pg, useParsers } from './postgres/connect.ts'
import { PostgresConnection } from './postgres/connection.ts'
import { artifactMethods } from './postgres/artifacts.ts'
import { blockMethods } from './postgres/blocks.ts'
import { contentMethods } from './postgres/contents.ts'
import { agentMethods, replyMethods } from './postgres/agents.ts'
import { listeningConfig } from './postgres/listener.ts'
import { GroupCommit } from './postgres/group.ts'
import { createHistories } from './postgres/history.ts'
import { sqlState } from './postgres/error.ts'
import { newMark, newSender } from './postgres/ids.ts'
import { interruptionMethods } from './postgres/interruptions.ts'
import { jobMethods } from './postgres/jobs.ts'
import { knowledgeRecords } from './postgres/knowledge.ts'
import { logMethods } from './postgres/log.ts'
import { migrate, readNotificationKey, readsVersion, unreachable } from './postgres/migrate.ts'
import { createNotifications } from './postgres/notify.ts'
import { participantMethods } from './postgres/participants.ts'
import { recordMethods } from './postgres/records.ts'
import { PostgresSession } from './postgres/session.ts'
import { setUpSession } from './postgres/session-settings.ts'
import type { ConnectionSettings, Timeouts } from './postgres/settings.ts'
import { wayTo } from './postgres/url.ts'
import { snapshotMethods } from './postgres/snapshot.ts'
import { usageMethods } from './postgres/usage.ts'
import { createUsageAdding } from './postgres/usage-adding.ts'

/** Where the store is kept, as whom, and how long it waits. */
export interface PostgresStoreOptions {
  /**
   * `postgres://user:password@host:5432/database`, with options such as `?sslmode=verify-full`, and with several hosts, of which the
   * primary is used: `a:5432,b:5432`. No message ever contains it.
   */
  readonly url: string
  /**
   * A second address of the same database that leads to the server itself, for listening and migrating, when `url` leads to a pooler
   * that gives each transaction another session.
   */
  readonly listenUrl?: string
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

/**
 * A store on a PostgreSQL server (15 or newer). Any number of processes may open it. `open` creates or updates the schema and the
 * roles. It throws `STORE_UNREACHABLE`, with a hint what to check, or `SCHEMA_TOO_NEW`. Appends of one turn share a commit.
 */
export function postgresStore(options: PostgresStoreOptions): Store {
  const { unavailableAfterMs = 10_000, groupsAtOnce = 2 } = options
  const read = readSettings(options)
  const session = new PostgresSession({ unavailableAfterMs, replyMs: read.timeouts.replyMs })
  const histories = createHistories(() => notifications.historyChanged())
  const settings = { ...read, observe: session.clock.observe, histories }
  let pg: Pg | null = null
  const notifications = createNotifications({
    session,
    histories,
    sender: newSender(),
    channel: `${settings.schema}_notices`,
    async connect() {
      const how = { way: settings.listening, config: listeningConfig(clientConfig(settings)) }
      return connect(pg as Pg, how, (client) => setUpSession(client, settings.timeouts))
    },
    readKey: (client) => readNotificationKey(client, settings),
    readClock: serverNow,
  })
  const usage = createUsageAdding(session)
  const makeGroup = () =>
    new GroupCommit({
      async store(database, members) {
        const { results, replaced, hasUsage } = await storeGroup(session, { database, members, markId: newMark() })
        if (hasUsage) usage.noted(database)
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
    const { key, entersByRole } = await prepare(pg, settings, session)
    session.begin(new PostgresConnection({ ...settings, entersByRole }, pg))
    if (settings.isShared) await assertSameStore(session, key, settings)
    group = makeGroup()
    notifications.open(key)
  }
  return {
    now: () => session.clock.now(),
    get history() {
      return histories.current()
    },
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
      usage.close()
      await notifications.close()
      await session.close()
      opening = null
    },
    ...logMethods({ session, group: { append: (one) => group.append(one) }, notifications }),
    ...jobMethods(session, notifications),
    ...interruptionMethods(session),
    ...agentMethods(session),
    ...recordMethods(session),
    ...blockMethods(session),
    ...replyMethods(session),
    ...snapshotMethods(session, notifications),
    ...contentMethods(session),
    ...participantMethods(session),
    ...artifactMethods(session),
    ...usageMethods(session),
    knowledge: knowledgeRecords(session),
    listen: notifications.listen,
    notify: notifications.notify,
  }
}

/** The settings of a store. Throws `STORE_UNREACHABLE` if an address or a name cannot be one. */
export function readSettings(options: PostgresStoreOptions): Omit<ConnectionSettings, 'observe' | 'histories'> {
  const { url, listenUrl, schema = 'witan', poolSize = 10, timeouts } = options
  if (!/^[a-z_][a-z0-9_]{0,39}$/.test(schema)) {
    const hint = 'Use lower-case letters, digits and `_`, at most 40, not beginning with a digit.'
    throw new WitanError('STORE_UNREACHABLE', `\`${schema}\` cannot be the name of a schema.`, { hint })
  }
  const { roles = { app: `${schema}_app`, worker: `${schema}_worker` } } = options
  const way = wayTo(url)
  const listening = listenUrl === undefined ? way : wayTo(listenUrl)
  const shared = { way, listening, isShared: listenUrl !== undefined }
  const known = { version: migrations.length, entersByRole: false }
  return { ...shared, ...known, schema, roles, poolSize, timeouts: { ...defaultTimeouts, ...timeouts } }
}

/** Migrates over a separate connection, as the user of the address, and sets the clock. Returns the key of the notifications, and how to begin. */
async function prepare(pg: Pg, settings: ConnectionSettings, session: PostgresSession) {
  const client = await connectSession(pg, settings).catch((error: unknown) => {
    throw unreachable(error, settings)
  })
  try {
    await setUpSession(client, settings.timeouts)
    await migrate(client, settings)
    const askedAt = steady()
    session.clock.observe(await serverNow(client), askedAt)
    const key = await readNotificationKey(client, settings)
    return { key, entersByRole: !(await readsVersion(client, settings)) }
  } finally {
    await client.end()
  }
}

async function serverNow(client: Client): Promise<number> {
  const { rows } = await client.query<{ now: number }>(`select ${clock} as now`)
  return rows[0]?.now as number
}

/** Both addresses lead to one schema: the key of the notifications is the same. */
async function assertSameStore(session: PostgresSession, key: Buffer | null, settings: ConnectionSettings) {
  const found = await session.connection.run('worker', [[keySql.read]]).catch((error: unknown) => {
    if (sqlState(error) === '42P01' || sqlState(error) === '3F000') return [[]]
    throw unreachable(error, { listening: settings.way })
  })
  if (key === null || key.equals((found[0]?.[0]?.key ?? Buffer.alloc(0)) as Buffer)) return
  const detail = '`store.listenUrl` leads to another database than `store.url`.'
  throw new WitanError('STORE_UNREACHABLE', detail, {
    hint: 'Give two addresses of one database, or only `store.url`.',
  })
}
