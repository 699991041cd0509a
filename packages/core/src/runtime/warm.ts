/** The folds that a runtime caches in memory: conversations, and recently read documents. */
import { WitanError } from '@witan/protocol'
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

interface Stored {
  stored(channel: string, entries: readonly Entry[]): void
}

/** What the folds are connected to. Telemetry and metrics also get what this process stores. */
interface WarmParts {
  readonly store: Store
  readonly hub: LiveHub
  readonly registry: Registry
  readonly telemetry: Stored | null
  readonly metrics: Stored | null
  report(error: unknown): void
}

/** Calls it once in each history of the store. */
function onceForEach(store: Store, report: () => void): () => void {
  let reported: number | null = null
  return () => {
    if (reported === store.history) return
    reported = store.history
    report()
  }
}

function wentBackError(): WitanError {
  const detail =
    'What is stored went back: commits that this process knew are lost, and what it knew of them is dropped.'
  const hint = 'A standby that had not received them may have taken over, or a backup was restored.'
  return new WitanError('STORE_UNAVAILABLE', detail, { hint })
}

/** Connects the folds to the store, to the readers and to the agents; nothing is read yet. */
export function keepWarm({ store, hub, registry, telemetry, metrics, report }: WarmParts): Warm {
  const others = [telemetry?.stored, metrics?.stored].filter((one) => one !== undefined)
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
    wentBack: onceForEach(store, () => report(wentBackError())),
    capacity: 256,
  })
  return { warm, documents }
}
