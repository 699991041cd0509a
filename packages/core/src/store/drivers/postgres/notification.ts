/** The notifications between processes and their format: many notifications in one text. */
import { z } from 'zod'
import type { StoreListener } from '../../listener.ts'

/** A conversation by database and id. */
export type Named = Parameters<StoreListener['gone']>[0]

/** One notification. */
export type Notification =
  | { readonly kind: 'appended'; readonly at: Named; readonly lastSeq: number }
  | { readonly kind: 'gone'; readonly at: Named }
  | { readonly kind: 'said'; readonly at: Named; readonly text: string }
  | { readonly kind: 'due' }

/** Packs notifications into as few texts as possible, each of at most `maxBytes`. A larger notification is left out. */
export function textsOf(notifications: readonly Notification[], maxBytes: number): string[] {
  const texts: string[] = []
  let items: string[] = []
  let bytes = 2
  for (const notification of notifications) {
    const item = JSON.stringify(fieldsOf(notification))
    const size = Buffer.byteLength(item) + 1
    if (size + 2 > maxBytes) continue
    if (bytes + size > maxBytes) {
      texts.push(`[${items.join()}]`)
      items = []
      bytes = 2
    }
    items.push(item)
    bytes += size
  }
  return items.length === 0 ? texts : [...texts, `[${items.join()}]`]
}

function fieldsOf(notification: Notification): readonly (string | number)[] {
  if (notification.kind === 'due') return ['due']
  const { database, conversation } = notification.at
  const rest =
    notification.kind === 'appended' ? [notification.lastSeq] : notification.kind === 'said' ? [notification.text] : []
  return [notification.kind, database, conversation, ...rest]
}

const textSchema = z.array(
  z.union([
    z.tuple([z.literal('appended'), z.string(), z.string(), z.int()]),
    z.tuple([z.literal('gone'), z.string(), z.string()]),
    z.tuple([z.literal('said'), z.string(), z.string(), z.string()]),
    z.tuple([z.literal('due')]),
  ]),
)

/** Parses the notifications of a text; null if it holds anything else. */
export function readText(text: string): readonly Notification[] | null {
  const { success, data } = textSchema.safeParse(parsed(text))
  return success ? data.map(notificationOf) : null
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function notificationOf(fields: z.infer<typeof textSchema>[number]): Notification {
  if (fields[0] === 'due') return { kind: 'due' }
  const at = { database: fields[1], conversation: fields[2] }
  if (fields[0] === 'appended') return { kind: 'appended', at, lastSeq: fields[3] }
  return fields[0] === 'gone' ? { kind: 'gone', at } : { kind: 'said', at, text: fields[3] }
}

/** Calls the listener's method for the notification. */
export function callListener(listener: StoreListener, notification: Notification): void {
  if (notification.kind === 'due') listener.due()
  else if (notification.kind === 'appended') listener.appended({ ...notification.at, lastSeq: notification.lastSeq })
  else if (notification.kind === 'gone') listener.gone(notification.at)
  else listener.received(notification.at, notification.text)
}

const maxWaiting = 2_000

/** Notifications to send, in order. */
interface NotificationQueue {
  /** Adds a notification. False if another one already covers it, or too many texts wait. */
  add(notification: Notification): boolean
  /** Takes all notifications. */
  take(): readonly Notification[]
}

/** Keeps only the last append notification per conversation, and one `due` notification. */
export function gatherNotifications(): NotificationQueue {
  let waiting: (Notification | null)[] = []
  const places = new Map<string, number>()
  return {
    add(notification) {
      if (notification.kind === 'due' && places.has('due')) return false
      if (notification.kind === 'said' && waiting.length >= maxWaiting) return false
      const key =
        notification.kind === 'due' ? 'due' : JSON.stringify([notification.at.database, notification.at.conversation])
      const older = notification.kind === 'appended' ? places.get(key) : undefined
      if (older !== undefined) waiting[older] = null
      if (notification.kind === 'gone') places.delete(key)
      if (notification.kind === 'appended' || notification.kind === 'due') places.set(key, waiting.length)
      waiting.push(notification)
      return true
    },
    take() {
      const all = waiting.filter((notification) => notification !== null)
      waiting = []
      places.clear()
      return all
    },
  }
}
