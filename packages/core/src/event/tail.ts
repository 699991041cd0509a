/** The tail of a conversation: stored events after a cursor, then live events, without a gap or a repeat. */
import { channel } from 'node:diagnostics_channel'
import type { Event } from '@witan/protocol'
import type { Entry, ParticipantBody } from '@witan/protocol/entries'
import type { Delta, LiveHub } from './live.ts'
import { type EntryFilter, entryFilter, type LogPlace, toDeltaEvent, toEvent } from './project.ts'
import { isTurnSpent, nextTurn } from '../identity/turn.ts'
import { endedAt, Trail } from './trail.ts'
import type { ReadBound } from '../identity/row-page.ts'

/** Where a tail reads from. */
interface TailSource extends LogPlace {
  readonly channel: string
  readonly hub: LiveHub
  /** Resolves when the conversation can be read; throws if it does not exist. */
  open(): Promise<void>
  /** Stored entries after a seq, in order, up to a bound. */
  read(after: number, limit: number, bound: ReadBound): Promise<readonly Entry[]>
}

/** Which events a tail yields, from where, and until when. */
interface TailOptions extends EntryFilter {
  /** Exclusive. */
  readonly from: number
  readonly signal: AbortSignal
  /** Asked after somebody joined or left: whether the reader may still read. If not, the tail ends. */
  mayGoOn?(change: ParticipantBody): Promise<boolean>
  /** The event of an entry as this reader gets it. */
  shown?(event: Event, entry: Entry): Event
}

/** How far a tail reads ahead, in entries and in characters. A stalled reader holds that much memory. */
const ahead = { most: 500, characters: 500_000 }

/** Publishes the inbox of each new tail, for tests that measure memory. */
const opened = channel('witan.tail')

/**
 * Follows a conversation until the signal aborts or it is deleted. Joins the hub before it reads, so that no event is missed. Throws
 * `EVENT_ID_AHEAD` with the seq to go on from (`details.from`) if what it has yielded is not stored any more, and `SCHEMA_TOO_NEW` with it
 * once a newer version has taken the schema over.
 */
export async function* tail(source: TailSource, options: TailOptions): AsyncGenerator<Event, void, void> {
  await source.open()
  const inbox = new Inbox(options.signal)
  opened.publish(inbox)
  const subscription = source.hub.join(source.channel, inbox)
  const wanted = entryFilter(options)
  const shows = deltaFilter(options, wanted)
  const { mayGoOn = async () => true, shown = (event) => event } = options
  let seen = options.from
  const trail = new Trail()
  const read = (after: number, limit: number) => source.read(after, limit, { characters: ahead.characters, cut() {} })
  try {
    for await (const entry of history(source, options, inbox)) {
      seen = entry.seq
      trail.add(entry)
      if (wanted(entry) && entry.seq > options.from) yield shown(toEvent(entry, source), entry)
      if (entry.type === 'participant' && !(await mayGoOn(entry.body))) return
    }
    subscription.reached(seen)
    const texts = source.hub.texts(source.channel)
    inbox.dropDeltas()
    for (const delta of texts) if (shows(delta)) yield toDeltaEvent(delta, source.conversation, true)
    for (let item = inbox.take() ?? (await inbox.next()); item !== null; item = inbox.take() ?? (await inbox.next())) {
      if (isTurnSpent()) await nextTurn()
      if (item === doubt) await trail.confirm(read)
      else if ('attempt' in item) {
        if (shows(item)) yield liveEvent(item, source)
      } else if (item.seq > seen) {
        // Another process stored the entries in between: read them in order.
        for await (const entry of between(source, inbox, { after: seen, upTo: item.seq - 1 })) {
          trail.add(entry)
          if (wanted(entry)) yield shown(toEvent(entry, source), entry)
          if (entry.type === 'participant' && !(await mayGoOn(entry.body))) return
        }
        seen = item.seq
        trail.add(item)
        if (wanted(item)) yield shown(liveEvent(item, source), item)
        if (item.type === 'participant' && !(await mayGoOn(item.body))) return
      }
    }
  } catch (error) {
    throw endedAt(error, seen)
  } finally {
    subscription.leave()
  }
}

/** The stored entries. A filter by call needs the log from its beginning; otherwise the history begins at the cursor. */
async function* history(source: TailSource, options: TailOptions, inbox: Inbox): AsyncGenerator<Entry, void, void> {
  // The entry at the cursor is read too: the reader has it, and may ask whether it is still there.
  for (let after = options.call === null ? Math.max(0, options.from - 1) : 0; ; ) {
    const { page, isLast } = await readPage(source, after, ahead.most)
    inbox.page = page
    yield* paused(page)
    inbox.page = []
    if (isLast) return
    after = page.at(-1)?.seq ?? after
  }
}

