/** The parts of a routed store: what goes to the home of a database, what is asked of all, and how histories add up. */
import type { Store } from '../store.ts'

/** A store among several. */
export interface Cluster {
  readonly name: string
  readonly store: Store
}

/** The clusters, and whether a database has its home in one. */
export interface Route {
  readonly all: readonly Cluster[]
  isAt(cluster: Cluster, database: string): boolean
}

/** What a routed store answers by itself. */
type Own =
  | 'append'
  | 'history'
  | 'open'
  | 'close'
  | 'claimJobs'
  | 'heartbeat'
  | 'releaseJobs'
  | 'dueInterruptions'
  | 'sweepConversations'
  | 'wakeStranded'
  | 'listDatabases'
  | 'findRecords'
  | 'useRecords'
  | 'listen'
  | 'checkWritable'
  | 'knowledge'
type ByDatabase = Exclude<keyof Store, Own>

/** Every method whose first argument is a database. */
const byDatabase: Readonly<Record<ByDatabase, true>> = {
  now: true,
  getConversation: true,
  listConversations: true,
  listParticipants: true,
  getParticipant: true,
  readOwners: true,
  deleteConversation: true,
  readEntries: true,
  putContent: true,
  readContent: true,
  getJob: true,
  listJobs: true,
  listRuns: true,
  countRuns: true,
  listTasks: true,
  listRunsOf: true,
  countRunsOf: true,
  countLiveRunsOf: true,
  countOpenInterruptions: true,
  getInterruption: true,
  listInterruptions: true,
  changeAgents: true,
  openSnapshot: true,
  readSnapshot: true,
  putSnapshot: true,
  notify: true,
  confirmStored: true,
  listAgents: true,
  listAgentIds: true,
  getAgentRevision: true,
  lastAgentRevision: true,
  listArtifacts: true,
  findArtifact: true,
  readBlocks: true,
  writeBlock: true,
  noteBlockUse: true,
  listBlocks: true,
  getBlock: true,
  listBlockRevisions: true,
  deleteBlock: true,
  eraseBlocks: true,
  listBlockUses: true,
  copyBlocks: true,
  putBlock: true,
  addRecord: true,
  listRecords: true,
  forgetRecords: true,
  deleteRecord: true,
  beginReply: true,
  finishReply: true,
  listUsage: true,
  addUsage: true,
}

/** Methods that ask the home of their database. */
export function everyDatabase(at: (database: string) => Store): Pick<Store, ByDatabase> {
  const made: Record<string, unknown> = {}
  for (const name of Object.keys(byDatabase) as ByDatabase[])
    made[name] = (database: string, ...rest: unknown[]) => {
      const store = at(database)
      return (store[name] as (...given: unknown[]) => unknown).call(store, database, ...rest)
    }
  return made as unknown as Pick<Store, ByDatabase>
}

/** How long the others wait for a cluster that does not answer. */
const patienceMs = 2_000

/** The reply if it comes in time, else null; what comes later goes to `late`. */
async function inTime<Reply>(reply: Promise<Reply>, late: (reply: Reply) => void): Promise<Reply | null> {
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<null>((resolve) => {
    timer = setTimeout(() => {
      isOver = true
      resolve(null)
    }, patienceMs)
  })
  const told = reply.then((value) => {
    if (isOver) late(value)
    return value
  })
  try {
    return await Promise.race([told, over])
  } finally {
    clearTimeout(timer)
  }
}

/** The replies of those that gave one in time, each with its cluster. Throws the first error if none did and one failed. */
export async function asked<Reply>(
  clusters: readonly Cluster[],
  ask: (cluster: Cluster) => Promise<Reply>,
  late?: (cluster: Cluster, reply: Reply) => void,
): Promise<readonly { readonly cluster: Cluster; readonly reply: Reply }[]> {
  const told = await Promise.allSettled(
    clusters.map((cluster) => inTime(ask(cluster), (reply) => late?.(cluster, reply))),
  )
  const replies = told.flatMap((one, index) =>
    one.status === 'fulfilled' && one.value !== null
      ? [{ cluster: clusters[index] as Cluster, reply: one.value as Reply }]
      : [],
  )
  const failed = told.find((one) => one.status === 'rejected')
  if (replies.length === 0 && failed !== undefined) throw failed.reason
  return replies
}

/** One number for the histories of all clusters, and back to that of one. */
export class Histories {
  /** For each cluster, what its own history was from which common one on. */
  readonly #known: ReadonlyMap<Store, { readonly common: number; readonly own: number }[]>

  constructor(all: readonly Cluster[]) {
    this.#known = new Map(all.map(({ store }) => [store, [{ common: 0, own: store.history }]]))
  }

  /** Grows whenever one of them grows. */
  current(): number {
    let common = 0
    for (const [store, known] of this.#known) common += store.history - (known[0]?.own ?? 0)
    for (const [store, known] of this.#known)
      if (known.at(-1)?.own !== store.history) known.push({ common, own: store.history })
    return common
  }

  /** The history that a cluster had in this common one. */
  own(store: Store, common: number): number {
    const known = this.#known.get(store) ?? []
    return known.findLast((one) => one.common <= common)?.own ?? store.history
  }
}
