/** Encoded spans that wait to be sent, bounded by their number and their bytes. */
import type { ConversationSummary } from './conversation-summary.ts'
import type { EncodedSpans } from './span-encoder.ts'
import type { TraceFile } from './trace-file.ts'

/** Encoded spans of one job that fit in one request. */
export interface Parcel extends EncodedSpans {
  /** Parcels of different groups are never sent in one request. */
  readonly group: string
  /** The figures of the conversation up to the end of the job, at the last of its parcels. */
  readonly summary: ConversationSummary | null
  /** The files of the job, at the last of its parcels. */
  readonly files?: readonly TraceFile[]
}

/** What goes with the spans of a job. */
export type ParcelOptions = Pick<Parcel, 'group' | 'summary' | 'files'>

/** The most bytes that wait, whatever the number of spans. */
const mostBytes = 8 * 1024 * 1024
/** The most in one request. */
const mostInRequest = { spans: 512, bytes: 4 * 1024 * 1024 }
/** Of larger jobs the spans are taken in parts: one more span of this size fits in a request. */
export const mostInParcel = { spans: mostInRequest.spans, bytes: mostInRequest.bytes / 2 }

/** A queue of parcels. What is under way stays in it until it is taken out. */
export class ParcelQueue {
  readonly #parcels: Parcel[] = []
  readonly #most: number
  #spans = 0
  #bytes = 0

  constructor(mostSpans: number) {
    this.#most = mostSpans
  }

  get spans(): number {
    return this.#spans
  }

  /** Whether what waits fills a request. */
  get isRequest(): boolean {
    return this.#spans >= mostInRequest.spans || this.#bytes >= mostInRequest.bytes
  }

  /** How many more spans fit. */
  get room(): number {
    return this.#bytes >= mostBytes ? 0 : Math.max(0, this.#most - this.#spans)
  }

  /** Takes as many parts of a job as fit, the first ones; returns how many spans do not. */
  add(parts: readonly EncodedSpans[], { group, summary, files = [] }: ParcelOptions): number {
    let kept = 0
    let { room } = this
    for (let bytes = this.#bytes; kept < parts.length; kept += 1) {
      const part = parts[kept] as EncodedSpans
      bytes += part.bytes
      room -= part.count
      if (bytes > mostBytes || room < 0) break
    }
    for (const [index, part] of parts.slice(0, kept).entries()) {
      const isLast = index === kept - 1
      this.#parcels.push({ ...part, group, summary: isLast ? summary : null, files: isLast ? files : [] })
      this.#bytes += part.bytes
      this.#spans += part.count
    }
    return parts.slice(kept).reduce((sum, { count }) => sum + count, 0)
  }

  /** The first parcels of one group that fit in one request; empty if nothing waits. */
  next(): readonly Parcel[] {
    const [first] = this.#parcels
    if (first === undefined) return []
    const parcels: Parcel[] = []
    let spans = 0
    let bytes = 0
    for (const parcel of this.#parcels) {
      spans += parcel.count
      bytes += parcel.bytes
      const isTooMuch = spans > mostInRequest.spans || bytes > mostInRequest.bytes
      if (parcel.group !== first.group || (parcels.length > 0 && isTooMuch)) break
      parcels.push(parcel)
    }
    return parcels
  }

  /** Takes the first parcels out; returns how many spans they hold. */
  remove(count: number): number {
    const gone = this.#parcels.splice(0, count)
    const spans = gone.reduce((sum, parcel) => sum + parcel.count, 0)
    this.#spans -= spans
    for (const { bytes } of gone) this.#bytes -= bytes
    return spans
  }

  /** Takes everything out; returns how many spans it held. */
  clear(): number {
    return this.remove(this.#parcels.length)
  }
}
