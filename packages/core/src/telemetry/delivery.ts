/** Sends spans to a server that may be slow, unreachable or refusing. It retries, and drops and counts spans beyond the queue [E80]. */
import type { Clock } from '../identity/clock.ts'
import { type Parcel, type ParcelOptions, ParcelQueue } from './parcel-queue.ts'
import type { EncodedSpans } from './span-encoder.ts'

/** The result of a request. `refused`: the server will never accept it. `complaint`: what the server did not accept besides spans. */
export type Sent =
  | { readonly kind: 'taken'; readonly complaint?: string }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs: number | null }

/** What a delivery needs. `send` never rejects, and stops at the signal. */
interface DeliveryContext {
  /** Names the server in reports. */
  readonly name: string
  readonly maxQueue: number
  readonly clock: Clock
  readonly random: () => number
  /** `leftOut` may be called later with the number of spans that the server left out of a request that it took. */
  send(parcels: readonly Parcel[], signal: AbortSignal, leftOut: (spans: number) => void): Promise<Sent>
  report(error: unknown): void
}

/** How long spans are collected before they are sent, in ms. */
const collectMs = 500
const backOff = { first: 1_000, longest: 60_000, longestWish: 300_000 }
/** A problem that lasts is reported at most this often, in ms. */
const reportEveryMs = 60_000

interface State {
  dropped: number
  /** The spans that were taken out of the queue: sent, or refused. */
  removed: number
  failures: number
  reportedAt: number
  /** Ends the wait for the next request. */
  cancel: (() => void) | null
  /** Whether that wait is for more spans, and not for a server that has failed. */
  isCollecting: boolean
  sending: Promise<void> | null
}

/** Sends spans, one request after the other, until it is closed. */
export class Delivery {
  readonly #of: DeliveryContext
  readonly #queue: ParcelQueue
  readonly #stop = new AbortController()
  readonly #state: State = {
    dropped: 0,
    removed: 0,
    failures: 0,
    reportedAt: Number.NEGATIVE_INFINITY,
    cancel: null,
    isCollecting: false,
    sending: null,
  }

  constructor(context: DeliveryContext) {
    this.#of = context
    this.#queue = new ParcelQueue(context.maxQueue)
  }

  /** The spans that wait, those under way included, those dropped so far, and how many more fit. */
  counts(): { readonly queued: number; readonly dropped: number; readonly room: number } {
    return { queued: this.#queue.spans, dropped: this.#state.dropped, room: this.#queue.room }
  }

  /** Counts spans as dropped. */
  drop(spans: number, reason = 'the queue is full'): void {
    if (spans === 0) return
    this.#state.dropped += spans
    complain(this.#of, this.#state, `${reason}; ${this.#state.dropped} spans were dropped so far`)
  }

  /** Takes the spans of one job, in parts. If the queue is full, the last ones are dropped. */
  offer(parts: readonly EncodedSpans[], options: ParcelOptions): void {
    this.drop(this.#queue.add(parts, options))
    const { cancel, isCollecting } = this.#state
    if (this.#queue.isRequest && isCollecting) {
      cancel?.()
      this.#state.cancel = null
    }
    this.#schedule(null)
  }

  /** Sends what waits, for at most this long and without retries. The rest is dropped and reported. */
  async close(withinMs: number): Promise<void> {
    this.#state.cancel?.()
    this.#state.cancel = () => {}
    this.#state.isCollecting = false
    const end = this.#of.clock.after(withinMs, () => this.#stop.abort(), { background: true })
    await this.#state.sending
    while (this.#queue.spans > 0 && !this.#stop.signal.aborted) if ((await this.#sendOne()) !== null) break
    end()
    this.#stop.abort()
    this.#state.reportedAt = Number.NEGATIVE_INFINITY
    this.drop(this.#queue.clear(), 'the process ends')
  }

  /** Sends after this many ms. Null: after the collecting time, or at once if the spans fill a request. */
  #schedule(waitMs: number | null): void {
    if (this.#queue.spans === 0 || this.#state.cancel !== null || this.#state.sending !== null) return
    this.#state.isCollecting = waitMs === null
    const ms = waitMs ?? (this.#queue.isRequest ? 0 : collectMs)
    const begin = () => {
      this.#state.cancel = null
      this.#state.isCollecting = false
      this.#state.sending = this.#drain()
    }
    this.#state.cancel = this.#of.clock.after(ms, begin, { background: true })
  }

  /** Sends what waits, until a request fails. Spans that arrive meanwhile are collected again, because a request for each run would cost too much. */
  async #drain(): Promise<void> {
    let waitMs: number | null = null
    const end = this.#state.removed + this.#queue.spans
    const isLeft = () => this.#state.removed < end || this.#queue.isRequest
    while (isLeft() && waitMs === null && !this.#stop.signal.aborted) waitMs = await this.#sendOne()
    this.#state.sending = null
    if (!this.#stop.signal.aborted) this.#schedule(waitMs)
  }

  /** Sends one request. Returns how long to wait before the next, or null if there is nothing to wait for. */
  async #sendOne(): Promise<number | null> {
    const parcels = this.#queue.next()
    const leftOut = (spans: number) => this.drop(spans, 'the server did not take all spans of a request')
    const send = (some: readonly Parcel[]) => this.#of.send(some, this.#stop.signal, leftOut)
    let sent = await send(parcels)
    // One of several parcels may be wrong, so the first is sent alone.
    const count = sent.kind === 'refused' ? 1 : parcels.length
    if (sent.kind === 'refused' && parcels.length > 1) sent = await send(parcels.slice(0, 1))
    if (sent.kind === 'failed') {
      this.#state.failures += 1
      complain(this.#of, this.#state, sent.reason)
      return waitFor(this.#state.failures, sent.retryAfterMs, this.#of.random())
    }
    this.#state.failures = 0
    if (sent.kind === 'taken' && sent.complaint !== undefined) complain(this.#of, this.#state, sent.complaint)
    const gone = this.#queue.remove(count)
    this.#state.removed += gone
    if (sent.kind === 'refused') this.drop(gone, sent.reason)
    return null
  }
}

function complain({ name, clock, report }: DeliveryContext, state: State, reason: string): void {
  const now = clock.now()
  if (now - state.reportedAt < reportEveryMs) return
  state.reportedAt = now
  const error = new Error(`Traces to ${name}: ${reason}.`)
  // The stack of the error would not help.
  error.stack = String(error)
  report(error)
}

/** The wait that the server asked for, or one that doubles with each failure in a row, half of it random. */
function waitFor(failures: number, wish: number | null, random: number): number {
  const ceiling = Math.min(backOff.longest, backOff.first * 2 ** Math.min(failures - 1, 10))
  return Math.max((ceiling / 2) * (1 + random), Math.min(wish ?? 0, backOff.longestWish))
}