/** The entries, in turns that have a share left: each becomes an event and a frame before the next one. */
async function* paused(page: readonly Entry[]): AsyncGenerator<Entry, void, void> {
  for (const entry of page) {
    if (isTurnSpent()) await nextTurn()
    yield entry
  }
}

/** The entries after `after` up to `upTo`. */
async function* between(source: TailSource, inbox: Inbox, { after, upTo }: { after: number; upTo: number }) {
  for (let from = after; from < upTo; ) {
    const { page } = await readPage(source, from, Math.min(upTo - from, ahead.most))
    if (page.length === 0) return
    inbox.page = page
    yield* paused(page)
    inbox.page = []
    from = page.at(-1)?.seq ?? upTo
  }
}

/** Reads 1 to `limit` entries. */
async function readPage(source: TailSource, after: number, limit: number) {
  let isCut = false
  const cut = () => {
    isCut = true
  }
  if (isTurnSpent()) await nextTurn()
  const page = await source.read(after, limit, { characters: ahead.characters, cut })
  return { page, isLast: page.length === 0 || (page.length < limit && !isCut) }
}

function deltaFilter(options: TailOptions, wanted: (entry: Entry) => boolean): (delta: Delta) => boolean {
  return ({ place }) =>
    wanted({ type: 'notice', kind: null, place } as Entry) && (options.verbose || place.invocation === place.run)
}

function goesOn(last: Delta, { place, attempt, reasoning, whole, progress }: Delta): boolean {
  const isSame = last.place === place && last.attempt === attempt && last.reasoning === reasoning
  return isSame && whole === undefined && (progress === undefined) === (last.progress === undefined)
}

/** Queued in the place of what may have gone back. */
const doubt = Symbol('what is stored may have gone back')

type Item = Entry | Delta | typeof doubt

/** The queue of a reader. Queued deltas of one call are joined, so that a slow reader needs little memory. */
class Inbox {
  /** Items before `head` were taken. */
  readonly #queue = { items: [] as Item[], head: 0 }
  readonly #state = { wake: null as (() => void) | null, ended: false }
  /** The page of history being read. */
  page: readonly Entry[] = []

  constructor(signal: AbortSignal) {
    if (signal.aborted) this.#state.ended = true
    else signal.addEventListener('abort', () => this.gone(), { once: true })
  }

  /** The size of everything held for the reader. */
  heldBytes(): number {
    return JSON.stringify([this.page, this.#queue.items]).length
  }

  entries(entries: readonly Entry[]): void {
    for (const entry of entries) this.#queue.items.push(entry)
    this.#state.wake?.()
  }

  delta(delta: Delta): void {
    const last = this.#queue.items.at(-1)
    if (
      this.#queue.items.length - this.#queue.head > 64 &&
      last !== undefined &&
      last !== doubt &&
      'attempt' in last &&
      goesOn(last, delta)
    ) {
      this.#queue.items[this.#queue.items.length - 1] = { ...last, ...delta, text: last.text + delta.text }
    } else this.#queue.items.push(delta)
    this.#state.wake?.()
  }

  doubt(): void {
    this.#queue.items.push(doubt)
    this.#state.wake?.()
  }

  gone(): void {
    this.#state.ended = true
    this.#state.wake?.()
  }

  /** Forgets the deltas that a snapshot just covered. */
  dropDeltas(): void {
    this.#queue.items = this.#queue.items.filter((item) => item === doubt || !('attempt' in item))
  }

  /** The next queued item, or null if the queue is empty. */
  take(): Item | null {
    return this.#queue.head < this.#queue.items.length ? (this.#queue.items[this.#queue.head++] ?? null) : null
  }

  async next(): Promise<Item | null> {
    while (this.#queue.head >= this.#queue.items.length) {
      if (this.#state.ended) return null
      this.#queue.items = []
      this.#queue.head = 0
      await new Promise<void>((resolve) => {
        this.#state.wake = resolve
      })
      this.#state.wake = null
    }
    return this.#queue.items[this.#queue.head++] ?? null
  }
}

/** Each live event is made once; all readers in this process get the same frozen object. */
const liveEvents = new WeakMap<Entry | Delta, Event>()

/** The event of an entry or a delta from the hub. It is the same for all readers; the caller checks their access. */
function liveEvent(item: Entry | Delta, of: LogPlace): Event {
  const { conversation: conversationId } = of
  const known = liveEvents.get(item)
  // An entry may also be in the log of a fork.
  if (known?.conversationId === conversationId) return known
  const event = 'attempt' in item ? toDeltaEvent(item, conversationId, item.whole === true) : toEvent(item, of)
  Object.freeze(event.content)
  liveEvents.set(item, Object.freeze(event))
  return event
}
