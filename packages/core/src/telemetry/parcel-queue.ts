/** Encoded spans that wait to be sent, bounded by their number and their bytes. */
import type { JobSummary } from './job-summary.ts'
import type { TraceFile } from './trace-file.ts'

/** Encoded spans of one job that fit in one request. */
export interface Parcel {
  readonly spans: readonly (Uint8Array | string)[]
  readonly bytes: number
  /** Parcels of different groups are never sent in one request. */
  readonly group: string
  /** The figures of the job, at the last of its parcels. */
  readonly summary: JobSummary | null
  /** The files of the job, at the last of its parcels. */
  readonly files?: readonly TraceFile[]
}

/** What goes with the spans of a job. */
export type ParcelOptions = Pick<Parcel, 'group' | 'summary' | 'files'>

/** The most bytes that wait, whatever the number of spans. */
const mostBytes = 12 * 1024 * 1024
/** The most in one request. */
const mostInRequest = { spans: 512, bytes: 4 * 1024 * 1024 }

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

  /** Takes as many of the spans as fit, the first ones; returns how many do not. */
  add(spans: readonly (Uint8Array | string)[], { group, summary, files = [] }: ParcelOptions): number {
    const { room } = this
    let kept = 0
    for (let bytes = this.#bytes; kept < Math.min(room, spans.length); kept += 1) {
      bytes += sizeOf(spans[kept] as Uint8Array | string)
      if (bytes > mostBytes) break
    }
    for (let from = 0; from < kept; ) {
      const part = firstOf(spans.slice(0, kept), from)
      from += part.spans.length
      const isLast = from >= kept
      this.#parcels.push({ ...part, group, summary: isLast ? summary : null, files: isLast ? files : [] })
      this.#bytes += part.bytes
    }
    this.#spans += kept
    return spans.length - kept
  }

  /** The first parcels of one group that fit in one request; empty if nothing waits. */
  next(): readonly Parcel[] {
    const [first] = this.#parcels
    if (first === undefined) return []
    const parcels: Parcel[] = []
    let spans = 0
    let bytes = 0
    for (const parcel of this.#parcels) {
      spans += parcel.spans.length
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
    const spans = gone.reduce((sum, parcel) => sum + parcel.spans.length, 0)
    this.#spans -= spans
    for (const { bytes } of gone) this.#bytes -= bytes
    return spans
  }

  /** Takes everything out; returns how many spans it held. */
  clear(): number {
    return this.remove(this.#parcels.length)
  }
}

function sizeOf(span: Uint8Array | string): number {
  return typeof span === 'string' ? Buffer.byteLength(span) : span.length
}

/** As many spans from there on as fit in one request, at least one. */
function firstOf(spans: readonly (Uint8Array | string)[], from: number): Pick<Parcel, 'spans' | 'bytes'> {
  let bytes = 0
  let count = 0
  for (; from + count < spans.length && count < mostInRequest.spans; count += 1) {
    const size = sizeOf(spans[from + count] as Uint8Array | string)
    if (count > 0 && bytes + size > mostInRequest.bytes) break
    bytes += size
  }
  return { spans: spans.slice(from, from + count), bytes }
}
