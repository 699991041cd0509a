/** The notices between processes and their format: many notices in one text. */
import { z } from 'zod'
import type { StoreListener } from '../../listener.ts'

/** A conversation by database and id. */
export type Named = Parameters<StoreListener['gone']>[0]

/** One notice. */
export type Notice =
  | { readonly kind: 'appended'; readonly at: Named; readonly lastSeq: number }
  | { readonly kind: 'gone'; readonly at: Named }
  | { readonly kind: 'said'; readonly at: Named; readonly text: string }
  | { readonly kind: 'due' }

/** Packs notices into as few texts as possible, each of at most `maxBytes`. A larger notice is left out. */
export function textsOf(notices: readonly Notice[], maxBytes: number): string[] {
  const texts: string[] = []
  let items: string[] = []
  let bytes = 2
  for (const notice of notices) {
    const item = JSON.stringify(fieldsOf(notice))
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

function fieldsOf(notice: Notice): readonly (string | number)[] {
  if (notice.kind === 'due') return ['due']
  const { database, conversation } = notice.at
  const rest = notice.kind === 'appended' ? [notice.lastSeq] : notice.kind === 'said' ? [notice.text] : []
  return [notice.kind, database, conversation, ...rest]
}

const textSchema = z.array(
  z.union([
    z.tuple([z.literal('appended'), z.string(), z.string(), z.int()]),
    z.tuple([z.literal('gone'), z.string(), z.string()]),
    z.tuple([z.literal('said'), z.string(), z.string(), z.string()]),
    z.tuple([z.literal('due')]),
  ]),
)

/** Parses the notices of a text; null if it holds anything else. */
export function readText(text: string): readonly Notice[] | null {
  const { success, data } = textSchema.safeParse(parsed(text))
  return success ? data.map(noticeOf) : null
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function noticeOf(fields: z.infer<typeof textSchema>[number]): Notice {
  if (fields[0] === 'due') return { kind: 'due' }
  const at = { database: fields[1], conversation: fields[2] }
  if (fields[0] === 'appended') return { kind: 'appended', at, lastSeq: fields[3] }
  return fields[0] === 'gone' ? { kind: 'gone', at } : { kind: 'said', at, text: fields[3] }
}

/** Calls the listener's method for the notice. */
export function callListener(listener: StoreListener, notice: Notice): void {
  if (notice.kind === 'due') listener.due()
  else if (notice.kind === 'appended') listener.appended({ ...notice.at, lastSeq: notice.lastSeq })
  else if (notice.kind === 'gone') listener.gone(notice.at)
  else listener.said(notice.at, notice.text)
}

const maxWaiting = 2_000

/** Notices to send, in order. */
export interface NoticeQueue {
  /** Adds a notice. False if another one already covers it, or too many texts wait. */
  add(notice: Notice): boolean
  /** Takes all notices. */
  take(): readonly Notice[]
}

/** Keeps only the last append notice per conversation, and one `due` notice. */
export function gatherNotices(): NoticeQueue {
  let waiting: (Notice | null)[] = []
  const places = new Map<string, number>()
  return {
    add(notice) {
      if (notice.kind === 'due' && places.has('due')) return false
      if (notice.kind === 'said' && waiting.length >= maxWaiting) return false
      const key = notice.kind === 'due' ? 'due' : JSON.stringify([notice.at.database, notice.at.conversation])
      const older = notice.kind === 'appended' ? places.get(key) : undefined
      if (older !== undefined) waiting[older] = null
      if (notice.kind === 'gone') places.delete(key)
      if (notice.kind === 'appended' || notice.kind === 'due') places.set(key, waiting.length)
      waiting.push(notice)
      return true
    },
    take() {
      const all = waiting.filter((notice) => notice !== null)
      waiting = []
      places.clear()
      return all
    },
  }
}
