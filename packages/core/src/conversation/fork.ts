/** A log up to some seq as the beginning of another conversation: where it may be cut, and how its places are renamed [Rb55]. */
import type { Entry } from '@witan/protocol/entries'

/** What a fork copies: entries up to the seq, and the last seq of them at which no call is open. */
export interface Copied {
  readonly entries: readonly Entry[]
  readonly lastLegalSeq: number
}

/** Takes the entries up to `seq`, all documents alike. Legal is the beginning, and the end of each run: in between some call is open. */
export async function copyLog(log: AsyncIterable<Entry>, seq: number): Promise<Copied> {
  const entries: Entry[] = []
  let lastLegalSeq = 0
  if (seq > 0) {
    for await (const entry of log) {
      entries.push(entry)
      if (endsRun(entry)) lastLegalSeq = entry.seq
      if (entry.seq === seq) break
    }
  }
  return { entries, lastLegalSeq }
}

/** The root's end is the last word of a run. */
function endsRun({ type, kind, place }: Entry): boolean {
  return kind === 'agent' && (type === 'end' || type === 'error') && place.call === place.run
}

/** The same entry in a conversation of another id; it is stored anew there and belongs to no job of it. */
export function movedEntry(entry: Entry, from: string, to: string): Entry {
  const move = (document: string) => to + document.slice(from.length)
  const moved = { ...entry, seq: 0, place: { ...entry.place, document: move(entry.place.document) } }
  if (moved.type !== 'summary') return moved
  return { ...moved, body: { ...moved.body, document: move(moved.body.document) } }
}
