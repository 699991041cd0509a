/** One hub per runtime: what was stored, and deltas that never are, to whoever reads a conversation now. */
import type { CallPlace, Entry } from '@witan/protocol/entries'

/** A piece of text as it comes; a higher `attempt` replaces what the call said before. */
export interface Delta {
  readonly place: CallPlace
  readonly text: string
  readonly attempt: number
  readonly at: number
}

/** A reader of one conversation. */
export interface LiveReader {
  entries(entries: readonly Entry[]): void
  delta(delta: Delta): void
  /** The conversation is gone. */
  gone(): void
}

interface Channel {
  readonly readers: Set<LiveReader>
  /** What each open call has said so far, for late readers. */
  readonly texts: Map<string, { delta: Delta; parts: string[] }>
}

/** Readers by conversation. Without a reader nothing is kept and nothing is sent. */
export class LiveHub {
  readonly #channels = new Map<string, Channel>()

  /** Whether anybody reads: only then do deltas matter. */
  isRead(conversation: string): boolean {
    return this.#channels.has(conversation)
  }

  /** Adds a reader; it first gets the text so far of each open call, as far as a reader was there [D8]. */
  join(conversation: string, reader: LiveReader): () => void {
    const channel = this.#channels.get(conversation) ?? { readers: new Set(), texts: new Map() }
    this.#channels.set(conversation, channel)
    channel.readers.add(reader)
    return () => {
      channel.readers.delete(reader)
      if (channel.readers.size === 0 && this.#channels.get(conversation) === channel)
        this.#channels.delete(conversation)
    }
  }

  /** The text so far of each open call. */
  texts(conversation: string): readonly Delta[] {
    const channel = this.#channels.get(conversation)
    if (channel === undefined) return []
    return [...channel.texts.values()].map(({ delta, parts }) => ({ ...delta, text: parts.join('') }))
  }

  entries(conversation: string, entries: readonly Entry[]): void {
    const channel = this.#channels.get(conversation)
    if (channel === undefined) return
    for (const entry of entries)
      if (entry.type === 'end' || entry.type === 'error') channel.texts.delete(entry.place.call)
    for (const reader of channel.readers) reader.entries(entries)
  }

  delta(conversation: string, delta: Delta): void {
    const channel = this.#channels.get(conversation)
    if (channel === undefined) return
    const open = channel.texts.get(delta.place.call)
    if (open === undefined || open.delta.attempt !== delta.attempt)
      channel.texts.set(delta.place.call, { delta, parts: [delta.text] })
    else open.parts.push(delta.text)
    for (const reader of channel.readers) reader.delta(delta)
  }

  gone(conversation: string): void {
    const channel = this.#channels.get(conversation)
    if (channel === undefined) return
    this.#channels.delete(conversation)
    for (const reader of channel.readers) reader.gone()
  }
}
