/** The hub of a runtime: passes stored entries, and deltas that are never stored, to the live readers of a conversation. */
import type { CallPlace, Entry } from '@witan/protocol/entries'

/** A piece of a model's text, or of its reasoning. A higher `attempt` replaces the earlier text. */
export interface Delta {
  readonly place: CallPlace
  readonly text: string
  readonly attempt: number
  readonly at: number
  /** Set if `text` is the full text so far. */
  readonly whole?: true
  /** Set if `text` is reasoning, which is never part of the text. */
  readonly reasoning?: true
  /** Set if this reports the progress of a tool call; `text` is empty then. It is not repeated for readers that connect later. */
  readonly progress?: ToolProgress
}

/** How far a tool call has come; null for what its tool does not say. */
interface ToolProgress {
  readonly progress: number
  readonly total: number | null
  readonly message: string | null
}

/** The connection to readers in other processes. */
interface Outside {
  isRead(channel: string): boolean
  reading(channel: string): void
  delta(channel: string, delta: Delta): void
}

/** A live reader of one conversation. */
interface LiveReader {
  entries(entries: readonly Entry[]): void
  delta(delta: Delta): void
  /** What is stored may have gone back. */
  doubt(): void
  /** The conversation was deleted. */
  gone(): void
}

/** A conversation that is read in this process. */
interface ReadChannel {
  /** The last seq that its readers have got; null until the first reader has read the history. */
  readonly lastSeq: number | null
  readonly readers: ReadonlySet<unknown>
}

interface Channel extends ReadChannel {
  readonly readers: Set<LiveReader>
  lastSeq: number | null
}

/** The subscription of a reader at the hub. */
interface LiveSubscription {
  /** The reader itself has read the log up to `seq`. */
  reached(seq: number): void
  leave(): void
}

interface Written {
  readonly first: Delta
  readonly parts: string[]
}

/** The key of what a call's model reasons, beside the key of its text. */
function reasoningOf(call: string): string {
  return `${call} reasoning`
}

function forget(open: Map<string, Written>, key: string, upTo: number): void {
  const written = open.get(key)
  if (written !== undefined && written.first.attempt <= upTo) open.delete(key)
}

/** The last parts that have so many characters together. */
function endOf(parts: readonly string[], characters: number): string {
  let from = parts.length
  for (let left = characters; from > 0 && left > 0; left -= parts[from]?.length ?? 0) from -= 1
  return parts.slice(from).join('')
}

/** Keeps a piece of a text for readers who come later. */
function keepText(all: Map<string, Map<string, Written>>, conversation: string, delta: Delta): void {
  const texts = all.get(conversation) ?? new Map<string, Written>()
  all.set(conversation, texts)
  const key = delta.reasoning === undefined ? delta.place.call : reasoningOf(delta.place.call)
  const open = texts.get(key)
  if (open?.first.attempt === delta.attempt && delta.whole === undefined) open.parts.push(delta.text)
  else texts.set(key, { first: delta, parts: [delta.text] })
}

/** Holds the readers by conversation, and the text so far of each open call. */
export class LiveHub {
  /** The conversations with readers in this process. */
  readonly channels = new Map<string, Channel>()
  /** Kept even without readers: a late reader gets the text so far first [D8]. */
  readonly #texts = new Map<string, Map<string, Written>>()

  /** Set if other processes use the same store. */
  outside: Outside | null = null

  /** Whether the conversation has a reader. If not, a model may reply without streaming. */
  isRead(conversation: string): boolean {
    const isReadHere = this.channels.size > 0 && this.channels.has(conversation)
    return isReadHere || this.outside?.isRead(conversation) === true
  }

  /** Adds a reader, until it leaves. */
  join(conversation: string, reader: LiveReader): LiveSubscription {
    const channel = this.channels.get(conversation) ?? { readers: new Set(), lastSeq: null }
    if (channel.readers.size === 0) this.outside?.reading(conversation)
    channel.readers.add(reader)
    this.channels.set(conversation, channel)
    return {
      reached(seq) {
        channel.lastSeq ??= seq
      },
      leave: () => {
        channel.readers.delete(reader)
        const isLast = channel.readers.size === 0 && this.channels.get(conversation) === channel
        if (isLast) this.channels.delete(conversation)
      },
    }
  }

  /** The text so far of each open call; with `of` the end of that of one call, at least so many characters of it. */
  texts(conversation: string, of?: { readonly call: string; readonly characters: number }): readonly Delta[] {
    const open = this.#texts.get(conversation)
    if (open === undefined) return []
    if (of === undefined) return [...open.values()].map(({ first, parts }) => ({ ...first, text: parts.join('') }))
    const one = open.get(of.call)
    return one === undefined ? [] : [{ ...one.first, text: endOf(one.parts, of.characters) }]
  }

  /** Passes stored entries to the readers. The text of a call is kept until its reply or its end is stored. */
  entries(conversation: string, entries: readonly Entry[]): void {
    if (this.#texts.size === 0 && this.channels.size === 0) return
    const open = this.#texts.get(conversation)
    if (open !== undefined) this.#forget(conversation, open, entries)
    const channel = this.channels.get(conversation)
    if (channel === undefined) return
    channel.lastSeq = Math.max(channel.lastSeq ?? 0, entries.at(-1)?.seq ?? 0)
    for (const reader of channel.readers) reader.entries(entries)
  }

  #forget(conversation: string, open: Map<string, Written>, entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (entry.type !== 'end' && (entry.type !== 'error' || entry.kind === 'model')) continue
      const upTo = entry.kind === 'model' ? entry.body.attempt : Number.POSITIVE_INFINITY
      forget(open, entry.place.call, upTo)
      if (open.size > 0) forget(open, reasoningOf(entry.place.call), upTo)
    }
    if (open.size === 0) this.#texts.delete(conversation)
  }

  /** Passes a delta of this process to all readers. */
  delta(conversation: string, delta: Delta): void {
    this.received(conversation, delta)
    this.outside?.delta(conversation, delta)
  }

  /** Passes a delta of this or another process to the readers here. */
  received(conversation: string, delta: Delta): void {
    if (delta.progress === undefined) keepText(this.#texts, conversation, delta)
    const channel = this.channels.get(conversation)
    if (channel !== undefined) for (const reader of channel.readers) reader.delta(delta)
  }

  /** What is stored may have gone back, or can be read no more: all readers look whether what they have got is still there. */
  historyChanged(): void {
    for (const channel of this.channels.values()) {
      channel.lastSeq = null
      for (const reader of channel.readers) reader.doubt()
    }
  }

  /** Ends all readers of a deleted conversation. */
  gone(conversation: string): void {
    const channel = this.channels.get(conversation)
    this.channels.delete(conversation)
    this.#texts.delete(conversation)
    if (channel !== undefined) for (const reader of channel.readers) reader.gone()
  }
}
