/** The tail of a conversation: stored events after a cursor, then live ones, without a gap or a repeat. */
import type { Event } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import type { Delta, LiveHub } from './live.ts'
import { type EntryFilter, entryFilter, toDeltaEvent, toEvent } from './project.ts'
import { liveEvent } from './shared.ts'

/** Where a tail reads from. */
export interface TailSource {
  readonly conversation: string
  readonly channel: string
  readonly hub: LiveHub
  /** Resolves when the conversation can be read; throws where there is none. */
  open(): Promise<void>
  /** Stored entries after a seq, in order. */
  read(after: number, limit: number): Promise<readonly Entry[]>
}

/** What a tail shows, from where, and until when. */
export interface TailOptions extends EntryFilter {
  /** Exclusive. */
  readonly from: number
  readonly signal: AbortSignal
}

/** How far ahead of its reader a tail reads: a reader that stands still keeps it. In entries at first and at most, and in characters. */
const ahead = { first: 4, most: 500, characters: 500_000 }

/** Follows a conversation until the signal aborts or it is deleted. Joins the hub before it reads, so nothing falls between. */
export async function* tail(source: TailSource, options: TailOptions): AsyncGenerator<Event, void, void> {
  await source.open()
  const inbox = new Inbox(options.signal)
  const leave = source.hub.join(source.channel, inbox)
  const wanted = entryFilter(options)
  const shows = deltaFilter(options, wanted)
  let seen = options.from
  try {
    for await (const entry of history(source, options)) {
      seen = entry.seq
      if (wanted(entry) && entry.seq > options.from) yield toEvent(entry, source.conversation)
    }
    const texts = source.hub.texts(source.channel)
    inbox.dropDeltas()
    for (const delta of texts) if (shows(delta)) yield toDeltaEvent(delta, source.conversation, true)
    for (let item = inbox.take() ?? (await inbox.next()); item !== null; item = inbox.take() ?? (await inbox.next())) {
      if ('attempt' in item) {
        if (shows(item)) yield liveEvent(item, source.conversation)
      } else if (item.seq > seen) {
        // Others stored what stands between: it is read, in order.
        if (item.seq > seen + 1)
          for (const entry of await source.read(seen, item.seq - seen - 1)) {
            seen = entry.seq
            if (wanted(entry)) yield toEvent(entry, source.conversation)
          }
        seen = item.seq
        if (wanted(item)) yield liveEvent(item, source.conversation)
      }
    }
  } finally {
    leave()
  }
}

/** A filter by call must see the calls from their start; without one the history begins at the cursor. */
async function* history(source: TailSource, options: TailOptions): AsyncGenerator<Entry, void, void> {
  let after = options.call === null ? options.from : 0
  let limit = ahead.first
  for (;;) {
    const page = await source.read(after, limit)
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < limit) return
    after = last.seq
    const fitting = Math.floor((limit * ahead.characters) / charactersOf(page))
    limit = Math.max(1, Math.min(fitting, 4 * limit, ahead.most))
  }
}

function charactersOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { body }) => sum + JSON.stringify(body).length, 1)
}

function deltaFilter(options: TailOptions, wanted: (entry: Entry) => boolean): (delta: Delta) => boolean {
  return ({ place }) =>
    wanted({ type: 'notice', kind: null, place } as Entry) && (options.verbose || place.call === place.run)
}

/** What arrived and was not read yet. Deltas of one call that queue up are joined, so a slow reader costs little memory. */
class Inbox {
  #items: (Entry | Delta)[] = []
  #head = 0
  #wake: (() => void) | null = null
  #ended = false

  constructor(signal: AbortSignal) {
    if (signal.aborted) this.#ended = true
    else signal.addEventListener('abort', () => this.gone(), { once: true })
  }

  entries(entries: readonly Entry[]): void {
    for (const entry of entries) this.#items.push(entry)
    this.#wake?.()
  }

  delta(delta: Delta): void {
    const last = this.#items.at(-1)
    if (
      this.#items.length - this.#head > 64 &&
      last !== undefined &&
      'attempt' in last &&
      last.place === delta.place &&
      last.attempt === delta.attempt
    ) {
      this.#items[this.#items.length - 1] = { ...delta, text: last.text + delta.text }
    } else this.#items.push(delta)
    this.#wake?.()
  }

  gone(): void {
    this.#ended = true
    this.#wake?.()
  }

  /** Forgets the deltas that a snapshot just covered. */
  dropDeltas(): void {
    this.#items = this.#items.filter((item) => !('attempt' in item))
  }

  /** What is there already; null where it must be waited for. */
  take(): Entry | Delta | null {
    return this.#head < this.#items.length ? (this.#items[this.#head++] ?? null) : null
  }

  async next(): Promise<Entry | Delta | null> {
    while (this.#head >= this.#items.length) {
      if (this.#ended) return null
      this.#items = []
      this.#head = 0
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#wake = null
    }
    return this.#items[this.#head++] ?? null
  }
}
