/** Knowledge of a routed store: each database at its home; what waits is asked of all. */
import type { HeldDocument, KnowledgeRecords } from '../../knowledge/records.ts'
import type { Store } from '../store.ts'
import { asked, type Cluster, type Route } from './routed-parts.ts'

/** The knowledge of several stores. */
export function routedKnowledge(at: (database: string) => Store, { all, isAt }: Route): KnowledgeRecords {
  const home = (database: string) => at(database).knowledge
  const ofAll = async (work: (knowledge: KnowledgeRecords) => Promise<void>) => {
    const ended = await Promise.allSettled(all.map(({ store }) => work(store.knowledge)))
    for (const one of ended) if (one.status === 'rejected') throw one.reason
  }
  let turn = 0
  return {
    countKnowledge: (database, base) => home(database).countKnowledge(database, base),
    listBases: (database) => home(database).listBases(database),
    listDocuments: (database, base, page) => home(database).listDocuments(database, base, page),
    readDocument: (database, base, key) => home(database).readDocument(database, base, key),
    deleteDocument: (database, base, key) => home(database).deleteDocument(database, base, key),
    deleteKnowledge: (database, base) => home(database).deleteKnowledge(database, base),
    rankByWords: (search) => home(search.database).rankByWords(search),
    rankByNearness: (search) => home(search.database).rankByNearness(search),
    readPassages: (database, scopes, places) => home(database).readPassages(database, scopes, places),
    beginIngest: (database, ingest) => home(database).beginIngest(database, ingest),
    beginReread: (database, again) => home(database).beginReread(database, again),
    readIngest: (database, base, id) => home(database).readIngest(database, base, id),
    endDocument: (owner, held, end) => home(held.database).endDocument(owner, held, end),
    async claimDocuments({ limit, ...claim }) {
      turn += 1
      const claimed: HeldDocument[] = []
      // What comes too late, or has its home elsewhere, lapses with its lease.
      const ask = async (clusters: readonly Cluster[], most: number) => {
        const replies = await asked(clusters, ({ store }) => store.knowledge.claimDocuments({ ...claim, limit: most }))
        for (const { cluster, reply } of replies)
          claimed.push(...reply.filter(({ database }) => isAt(cluster, database)))
        return replies.filter(({ reply }) => reply.length === most).map(({ cluster }) => cluster)
      }
      const inTurn = all.map((_, index) => all[(index + turn) % all.length] as Cluster)
      const first = inTurn.slice(0, limit)
      const full = await ask(first, Math.floor(limit / Math.max(1, first.length)))
      // What these left free goes to those that were not asked, or have more.
      for (const cluster of [...inTurn.slice(limit), ...full])
        if (claimed.length < limit) await ask([cluster], limit - claimed.length)
      return claimed
    },
    renewDocuments: (owner, leaseMs) => ofAll((knowledge) => knowledge.renewDocuments(owner, leaseMs)),
    releaseDocuments: (owner) => ofAll((knowledge) => knowledge.releaseDocuments(owner)),
  }
}
