/** Deltas between processes: what a model says here reaches readers there, in few notices and only while somebody reads [D8]. */
import type { CallPlace } from '@witan/protocol/entries'
import type { Clock } from '../identity/clock.ts'
import type { Delta, LiveHub } from './live.ts'

/** Listening, until it is closed. */
export interface Hearing {
  /** Looks for what may have been missed: notices can be lost. */
  look(): Promise<void>
  close(): void
}

/** What a relay works with. `say` tells the other processes something about a conversation; it may be lost. */
export interface RelayContext {
  readonly hub: LiveHub
  readonly clock: Clock
  say(channel: string, text: string): void
}

/** How long texts are collected before they are sent, in ms. */
const collectMs = 50
/** A notice holds at most this many characters of text; the rest goes in the next. */
const mostText = 1500
/** A reader elsewhere says so again before this time is over, in ms. */
const readingMs = 30_000

type Told =
  | { readonly reads: true }
  | {
      readonly place: CallPlace
      readonly text: string
      readonly attempt: number
      readonly at: number
      readonly whole?: true
    }

/** What a relay takes from others, until it is closed. */
export interface Relay {
  said(channel: string, text: string): void
  close(): void
}

/** Joins the hub of a process with those of the others on the same store. */
export function createRelay({ hub, clock, say }: RelayContext): Relay {
  /** Until when somebody reads a conversation elsewhere. */
  const reads = new Map<string, number>()
  const isRead = (channel: string) => reads.size > 0 && (reads.get(channel) ?? 0) > clock.now()
  const tell = (channel: string, told: Told) => say(channel, JSON.stringify(told))
  const send = (channel: string, { place, text, attempt, at }: Delta, whole = false) => {
    for (let from = 0; from < Math.max(text.length, 1); from += mostText) {
      const part = { place, text: text.slice(from, from + mostText), attempt, at }
      tell(channel, whole && from === 0 ? { ...part, whole: true } : part)
    }
  }
  const collector = createCollector(clock, send)
  /** Says again and again what is read here, and forgets readers elsewhere who do so no more. */
  const announce = () => {
    for (const channel of hub.channels.keys()) tell(channel, { reads: true })
    for (const [channel, until] of reads) if (until <= clock.now()) reads.delete(channel)
    endAnnouncing = clock.after(readingMs / 3, announce, { background: true })
  }
  let endAnnouncing = clock.after(readingMs / 3, announce, { background: true })
  hub.outside = {
    isRead,
    reading: (channel) => tell(channel, { reads: true }),
    delta(channel, delta) {
      if (isRead(channel)) collector.add(channel, delta)
    },
  }
  return {
    said(channel, text) {
      const told = JSON.parse(text) as Told
      if (!('reads' in told)) return hub.heard(channel, told)
      const isNew = !isRead(channel)
      reads.set(channel, clock.now() + readingMs)
      if (isNew) for (const soFar of hub.texts(channel)) send(channel, soFar, true)
    },
    close() {
      endAnnouncing()
      collector.close()
      hub.outside = null
    },
  }
}

/** Collects what calls say for a moment, so that many deltas are one notice. */
function createCollector(clock: Clock, send: (channel: string, delta: Delta) => void) {
  const waiting = new Map<string, Map<string, Delta>>()
  let cancel: (() => void) | null = null
  const flush = () => {
    cancel = null
    for (const [channel, calls] of waiting) for (const delta of calls.values()) send(channel, delta)
    waiting.clear()
  }
  return {
    add(channel: string, delta: Delta) {
      const calls = waiting.get(channel) ?? new Map<string, Delta>()
      waiting.set(channel, calls)
      const key = `${delta.place.call} ${delta.attempt}`
      const before = calls.get(key)
      calls.set(key, before === undefined ? delta : { ...before, text: before.text + delta.text })
      cancel ??= clock.after(collectMs, flush, { background: true })
    },
    close: () => cancel?.(),
  }
}
