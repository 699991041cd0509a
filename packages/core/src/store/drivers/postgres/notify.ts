/**
 * How the processes on one server tell each other: after the commit, many notices in one, by `NOTIFY`. A notice may come twice,
 * late or never; nothing waits for one, and nothing is told again after a connection was lost.
 */
import type { Client } from 'pg'
import type { Store, StoreListener } from '../../store.ts'
import { listenOn } from './ear.ts'
import { deliver, gatherNotices, type Named, type Notice, payloadsOf, readPayload } from './notice.ts'
import type { PostgresSession } from './session.ts'

/** How to tell and to listen. */
export interface NoticeSettings {
  readonly session: PostgresSession
  /** Unique to this store: it hears itself and pays no heed. */
  readonly sender: string
  readonly channel: string
  /** A connection of its own to listen on. */
  readonly connect: () => Promise<Client>
}

/** Tells the other processes, and the listeners of this one what they tell. */
export interface Notices {
  appended(at: Named & { readonly lastSeq: number }): void
  gone(at: Named): void
  due(): void
  readonly say: Store['say']
  readonly listen: Store['listen']
  /** The store is open: those who asked before are served from now on. */
  open(): void
  /** Tells what is waiting, if the server hears it, and listens no more. */
  close(): Promise<void>
}

const gatherMs = 5
const notifySql = 'select pg_notify($1, n.text) from unnest($2::text[]) as n (text)'

/** Notices over one channel. A store's only listener does not hear of what that store did; of several, each may. */
export function createNotices(settings: NoticeSettings): Notices {
  const listeners = new Set<{ readonly listener: StoreListener }>()
  const outbox = createOutbox(settings)
  let stopListening: (() => void) | null = null
  let isOpen = false
  const deliverAll = (notice: Notice) => {
    for (const { listener } of listeners) deliver(listener, notice)
  }
  const hear = (payload: string) => {
    const { sender, notices } = readPayload(payload)
    if (sender !== settings.sender) notices.forEach(deliverAll)
  }
  const listenIfWanted = () => {
    if (isOpen && listeners.size > 0) stopListening ??= listenOn(settings, hear)
  }
  const tell = (notice: Notice) => {
    if (listeners.size > 1) queueMicrotask(() => deliverAll(notice))
    if (isOpen) outbox.add(notice)
  }
  return {
    appended: ({ lastSeq, ...at }) => tell({ kind: 'appended', at, lastSeq }),
    gone: (at) => tell({ kind: 'gone', at }),
    due: () => tell({ kind: 'due' }),
    say: (database, conversation, text) => tell({ kind: 'said', at: { database, conversation }, text }),
    listen(listener) {
      const one = { listener }
      listeners.add(one)
      listenIfWanted()
      return () => {
        listeners.delete(one)
      }
    },
    open() {
      isOpen = true
      listenIfWanted()
    },
    async close() {
      isOpen = false
      stopListening?.()
      stopListening = null
      listeners.clear()
      await outbox.flush()
    },
  }
}

/** Sends what gathered within 5 ms, and at once that something is due, one statement at a time; what comes meanwhile is for the next. */
function createOutbox({ session, sender, channel }: NoticeSettings) {
  const gathered = gatherNotices()
  let timer: NodeJS.Timeout | null = null
  let sending: Promise<void> = Promise.resolve()
  const flush = () => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    sending = sending.then(async () => {
      const notices = gathered.take()
      if (notices.length === 0) return
      await session.connection.single([notifySql, channel, payloadsOf(sender, notices)]).catch(() => {}) // lost, as it may be
    })
    return sending
  }
  let isFlushing = false
  const flushAtEndOfTurn = () => {
    if (isFlushing) return
    isFlushing = true
    setImmediate(() => {
      isFlushing = false
      void flush()
    })
  }
  return {
    flush,
    add(notice: Notice) {
      if (!gathered.add(notice)) return
      if (notice.kind === 'due')
        flushAtEndOfTurn() // somebody may be idle
      else timer ??= setTimeout(flush, gatherMs)
    },
  }
}
