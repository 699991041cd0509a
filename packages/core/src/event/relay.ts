/** Sends deltas to readers in other processes, in few notifications and only while there are readers [D8]. */
import { z } from 'zod'
import type { WitanError } from '@witan/protocol'
import type { Clock } from '../identity/clock.ts'
import type { Delta, LiveHub } from './live.ts'

/** A subscription to notifications of other processes, until it is closed. */
export interface Listening {
  /** Why notifications of other processes do not arrive; null if they do. */
  problem(): WitanError | null
  /** Polls for changes that lost notifications would have reported. */
  poll(): Promise<void>
  close(): void
}

/** What a relay needs. `send` sends a text about a conversation to the other processes; it may be lost. */
interface RelayContext {
  readonly hub: LiveHub
  readonly clock: Clock
  send(channel: string, text: string): void
}

/** How long texts are collected before they are sent, in ms. */
const collectMs = 50
/** The most characters of text in one notification; more text is split. */
const mostText = 1000
/** How long an announced reader in another process counts, in ms. It is announced again before that. */
const readingMs = 30_000

/** The place of a call, as in the log. */
const placeSchema = z.object({
  call: z.string(),
  parentCall: z.string().nullable(),
  run: z.string(),
  document: z.string(),
  author: z.string(),
  agentPath: z.string(),
  invocation: z.string(),
  branches: z.array(z.string()).readonly().exactOptional(),
})

const pieceSchema = z.object({
  place: placeSchema,
  attempt: z.int(),
  /** Within the range of a date. */
  at: z.number().min(-8.64e15).max(8.64e15),
  whole: z.literal(true).exactOptional(),
})

/** A message of a relay: a process reads a conversation, or a model wrote a piece of text or of reasoning. */
const messageSchema = z.union([
  z.object({ reads: z.literal(true) }),
  pieceSchema.extend({ text: z.string() }),
  // In a field of its own: an earlier version, which knows only text, ignores it.
  pieceSchema.extend({ reasoning: z.string() }),
  pieceSchema.extend({
    progress: z.object({ progress: z.number(), total: z.number().nullable(), message: z.string().nullable() }),
  }),
])

type Message = z.infer<typeof messageSchema>

/** A relay, until it is closed. */
interface Relay {
  /** Takes a text that another process sent. Anything but a message of a relay is ignored. */
  received(channel: string, text: string): void
  close(): void
}

/** Connects the hub of this process with those of other processes on the same store. */
export function createRelay({ hub, clock, send }: RelayContext): Relay {
  /** Until when a conversation has readers in other processes. */
  const reads = new Map<string, number>()
  const isRead = (channel: string) => reads.size > 0 && (reads.get(channel) ?? 0) > clock.now()
  const sendMessage = (channel: string, message: Message) => send(channel, JSON.stringify(message))
  const sendDelta = (channel: string, delta: Delta) => {
    const { place, attempt, at, progress } = delta
    if (progress === undefined) sendText(channel, delta)
    else sendMessage(channel, { place, attempt, at, progress })
  }
  const sendText = (channel: string, { place, text, attempt, at, reasoning, whole }: Delta) => {
    for (let from = 0; from < Math.max(text.length, 1); from += mostText) {
      const words = text.slice(from, from + mostText)
      const part = { place, ...(reasoning === undefined ? { text: words } : { reasoning: words }), attempt, at }
      sendMessage(channel, whole && from === 0 ? { ...part, whole } : part)
    }
  }
  const collector = createCollector(clock, sendDelta)
  /** Announces the conversations read here, and forgets readers elsewhere that are no longer announced. */
  const announce = () => {
    for (const channel of hub.channels.keys()) sendMessage(channel, { reads: true })
    for (const [channel, until] of reads) if (until <= clock.now()) reads.delete(channel)
    endAnnouncing = clock.after(readingMs / 3, announce, { background: true })
  }
  let endAnnouncing = clock.after(readingMs / 3, announce, { background: true })
  hub.outside = {
    isRead,
    reading: (channel) => sendMessage(channel, { reads: true }),
    delta(channel, delta) {
      if (isRead(channel)) collector.add(channel, delta)
    },
  }
  return {
    received(channel, text) {
      const message = readMessage(text)
      if (message === null) return
      if ('reasoning' in message) return hub.received(channel, { ...message, text: message.reasoning, reasoning: true })
      if ('progress' in message) return hub.received(channel, { ...message, text: '' })
      if (!('reads' in message)) return hub.received(channel, message)
      const isNew = !isRead(channel)
      reads.set(channel, clock.now() + readingMs)
      if (isNew) for (const soFar of hub.texts(channel)) sendText(channel, { ...soFar, whole: true })
    },
    close() {
      endAnnouncing()
      collector.close()
      hub.outside = null
    },
  }
}

function readMessage(text: string): Message | null {
  try {
    return messageSchema.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}

/** Collects the deltas of calls for 50 ms and sends them as one notification. */
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
      const what = delta.progress !== undefined ? 'progress' : delta.reasoning === undefined ? '' : 'reasoning'
      const key = `${delta.place.call} ${delta.attempt} ${what}`
      const isPiece = delta.whole === undefined && delta.progress === undefined
      const before = isPiece ? calls.get(key) : undefined
      calls.set(key, before === undefined ? delta : { ...before, text: before.text + delta.text })
      cancel ??= clock.after(collectMs, flush, { background: true })
    },
    close: () => cancel?.(),
  }
}
