/** The folds that a runtime caches in memory: conversations, and recently read documents. */
import type { Entry } from '@witan/protocol/entries'
import { withFaultPoints } from '../conversation/append-points.ts'
import { entriesOf, WarmConversations } from '../conversation/warm-conversations.ts'
import { WarmDocuments } from '../conversation/warm-documents.ts'
import type { Registry } from '../agent/registry.ts'
import type { LiveHub } from '../event/live.ts'
import type { Store } from '../store/store.ts'

/** Folds of conversations and of documents. A document's fold is evicted with its conversation. */
interface Warm {
  readonly warm: WarmConversations
  readonly documents: WarmDocuments
}

/** What the folds are connected to. `stored` also get what this process stores. */
interface WarmParts {
  readonly store: Store
  readonly hub: LiveHub
  readonly registry: Registry
  readonly stored: readonly (((channel: string, entries: readonly Entry[]) => void) | undefined)[]
}

/** Connects the folds to the store, to the readers and to the agents; nothing is read yet. */
export function keepWarm({ store, hub, registry, stored }: WarmParts): Warm {
  const others = stored.filter((one) => one !== undefined)
  const documents = new WarmDocuments((of) => entriesOf(store, of))
  const warm = new WarmConversations({
    store,
    documents,
    append: withFaultPoints((append) => store.append(append)),
    stored:
      others.length === 0
        ? (channel, entries) => hub.entries(channel, entries)
        : (channel, entries) => {
            hub.entries(channel, entries)
            for (const other of others) other(channel, entries)
          },
    ensureRevision: (database, id, revision) => registry.ensureRevision(database, id, revision),
    lookup: (database) => (id, revision) => registry.revision(database, id, revision),
    capacity: 256,
  })
  return { warm, documents }
}
