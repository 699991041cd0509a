/**
 * Collects the entries of jobs as this process stores them, and reports a job when its end is stored. The process that ends a job
 * reports it, and no other: it alone owns the job then.
 */
import type { Entry } from '@witan/protocol/entries'
import { placeOf } from '../identity/channel.ts'

/** A job that has ended. */
export interface EndedJob {
  readonly database: string
  readonly conversation: string
  readonly job: string
  readonly run: string
  /** The seq of its end. */
  readonly upTo: number
  /** Null if this process has not seen all of it: the log must be read. */
  readonly seen: SeenEntries | null
}

/** The entries of a job, and the starts of all calls of its trace so far. */
export interface SeenEntries {
  readonly entries: readonly Entry[]
  readonly starts: readonly Entry[]
}

interface Collected {
  readonly channel: string
  readonly entries: Entry[]
  /** Shared by the jobs of one run. */
  readonly starts: Entry[]
}

/** A conversation with open jobs. */
interface Channel {
  lastSeq: number
  readonly jobs: Set<string>
}

/** What is kept of open jobs: beyond this, the entries are read again at the end. */
const most = { entries: 20_000, jobs: 1_000, entriesOfJob: 5_000 }

/** The job that an entry is about. The start of a task is an entry of the job that starts it. */
function ownerOf(entry: Entry): string {
  const { place, job } = entry
  return entry.type === 'start' && entry.kind === 'agent' && entry.body.background !== undefined ? place.call : job
}

/** Follows the jobs of a process. */
export class Collector {
  readonly #open = new Map<string, Collected>()
  readonly #channels = new Map<string, Channel>()
  readonly #ended: (job: EndedJob) => void
  #count = 0

  constructor(ended: (job: EndedJob) => void) {
    this.#ended = ended
  }

  /** Takes entries that this process has stored, in order. */
  take(name: string, entries: readonly Entry[]): void {
    const channel = this.#channels.get(name)
    const [first] = entries
    if (first === undefined) return
    // After a gap another process has written: an answer, say.
    if (channel !== undefined && first.seq !== channel.lastSeq + 1) for (const job of [...channel.jobs]) this.#drop(job)
    for (const entry of entries) {
      if (entry.type === 'start' && entry.kind === 'agent' && ownerOf(entry) === entry.place.call)
        this.#begin(name, entry)
    }
    this.#sort(name, entries)
    this.#trim()
    const open = this.#channels.get(name)
    if (open !== undefined) open.lastSeq = entries.at(-1)?.seq ?? 0
  }

  /** Begins a run with its messages. A task begins only if its starter is open, because the starter has the task's values. */
  #begin(name: string, { place, job }: Entry): void {
    const starts = place.call === job ? [] : this.#open.get(job)?.starts
    if (starts === undefined) return
    const channel = this.#channels.get(name) ?? { lastSeq: 0, jobs: new Set() }
    this.#channels.set(name, channel)
    channel.jobs.add(place.call)
    this.#open.set(place.call, { channel: name, entries: [], starts })
  }

  /** Puts entries to their jobs; most stand next to others of the same job. */
  #sort(name: string, entries: readonly Entry[]): void {
    let owner: string | null = null
    let open: Collected | undefined
    for (const entry of entries) {
      const { place, job, type, kind } = entry
      const its = ownerOf(entry)
      if (its !== owner) open = this.#open.get(its)
      owner = its
      if (type === 'start') (open ?? this.#open.get(job))?.starts.push(entry)
      if (open !== undefined) {
        open.entries.push(entry)
        this.#count += 1
      }
      const isEnd = (type === 'end' || type === 'error') && kind === 'agent' && place.call === job
      if (isEnd) this.#end(name, entry)
      else if (open !== undefined && open.entries.length > most.entriesOfJob) this.#drop(its)
      else continue
      owner = null
    }
  }

  #trim(): void {
    if (this.#count <= most.entries && this.#open.size <= most.jobs) return
    for (const oldest of this.#open.keys()) {
      if (this.#count <= most.entries && this.#open.size <= most.jobs) return
      this.#drop(oldest)
    }
  }

  #end(name: string, { job, place, seq }: Entry): void {
    const open = this.#open.get(job)
    const seen = open === undefined ? null : { entries: open.entries, starts: [...open.starts] }
    this.#drop(job)
    this.#ended({ ...placeOf(name), job, run: place.run, upTo: seq, seen })
  }

  #drop(job: string): void {
    const open = this.#open.get(job)
    if (open === undefined) return
    this.#open.delete(job)
    this.#count -= open.entries.length
    const channel = this.#channels.get(open.channel)
    channel?.jobs.delete(job)
    if (channel?.jobs.size === 0) this.#channels.delete(open.channel)
  }
}
