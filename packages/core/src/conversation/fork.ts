/** A log up to some seq as the beginning of another conversation: where it may be cut, and how its places are renamed [Rb55]. */
import type { Entry } from '@witan/protocol/entries'

/** What a fork copies: entries up to the seq, and the last seq of them at which no call is open. */
export interface Copied {
  readonly entries: readonly Entry[]
  readonly lastLegalSeq: number
}

/**
 * Takes the entries up to `seq`, all documents alike. Legal is the beginning, and the end of a run or task where no other is
 * live: in between some call is open.
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

/** Keeps `open`, the calls that have a job of their own. True for the last words of one; a task's status follows its end. */
function endsJob(entry: Entry, open: Set<string>): boolean {
  const { type, kind, place } = entry
  if (type === 'task') return !open.has(place.call)
  if (kind !== 'agent') return false
  if (type !== 'start') return open.delete(place.call)
  if (place.call === place.run || entry.body.background !== undefined) open.add(place.call)
  return false
}

/** The same entry in a conversation of another id; it is stored anew there and belongs to no job of it. */
export function movedEntry(entry: Entry, from: string, to: string): Entry {
  const move = (document: string) => to + document.slice(from.length)
  const moved = { ...entry, seq: 0, place: { ...entry.place, document: move(entry.place.document) } }
  if (moved.type !== 'summary') return moved
  return { ...moved, body: { ...moved.body, document: move(moved.body.document) } }
}
