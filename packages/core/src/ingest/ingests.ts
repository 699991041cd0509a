/** The ingests of a process: takes documents in, works on those that wait, and says how far an ingest is. */
import type { KnowledgeBase } from '@witan/protocol/knowledge'
import type { Clock } from '../identity/clock.ts'
import { randomId } from '../identity/ids.ts'
import type { IngestRow } from '../knowledge/records.ts'
import { acceptDocuments } from './accept.ts'
import { createLoop, type IngestLoop, type LoopContext } from './loop.ts'
import { lookAfter } from './upkeep.ts'

/** Where an ingest is. */
interface IngestPlace {
  readonly database: string
  /** The name under which the store has its documents. */
  readonly base: string
  readonly id: string
}

/** The ingests of a process. */
export interface Ingests extends Pick<IngestLoop, 'open' | 'close'> {
  /** Takes documents in. Once it resolves, they survive a crash. Throws as `acceptDocuments` does. */
  begin(
    at: Omit<IngestPlace, 'id'>,
    base: KnowledgeBase,
    request: { readonly documents: readonly unknown[]; readonly prune: string | null },
  ): Promise<IngestRow>
  /**
   * Bases of a database were changed or deleted: what is left of them goes, and what they read otherwise now is read again. If it fails, or the
   * process ends, another look does it.
   */
  changed(database: string): Promise<void>
  /** An ingest now and after each change, and last at its end; nothing if there is none. Ends at an abort, too. */
  follow(place: IngestPlace, signal: AbortSignal): AsyncIterable<IngestRow>
}

/** How long the change of an ingest that another process works on may go unnoticed, in ms. */
const followMs = 1_000

/** The ingests of a process. Nothing is read before `open`, and nothing after `close`. */
export function createIngests(context: Omit<LoopContext, 'ended'>): Ingests {
  const { knowledge, readers, clock } = context
  const listeners = new Set<() => void>()
  const ended = () => {
    for (const listener of [...listeners]) listener()
  }
  const { open, close, wake } = createLoop({ ...context, ended })
  return {
    open,
    close,
    async begin({ database, base: name }, base, { documents, prune }) {
      const accepted = await acceptDocuments(base, documents, readers.mediaTypes)
      const ingest = { base: name, id: randomId(), at: clock.now(), prune, ...accepted }
      const row = await knowledge.beginIngest(database, ingest)
      wake()
      return row
    },
    async changed(database) {
      if (await lookAfter(context, database)) wake()
    },
    async *follow({ database, base, id }, signal) {
      for (let last = ''; !signal.aborted; ) {
        const change = nextChange(listeners, { clock, signal })
        try {
          const row = await knowledge.readIngest(database, base, id)
          if (row === null) return
          const now = JSON.stringify(row)
          if (now !== last) yield row
          last = now
          if (row.endedAt !== null) return
          await change.came
        } finally {
          change.cancel()
        }
      }
    },
  }
}

/** Resolves at the next change here, after a second, or at an abort. */
function nextChange(
  listeners: Set<() => void>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): { readonly came: Promise<void>; cancel(): void } {
  let cancel = () => {}
  const came = new Promise<void>((resolve) => {
    const stop = clock.after(followMs, () => cancel())
    cancel = () => {
      stop()
      listeners.delete(cancel)
      signal.removeEventListener('abort', cancel)
      resolve()
    }
    listeners.add(cancel)
    signal.addEventListener('abort', cancel)
  })
  return { came, cancel: () => cancel() }
}
