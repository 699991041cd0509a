/** Where a log may be cut: a fork copies it up to there into another conversation [Rb55], and the views of a run end there. */
import type { Entry, Writable } from '@witan/protocol/entries'
import { makeEntry } from './entry.ts'

/** The entries that a fork copies, and the last seq among them at which no call is open. */
interface Copied {
  readonly entries: readonly Entry[]
  readonly lastLegalSeq: number
}

/**
 * Reads the entries of all documents up to `seq`. A legal cut is the beginning of the log, or the end of a run or task while no
 * other job is live. Anywhere else a call is open.
 */
export async function copyLog(log: AsyncIterable<Entry>, seq: number): Promise<Copied> {
  const entries: Entry[] = []
  const open = new Set<string>()
  let lastLegalSeq = 0
  if (seq > 0) {
    for await (const entry of log) {
      entries.push(entry)
      if (endsJob(entry, open) && open.size === 0) lastLegalSeq = entry.seq
      if (entry.seq === seq) break
    }
  }
  return { entries, lastLegalSeq }
}

/** The entries of one run, up to the end of its root call and of its tasks. */
export async function* entriesOfRun(log: AsyncIterable<Entry>, run: string): AsyncGenerator<Entry, void, void> {
  const open = new Set<string>()
  for await (const entry of log) {
    if (entry.place.run !== run) continue
    yield entry
    if (endsJob(entry, open) && open.size === 0) return
  }
}

/** Updates `open`, the calls with a job of their own. True for a job's last entry; a task's status follows its end. */
function endsJob(entry: Entry, open: Set<string>): boolean {
  const { type, kind, place } = entry
  if (type === 'task') return !open.has(place.call)
  if (kind !== 'agent') return false
  if (type !== 'start') return open.delete(place.call)
  if (place.call === place.run || entry.body.background !== undefined) open.add(place.call)
  return false
}

/** The same entry for a conversation of another id. It is stored again there and belongs to no job of it. */
export function movedEntry(entry: Entry, from: string, to: string): Entry {
  const move = (document: string) => to + document.slice(from.length)
  const moved: Writable<Entry> = makeEntry(entry, {
    ...entry,
    place: { ...entry.place, document: move(entry.place.document) },
  })
  // Copied entries keep their seqs, so what their processes had read of others by then stays true.
  if (entry.view !== undefined) moved.view = entry.view
  if (moved.type !== 'summary') return moved
  return { ...moved, body: { ...moved.body, document: move(moved.body.document) } }
}
