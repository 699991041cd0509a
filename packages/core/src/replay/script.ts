/** The log that a replay follows: its entries in order, and how far the replay has come in them. */
import type { Entry } from '@witan/protocol/entries'
import type { JobRow } from '../store/store.ts'
import { firstDifference } from './difference.ts'

/** Where the replayed log first differs. `came` is null if the engine recorded nothing more. */
export interface Difference {
  readonly seq: number
  /** The entry of the export; null if it has no more. */
  readonly expected: Entry | null
  readonly came: Entry | null
  /** The first place in the entry that differs, such as `body.text`; empty if one of both is missing. */
  readonly path: string
}

/** The entries of one call or one job that are still to come: their indices, and the first that was not passed yet. */
interface Track {
  readonly indices: number[]
  next: number
}

/** An exported log, and the position of the replay in it. */
export interface Script {
  readonly entries: readonly Entry[]
  /** The number of entries that were recorded again. */
  at: number
  difference: Difference | null
  /** True once the replay has left the log: it expects no further entry. */
  isOpen: boolean
  /** Called when an entry was recorded, or the replay stops. */
  onMove: () => void
  /** The entries that were recorded again, by job and append number. */
  readonly recorded: Set<string>
  /** The seq of each entry of the log, by job and append number, and that of the last one that is stored again. */
  readonly seqs: ReadonlyMap<string, number>
  stored: number
  /** The last number that each job gave to an entry. */
  readonly numbers: Map<string, number>
  /** What jobs and calls record themselves; entries that others brought to them are not among it. */
  readonly jobs: ReadonlyMap<string, Track>
  readonly calls: ReadonlyMap<string, Track>
  /** The runs that the runtime itself began, to report ended tasks. */
  readonly followUps: ReadonlySet<string>
  /** The epochs of the jobs' rows. */
  readonly epochs: ReadonlyMap<string, number>
}

/** A script. The store has its first `from` entries already. */
export function createScript(
  entries: readonly Entry[],
  { from, jobs }: { readonly from: number; readonly jobs: readonly Pick<JobRow, 'id' | 'epoch'>[] },
): Script {
  const byJob = new Map<string, Track>()
  const byCall = new Map<string, Track>()
  for (const [index, { job, place, epoch }] of entries.entries()) {
    if (epoch === 0) continue
    trackOf(byJob, job).indices.push(index)
    trackOf(byCall, place.call).indices.push(index)
  }
  const followUps = entries.filter(({ type, kind, body }) => type === 'start' && kind === 'agent' && body.hidden)
  return {
    ...{
      entries,
      at: from,
      difference: null,
      isOpen: false,
      onMove: () => {},
      recorded: new Set<string>(),
      seqs: new Map(entries.map((entry) => [keyOf(entry), entry.seq])),
      stored: entries[from - 1]?.seq ?? 0,
      numbers: new Map(),
    },
    ...{ jobs: byJob, calls: byCall },
    followUps: new Set(followUps.map(({ job }) => job)),
    epochs: new Map(jobs.map(({ id, epoch }) => [id, epoch])),
  }
}

function trackOf(tracks: Map<string, Track>, id: string): Track {
  const known = tracks.get(id) ?? { indices: [], next: 0 }
  tracks.set(id, known)
  return known
}

/** The entry that is expected next; null at the end, and once the logs differ or the log was left. */
export function nextIn({ difference, isOpen, entries, at }: Script): Entry | null {
  return difference === null && !isOpen ? (entries[at] ?? null) : null
}

/** The entries to come, from the expected one on. */
export function* ahead({ entries, at }: Script): Generator<Entry, void, void> {
  for (let index = at; index < entries.length; index += 1) yield entries[index] as Entry
}

/** What a job records from here on. */
export function aheadOfJob(script: Script, job: string): Generator<Entry, void, void> {
  return along(script, script.jobs.get(job))
}

/** What is recorded of a call from here on. */
export function aheadOfCall(script: Script, call: string): Generator<Entry, void, void> {
  return along(script, script.calls.get(call))
}

function* along({ at, entries }: Script, track: Track | undefined): Generator<Entry, void, void> {
  if (track === undefined) return
  const { indices } = track
  while ((indices[track.next] ?? at) < at) track.next += 1
  for (let index = track.next; index < indices.length; index += 1) yield entries[indices[index] as number] as Entry
}

/** Append numbers of one epoch. */
const perEpoch = 2 ** 24

/**
 * The number of the entry that a job records next. An end that was refused has used up some, so it may be any later one of its epoch. Null
 * if the log has none of this epoch, or one that no job can give.
 */
export function numberAhead(
  script: Script,
  { id, epoch }: { readonly id: string; readonly epoch: number },
): number | null {
  for (const next of aheadOfJob(script, id)) {
    const { appendNo } = next
    const isOne = Math.floor(appendNo / perEpoch) === epoch - 1 && appendNo > (script.numbers.get(id) ?? 0)
    return next.epoch === epoch && isOne && !script.isOpen ? appendNo : null
  }
  return null
}

function keyOf({ job, appendNo }: Entry): string {
  return `${job} ${appendNo}`
}

/** Whether an entry was recorded. */
export function isRecorded({ recorded }: Script, entry: Entry): boolean {
  return recorded.has(keyOf(entry))
}

/** Whether all that a job recorded is stored. */
export function isStored({ seqs, numbers, stored }: Script, job: string): boolean {
  return (seqs.get(`${job} ${numbers.get(job)}`) ?? 0) <= stored
}

/** Compares an entry with the expected one. An entry that was compared before is ignored. */
export function takeEntry(script: Script, entry: Entry): void {
  if (script.isOpen || script.difference !== null || isRecorded(script, entry)) return
  script.recorded.add(keyOf(entry))
  if (entry.epoch > 0) script.numbers.set(entry.job, entry.appendNo)
  const expected = script.entries[script.at] ?? null
  const path = expected === null ? '' : firstDifference(comparable(expected), comparable(entry))
  if (path === null) script.at += 1
  else script.difference = { seq: expected?.seq ?? script.at + 1, expected, came: entry, path }
  script.onMove()
}

/** Notes that an entry is stored. One that no job recorded is compared only now. */
export function takeStored(script: Script, entry: Entry): void {
  takeEntry(script, entry)
  script.stored += 1
  if (script.difference !== null || script.isOpen || script.seqs.get(keyOf(entry)) === script.stored) return
  script.difference = { seq: script.stored, expected: null, came: entry, path: '' }
}

/** Ends the replay: the engine records nothing where an entry is expected. */
export function stopScript(script: Script): void {
  const expected = nextIn(script)
  script.difference ??= { seq: expected?.seq ?? script.at + 1, expected, came: null, path: '' }
  script.onMove()
}

/**
 * What is compared of an entry: everything but times, the seq and the words of notices and errors; and not how much a model had not seen, which counts
 * what its own process had folded: a replay plays the jobs of all processes in one.
 */
function comparable({ seq: _, at: __, ...entry }: Entry): unknown {
  if (entry.type === 'notice' || entry.type === 'error')
    return { ...entry, body: { ...entry.body, detail: undefined, behind: undefined } }
  if (entry.kind === 'model') return { ...entry, body: { ...entry.body, behind: undefined } }
  if (!entry.type.endsWith('_required')) return entry
  const { expiresAt } = entry.body as { readonly expiresAt?: unknown }
  return { ...entry, body: { ...entry.body, expiresAt: expiresAt == null } }
}
