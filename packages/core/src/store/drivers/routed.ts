/** A store over several: each database (tenant) has its home in one of them. */
import { WitanError } from '@witan/protocol'
import type { Addition } from '../record.ts'
import type { Store } from '../store.ts'
import { everyDatabase, type Cluster, Histories } from './routed-parts.ts'
import { jobsOfAll } from './routed-jobs.ts'
import { routedKnowledge } from './routed-knowledge.ts'
import { listenToAll } from './routed-listener.ts'

/** The stores, and which database is where. */
interface RoutedStoreOptions {
  /** The stores by a name that errors use, such as `{ eu: postgresStore({ url }), us: postgresStore({ url: other }) }`. */
  readonly clusters: Readonly<Record<string, Store>>
  /** The cluster of each database that is not at `others`. All processes must have the same; a database does not move by itself. */
  readonly homes?: Readonly<Record<string, string>>
  /** The cluster of every other database. What belongs to the server itself, such as its signing keys, is in the database `default`. */
  readonly others: string
}

/**
 * A store that keeps each database in one of several stores. What one of them holds of a database whose home is elsewhere is never read. A
 * cluster that is away fails the requests of its own databases alone, and `open`. Throws `CONFIG_INVALID` for a cluster that is not there.
 */
export function routedStore({ clusters, homes = {}, others }: RoutedStoreOptions): Store {
  const all = Object.entries(clusters).map(([name, store]): Cluster => ({ name, store }))
  for (const name of [others, ...Object.values(homes)])
    if (!Object.hasOwn(clusters, name)) throw unknownCluster(name, clusters)
  const nameOf = (database: string) => (Object.hasOwn(homes, database) ? (homes[database] as string) : others)
  const at = (database: string) => clusters[nameOf(database)] as Store
  const isAt = ({ name }: Cluster, database: string) => name === nameOf(database)
  const histories = new Histories(all)
  const route = { all, isAt }
  return {
    ...everyDatabase(at),
    get history() {
      return histories.current()
    },
    open: () => openAll(all),
    async close() {
      const ended = await Promise.allSettled(all.map(({ store }) => store.close()))
      for (const one of ended) if (one.status === 'rejected') throw one.reason
    },
    append(append) {
      const store = at(append.database)
      const { follows } = append
      if (follows === undefined) return store.append(append)
      return store.append({ ...append, follows: { ...follows, history: histories.own(store, follows.history) } })
    },
    ...jobsOfAll(route),
    async listDatabases() {
      const lists = await Promise.all(
        all.map(async (cluster) => (await cluster.store.listDatabases()).filter((one) => isAt(cluster, one))),
      )
      return lists.flat().sort()
    },
    async addRecord(database, addition, beside = []) {
      const isTaken = await Promise.all([addition, ...beside].map((one) => isSecretTaken(all, at(database), one)))
      return isTaken.includes(true) ? false : at(database).addRecord(database, addition, beside)
    },
    async findRecords(table, secrets) {
      const found = await Promise.all(
        all.map(async (cluster) => {
          const rows = await cluster.store.findRecords(table, secrets)
          return rows.filter(({ database }) => isAt(cluster, database))
        }),
      )
      return found.flat()
    },
    async useRecords(table, uses) {
      const own = all.map((cluster) => [cluster.store, uses.filter(({ database }) => isAt(cluster, database))] as const)
      await Promise.all(own.map(([store, some]) => (some.length === 0 ? undefined : store.useRecords(table, some))))
    },
    knowledge: routedKnowledge(at, route),
    listen: (listener) => listenToAll(listener, route),
    async checkWritable() {
      const checked = await Promise.allSettled(all.map(({ store }) => store.checkWritable()))
      const failed = checked.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
      if (failed.length === all.length) throw failed[0]
    },
  }
}

/** Opens all, or none. */
async function openAll(all: readonly Cluster[]): Promise<void> {
  const opened = await Promise.allSettled(all.map(({ store }) => store.open()))
  const failed = opened.findIndex(({ status }) => status === 'rejected')
  if (failed < 0) return
  await Promise.allSettled(all.map(({ store }) => store.close()))
  const { reason } = opened[failed] as PromiseRejectedResult
  throw namedError(reason, all[failed]?.name ?? '')
}

function namedError(reason: unknown, cluster: string): unknown {
  if (!(reason instanceof WitanError)) return reason
  const { code, path, hint, details } = reason
  return new WitanError(code, `Cluster \`${cluster}\`: ${reason.message}`, {
    ...(path === null ? {} : { path }),
    ...(hint === null ? {} : { hint }),
    details,
    cause: reason,
  })
}

/** Whether another cluster has a row with the same secret. Two processes that add it at once to two clusters both do. */
async function isSecretTaken(all: readonly Cluster[], home: Store, { table, row }: Addition): Promise<boolean> {
  const { secret } = table
  if (secret === undefined) return false
  const given = String((row as Readonly<Record<string, unknown>>)[secret])
  const elsewhere = all.filter(({ store }) => store !== home)
  const found = await Promise.all(elsewhere.map(({ store }) => store.findRecords(table, [given])))
  return found.some((rows) => rows.length > 0)
}

function unknownCluster(name: string, clusters: RoutedStoreOptions['clusters']): WitanError {
  const known = Object.keys(clusters)
  return new WitanError('CONFIG_INVALID', `There is no cluster \`${name.slice(0, 100)}\`.`, {
    path: 'clusters',
    hint: known.length === 0 ? 'Name at least one in `clusters`.' : `There are: ${known.join(', ')}.`,
  })
}
