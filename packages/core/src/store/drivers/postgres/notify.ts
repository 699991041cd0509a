/**
 * Notifies other processes on the same server by `NOTIFY` after a commit; many notifications are sealed into one payload. A notification may come
 * twice, late or never. Nothing waits for one, and none is sent again after a connection was lost.
 */
import { WitanError } from '@witan/protocol'
import type { Client } from 'pg'
import type { StoreListener } from '../../listener.ts'
import type { Store } from '../../store.ts'
import { textOf } from './error.ts'
import type { Histories } from './history.ts'
import { startListener } from './listener.ts'
import { callListener, gatherNotifications, type Named, type Notification, readText, textsOf } from './notification.ts'
import { createOpener, createSealer, mostSealed, type Opened } from './seal.ts'
import type { PostgresSession } from './session.ts'
import { startWatch } from './watch.ts'

/** What notifying needs. */
interface NotificationSettings {
  readonly session: PostgresSession
  readonly histories: Pick<Histories, 'current'>
  /** Unique to this store: it ignores its own notifications. */
  readonly sender: Buffer
  readonly channel: string
  /** A separate connection to listen on. */
  readonly connect: () => Promise<Client>
  /** The key that seals notifications, as now stored; null if it was lost. */
  readonly readKey: (client: Client) => Promise<Buffer | null>
  readonly readClock: (client: Client) => Promise<number>
}

/** Sends notifications to other processes, and passes theirs to the listeners of this one. */
export interface Notifications {
  appended(at: Named & { readonly lastSeq: number }): void
  gone(at: Named): void
  due(): void
  /** Tells the listeners of this process. */
  historyChanged(): void
  readonly notify: Store['notify']
  readonly listen: Store['listen']
  /** Starts when the store is open, also for listeners added before. Without a key nothing is sent. */
  open(key: Buffer | null): void
  /** Sends the waiting notifications, if the server accepts them, and stops listening. */
  close(): Promise<void>
}

const gatherMs = 5
const notifySql = 'select pg_notify($1, n.text) from unnest($2::text[]) as n (text)'
/** The least time between two reports of ignored notifications. */
const ignoredEveryMs = 60_000

/** Notifications over one channel. If a store has only one listener, its own changes are not reported to it; if several, they may be. */
export function createNotifications(settings: NotificationSettings): Notifications {
  const listeners = new Set<{ readonly listener: StoreListener }>()
  const outbox = createOutbox(settings)
  const inbox = createInbox(settings, listeners)
  const ends: (() => void)[] = []
  let isOpen = false
  const listenIfWanted = () => {
    if (!isOpen || listeners.size === 0 || ends.length > 0) return
    const connected = async (client: Client) => {
      const key = await settings.readKey(client)
      outbox.key = key
      if (key === null) throw lostKey()
      inbox.open(key, await settings.readClock(client))
    }
    const { received, failed } = inbox
    ends.push(startListener({ ...settings, connected, received, failed }), startWatch(settings, listeners))
  }
  const send = (notification: Notification) => {
    if (listeners.size > 1) queueMicrotask(() => deliverAll(listeners, notification))
    if (isOpen) outbox.add(notification)
  }
  return {
    appended: ({ lastSeq, ...at }) => send({ kind: 'appended', at, lastSeq }),
    gone: (at) => send({ kind: 'gone', at }),
    due: () => send({ kind: 'due' }),
    historyChanged() {
      for (const { listener } of listeners) listener.historyChanged()
    },
    notify: (database, conversation, text) => send({ kind: 'said', at: { database, conversation }, text }),
    listen(listener) {
      const one = { listener }
      listeners.add(one)
      inbox.joined(listener)
      listenIfWanted()
      return () => {
        listeners.delete(one)
      }
    },
    open(key) {
      isOpen = true
      outbox.key = key
      listenIfWanted()
    },
    async close() {
      isOpen = false
      for (const end of ends.splice(0)) end()
      listeners.clear()
      await outbox.flush()
    },
  }
}

function deliverAll(listeners: Iterable<{ readonly listener: StoreListener }>, notification: Notification): void {
  for (const { listener } of listeners) callListener(listener, notification)
}

/** Opens received notifications, and tracks whether any can be opened. */
function createInbox(
  { channel, sender }: NotificationSettings,
  listeners: ReadonlySet<{ readonly listener: StoreListener }>,
) {
  let open: ((payload: string) => Opened) | null = null
  let problem: WitanError | null = null
  const change = (now: WitanError | null) => {
    if ((problem === null) === (now === null)) return
    problem = now
    for (const { listener } of listeners) listener.listening(now)
  }
  const ignore = countIgnored((count) => {
    for (const { listener } of listeners) listener.ignored(count)
  })
  return {
    open(key: Buffer, since: number) {
      open = createOpener({ key, channel, since })
      change(null)
    },
    joined(listener: StoreListener) {
      if (problem !== null) listener.listening(problem)
    },
    received(payload: string) {
      const opened = open?.(payload) ?? 'another version'
      if (opened === 'another version' || opened === 'too early') return
      const notifications = opened === 'not for us' ? null : readText(opened.text)
      if (opened === 'not for us' || notifications === null) return ignore()
      if (!opened.sender.equals(sender)) for (const notification of notifications) deliverAll(listeners, notification)
    },
    failed: (error: unknown) => change(cannotListen(error)),
  }
}

/** Counts ignored notifications and reports the count, at most once per interval. */
function countIgnored(report: (count: number) => void): () => void {
  let count = 0
  let timer: NodeJS.Timeout | null = null
  const reportCount = () => {
    timer = null
    if (count === 0) return
    const counted = count
    count = 0
    timer = setTimeout(reportCount, ignoredEveryMs).unref()
    report(counted)
  }
  return () => {
    count += 1
    if (timer === null) reportCount()
  }
}

const slower =
  'Until then readers here get stored events up to two seconds late, and no text as it is written by other processes.'

function cannotListen(error: unknown): WitanError {
  const hint = `Look at the connection limits of the server and of its user, and whether the server runs. ${slower}`
  const detail = `This process cannot listen on PostgreSQL to what other processes do: ${textOf(error)}.`
  return new WitanError('STORE_UNAVAILABLE', detail, { hint, cause: new Error(textOf(error)) })
}

function lostKey(): Error {
  return new Error('the table `notice_key` is empty: as its owner run `insert into notice_key default values`')
}

/** Sends collected notifications every 5 ms, and a `due` notification at once. Runs one statement at a time; later notifications wait for the next. */
function createOutbox({ session, sender, channel }: NotificationSettings) {
  const gathered = gatherNotifications()
  const seal = createSealer({ sender, channel })
  let timer: NodeJS.Timeout | null = null
  let sending: Promise<void> = Promise.resolve()
  const flush = () => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    sending = sending.then(async () => {
      const notifications = gathered.take()
      const { key } = outbox
      if (notifications.length === 0 || key === null) return
      const payloads = textsOf(notifications, mostSealed).map((text) => seal(key, text, session.clock.now()))
      await session.connection.single([notifySql, channel, payloads]).catch(() => {}) // a notification may be lost
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
  const outbox = {
    key: null as Buffer | null,
    flush,
    add(notification: Notification) {
      if (!gathered.add(notification)) return
      if (notification.kind === 'due')
        flushAtEndOfTurn() // a worker may be idle
      else timer ??= setTimeout(flush, gatherMs)
    },
  }
  return outbox
}
