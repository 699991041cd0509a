/** One hub per runtime: what was stored, and deltas that never are, to whoever reads a conversation now. */
import type { CallPlace, Entry } from '@witan/protocol/entries'

/** A piece of text as it comes; a higher `attempt` replaces what the call said before. */
export interface Delta {
  readonly place: CallPlace
  readonly text: string
  readonly attempt: number
  readonly at: number
  /** It is all that was said so far. */
  readonly whole?: true
}

/** Readers in other processes. */
export interface Outside {
  isRead(channel: string): boolean
  reading(channel: string): void
  delta(channel: string, delta: Delta): void
}

/** A reader of one conversation. */
export interface LiveReader {
  entries(entries: readonly Entry[]): void
  delta(delta: Delta): void
  /** The conversation is gone. */
  gone(): void
}

interface Said {
  readonly first: Delta
  readonly parts: string[]
}

/** Readers by conversation, and what each open call has said so far. */
export class LiveHub {
  readonly #readers = new Map<string, Set<LiveReader>>()
  /** Kept with or without readers: whoever comes late gets it first [D8]. */
  readonly #said = new Map<string, Map<string, Said>>()

  /** Set where other processes work on the same store. */
  outside: Outside | null = null

  /** Whether anybody reads: without, a model that can answer without a stream may then do so. */
  isRead(conversation: string): boolean {
    return this.#readers.has(conversation) || this.outside?.isRead(conversation) === true
  }

  /** What is read in this process. */
  get channels(): ReadonlyMap<string, unknown> {
    return this.#readers
  }

  /** Adds a reader; the returned function takes it out again. */
  join(conversation: string, reader: LiveReader): () => void {
    const readers = this.#readers.get(conversation) ?? new Set()
    if (readers.size === 0) this.outside?.reading(conversation)
    this.#readers.set(conversation, readers.add(reader))
    return () => {
      readers.delete(reader)
      if (readers.size === 0 && this.#readers.get(conversation) === readers) this.#readers.delete(conversation)
    }
  }

  /** The text so far of each open call. */
  texts(conversation: string): readonly Delta[] {
    const said = this.#said.get(conversation)
    return said === undefined ? [] : [...said.values()].map(({ first, parts }) => ({ ...first, text: parts.join('') }))
  }

  /** Entries were stored. What a call said is kept until its reply, or its end, is. */
  entries(conversation: string, entries: readonly Entry[]): void {
    const said = this.#said.get(conversation)
    if (said !== undefined) this.#forget(conversation, said, entries)
    const readers = this.#readers.get(conversation)
    if (readers !== undefined) for (const reader of readers) reader.entries(entries)
  }

  #forget(conversation: string, said: Map<string, Said>, entries: readonly Entry[]): void {
    for (const entry of entries) {
      const attempt = said.get(entry.place.call)?.first.attempt
      if (attempt === undefined || (entry.type !== 'end' && entry.type !== 'error')) continue
      if (entry.kind !== 'model' || attempt <= entry.body.attempt) said.delete(entry.place.call)
    }
    if (said.size === 0) this.#said.delete(conversation)
  }

  /** A model says something in this process. */
  delta(conversation: string, delta: Delta): void {
    this.heard(conversation, delta)
    this.outside?.delta(conversation, delta)
  }

  /** A model says something, here or elsewhere. */
  heard(conversation: string, delta: Delta): void {
    const said = this.#said.get(conversation) ?? new Map<string, Said>()
    this.#said.set(conversation, said)
    const open = said.get(delta.place.call)
    if (open?.first.attempt === delta.attempt && delta.whole === undefined) open.parts.push(delta.text)
    else said.set(delta.place.call, { first: delta, parts: [delta.text] })
    const readers = this.#readers.get(conversation)
    if (readers !== undefined) for (const reader of readers) reader.delta(delta)
  }

  /** The conversation is gone, and so are its readers. */
  gone(conversation: string): void {
    const readers = this.#readers.get(conversation)
    this.#readers.delete(conversation)
    this.#said.delete(conversation)
    if (readers !== undefined) for (const reader of readers) reader.gone()
  }
}
