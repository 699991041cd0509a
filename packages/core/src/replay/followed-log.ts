/** The log that a replay follows: its entries in order, and the log that comes of it. */
import type { Entry, Writable } from '@witan/protocol/entries'
import { perEpoch } from '../job/writer.ts'
import { firstDifference } from './difference.ts'
import type { FoldPlace } from '../conversation/folds.ts'

/** Where the replayed log first differs. `came` is null if the engine recorded nothing more. */
export interface Difference {
  readonly seq: number
  /** The entry of the export; null if it has no more. */
  readonly expected: Entry | null
  readonly came: Entry | null
  /** The first place in the entry that differs, such as `body.text`; empty if one of both is missing. */
  readonly path: string
}

/** The entries of one call or one job: their indices, and the first that was not passed yet. */
interface Track {
  readonly indices: number[]
  next: number
}

/** An exported log, and how far the replay has come in it. */
export interface FollowedLog {
  readonly entries: readonly Entry[]
  /** The entries that came so far. Their number is the position of the replay. */
  readonly came: Entry[]
  difference: Difference | null
  /** True once the replay has left the log: it expects no further entry. */
  isOpen: boolean
  /** The last number that each job gave to an entry. */
  readonly numbers: Map<string, number>
  /** What jobs and calls record themselves; entries that others brought to them are not among it. */
  readonly jobs: ReadonlyMap<string, Track>
  readonly calls: ReadonlyMap<string, Track>
  /** The runs that the runtime itself began, to report ended tasks. */
  readonly followUps: ReadonlySet<string>
  /** Which fold wrote each entry, by its index. */
  readonly written: readonly FoldPlace[]
}

/** A log whose first `copied` entries stand already. */
export function createFollowedLog(
  entries: readonly Entry[],
  copied: number,
  written: readonly FoldPlace[],
): FollowedLog {
  const byJob = new Map<string, Track>()
  const byCall = new Map<string, Track>()
  for (const [index, entry] of entries.entries()) {
    const { job, place, epoch } = entry
    if (epoch === 0) continue
    trackOf(byJob, job).indices.push(index)
    trackOf(byCall, place.call).indices.push(index)
  }
  const followUps = entries.filter(({ type, kind, body }) => type === 'start' && kind === 'agent' && body.hidden)
  const came = entries.slice(0, copied)
  return {
    ...{ entries, came, difference: null, isOpen: false, numbers: new Map<string, number>() },
    ...{ jobs: byJob, calls: byCall, written },
    followUps: new Set(followUps.map(({ job }) => job)),
  }
}

function trackOf(tracks: Map<string, Track>, id: string): Track {
  const known = tracks.get(id) ?? { indices: [], next: 0 }
  tracks.set(id, known)
  return known
}

/** The entry that is expected next; null at the end, and once the logs differ or the log was left. */
export function nextIn({ difference, isOpen, entries, came }: FollowedLog): Entry | null {
  return difference === null && !isOpen ? (entries[came.length] ?? null) : null
}

/** The entries to come, from the expected one on. */
export function* ahead({ entries, came }: FollowedLog): Generator<Entry, void, void> {
  for (let index = came.length; index < entries.length; index += 1) yield entries[index] as Entry
}

/** What a job records from here on. */
export function aheadOfJob(followed: FollowedLog, job: string): Generator<Entry, void, void> {
  return along(followed, followed.jobs.get(job))
}

/** What is recorded of a call from here on. */
export function aheadOfCall(followed: FollowedLog, call: string): Generator<Entry, void, void> {
  return along(followed, followed.calls.get(call))
}

function* along({ came, entries }: FollowedLog, track: Track | undefined): Generator<Entry, void, void> {
  if (track === undefined) return
  const { indices } = track
  const at = came.length
  while ((indices[track.next] ?? at) < at) track.next += 1
  for (let index = track.next; index < indices.length; index += 1) yield entries[indices[index] as number] as Entry
}

/** The number of the next entry if a job records it in this epoch; null if it does not, or if no job can give that number. */
export function numberOfNext(
  followed: FollowedLog,
  { id, epoch }: { readonly id: string; readonly epoch: number },
): number | null {
  const next = nextIn(followed)
  if (next === null || next.job !== id || next.epoch !== epoch) return null
  const { appendNo } = next
  const isPossible = Math.floor(appendNo / perEpoch) === epoch - 1 && appendNo > (followed.numbers.get(id) ?? 0)
  return isPossible ? appendNo : null
}

/** Takes an entry that came, and compares it with the expected one. It gets the next seq. */
export function takeEntry(followed: FollowedLog, entry: Entry): void {
  if (followed.difference !== null) return
  const expected = nextIn(followed)
  const seq = followed.came.length + 1
  const path = followed.isOpen ? null : differenceOf(expected, entry)
  if (path !== null) {
    followed.difference = { seq, expected, came: entry, path }
    return
  }
  const stored: Writable<Entry> = entry
  stored.seq = seq
  if (expected?.view !== undefined) stored.view = expected.view
  if (expected !== null) takeUndecided(stored, expected)
  followed.came.push(entry)
  if (entry.epoch > 0) followed.numbers.set(entry.job, entry.appendNo)
}

/** Where an entry first differs from the expected one; null if it does not. */
function differenceOf(expected: Entry | null, came: Entry): string | null {
  if (expected === came) return null // what came from outside is taken as it is
  if (expected === null) return ''
  const taken = { ...came }
  takeUndecided(taken, expected)
  return firstDifference(comparable(expected), comparable(taken))
}

/** Ends the replay: the engine records nothing where an entry is expected. */
export function stopFollowing(followed: FollowedLog): void {
  const expected = nextIn(followed)
  followed.difference ??= { seq: followed.came.length + 1, expected, came: null, path: '' }
}

/** Of a model call: what depends on the code that made the request and on when it was made, and what earlier versions did not record. */
const undecided = { end: ['digest', 'readUpTo'], error: ['digest', 'startedAt', 'offered'] } as const

/** An entry of a model has of these fields what the log has. */
function takeUndecided(came: Writable<Entry>, { kind, body }: Entry): void {
  if (came.kind !== 'model' || kind !== 'model' || came.body === body) return
  const then = body as unknown as Readonly<Record<string, unknown>>
  const taken: Record<string, unknown> = { ...came.body }
  for (const field of undecided[came.type]) {
    if (then[field] === undefined) delete taken[field]
    else taken[field] = then[field]
  }
  came.body = taken as unknown as typeof came.body
}

/** What is compared of an entry: everything but times, the seq, what its process had read of others, and the words of notices and errors. */
function comparable({ seq: _, at: __, view: ___, ...entry }: Entry): unknown {
  if (entry.type === 'notice' || entry.type === 'error') return { ...entry, body: { ...entry.body, detail: undefined } }
  if (!entry.type.endsWith('_required')) return entry
  const { expiresAt } = entry.body as { readonly expiresAt?: unknown }
  return { ...entry, body: { ...entry.body, expiresAt: expiresAt == null } }
}
