/** What processes tell each other, and how it is written: many notices in one text of the channel. */
import type { StoreListener } from '../../store.ts'
import { fieldOf, restored, separators } from './text.ts'

/** A conversation by its names. */
export type Named = Parameters<StoreListener['gone']>[0]

/** One thing to be told. */
export type Notice =
  | { readonly kind: 'appended'; readonly at: Named; readonly lastSeq: number }
  | { readonly kind: 'gone'; readonly at: Named }
  | { readonly kind: 'said'; readonly at: Named; readonly text: string }
  | { readonly kind: 'due' }

/** A channel takes less than 8,000 bytes at once. */
const maxBytes = 7_900

/** As few texts as hold them all, each with its sender and small enough; a notice that is too large alone is left out. */
export function payloadsOf(sender: string, notices: readonly Notice[]): string[] {
  const payloads: string[] = []
  let text = sender
  let bytes = sender.length
  for (const notice of notices) {
    const item = separators.item + fieldsOf(notice).map(fieldOf).join(separators.field)
    const size = Buffer.byteLength(item)
    if (sender.length + size > maxBytes) continue
    if (bytes + size > maxBytes) {
      payloads.push(text)
      text = sender
      bytes = sender.length
    }
    text += item
    bytes += size
  }
  return text === sender ? payloads : [...payloads, text]
}

function fieldsOf(notice: Notice): string[] {
  if (notice.kind === 'due') return ['due']
  const { database, conversation } = notice.at
  const rest = notice.kind === 'appended' ? [String(notice.lastSeq)] : notice.kind === 'said' ? [notice.text] : []
  return [notice.kind, database, conversation, ...rest]
}

/** Who sent a text, and what it says. */
export function readPayload(payload: string): { readonly sender: string; readonly notices: readonly Notice[] } {
  const [sender = '', ...items] = payload.split(separators.item)
  return { sender, notices: items.map(noticeOf) }
}

function noticeOf(item: string): Notice {
  const [kind, database = '', conversation = '', rest = ''] = item.split(separators.field).map(restored)
  const at = { database, conversation }
  if (kind === 'appended') return { kind, at, lastSeq: Number(rest) }
  if (kind === 'gone') return { kind, at }
  return kind === 'said' ? { kind, at, text: rest } : { kind: 'due' }
}

/** Calls what the notice is for. */
export function deliver(listener: StoreListener, notice: Notice): void {
  if (notice.kind === 'due') listener.due()
  else if (notice.kind === 'appended') listener.appended({ ...notice.at, lastSeq: notice.lastSeq })
  else if (notice.kind === 'gone') listener.gone(notice.at)
  else listener.said(notice.at, notice.text)
}

const maxWaiting = 2_000

/** Notices that wait to be told, in order. */
export interface Gathered {
  /** False where it is not worth waiting for: it is in another one already, or too much is said. */
  add(notice: Notice): boolean
  /** All of them; none is left. */
  take(): readonly Notice[]
}

/** Of what was appended to a conversation only the last is kept, and one that something is due. */
export function gatherNotices(): Gathered {
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
