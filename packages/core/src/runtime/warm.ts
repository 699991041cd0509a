/** The folds that a runtime caches in memory: conversations, and recently read documents. */
import type { Entry } from '@witan/protocol/entries'
import { withFaultPoints } from '../conversation/append-points.ts'
import { entriesOf, WarmConversations } from '../conversation/warm.ts'
import { WarmDocuments } from '../conversation/warm-documents.ts'
import type { Registry } from '../agent/registry.ts'
import type { LiveHub } from '../event/live.ts'
import type { Store } from '../store/store.ts'

/** Folds of conversations and of documents. A document's fold is evicted with its conversation. */
export interface Warm {
  readonly warm: WarmConversations
  readonly documents: WarmDocuments
}

/** What the folds are connected to. `stored` also gets what this process stores; null if nobody else does. */
export interface WarmParts {
  readonly store: Store
  readonly hub: LiveHub
  readonly registry: Registry
  readonly stored: ((channel: string, entries: readonly Entry[]) => void) | null
}

/** Connects the folds to the store, to the readers and to the agents; nothing is read yet. */
export function keepWarm({ store, hub, registry, stored }: WarmParts): Warm {
  const documents = new WarmDocuments((of) => entriesOf(store, of))
  const warm = new WarmConversations({
    store,
    documents,
    append: withFaultPoints((append) => store.append(append)),
    stored:
      stored === null
        ? (channel, entries) => hub.entries(channel, entries)
        : (channel, entries) => {
            hub.entries(channel, entries)
            stored(channel, entries)
          },
    ensureRevision: (database, id, revision) => registry.ensureRevision(database, id, revision),
    lookup: (database) => (id, revision) => registry.revision(database, id, revision),
    capacity: 256,
  })
  return { warm, documents }
}
