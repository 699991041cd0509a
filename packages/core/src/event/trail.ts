/** The last entries that a reader has got, so that it can tell whether they are still stored. */
import { isWitanError, WitanError } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import { isSameEntry } from '../store/entry-text.ts'

type Step = Pick<Entry, 'seq' | 'type' | 'at' | 'job' | 'epoch' | 'appendNo'>

/** How many are kept at least, once so many were read. */
const kept = 100

/** The last entries of one reader, without their contents. */
export class Trail {
  #steps: Step[] = []

  /** The reader has got this entry, or knew it before. */
  add({ seq, type, at, job, epoch, appendNo }: Entry): void {
    if (this.#steps.length === 2 * kept) this.#steps = this.#steps.slice(kept)
    this.#steps.push({ seq, type, at, job, epoch, appendNo })
  }

  /** Throws `EVENT_ID_AHEAD`, with the seq to go on from, if what the reader has got is not stored any more. Reads once at least. */
  async confirm(read: (after: number, limit: number) => Promise<readonly Entry[]>): Promise<void> {
    const [first] = this.#steps
    const last = this.#steps.at(-1)
    if (first === undefined || last === undefined) return void (await read(0, 1))
    const stored = new Map<number, Entry>()
    for (let after = first.seq - 1; after < last.seq; ) {
      const page = await read(after, last.seq - after)
      for (const entry of page) stored.set(entry.seq, entry)
      after = page.at(-1)?.seq ?? last.seq
    }
    const common = this.#steps.findLast((step) => {
      const entry = stored.get(step.seq)
      return entry !== undefined && isSameEntry(entry, step)
    })
    if (common !== last) throw wentBack(common?.seq ?? 0)
  }
}

/** That a newer version has taken the schema over, with the seq to go on from; any other error as it is. */
export function endedAt(error: unknown, from: number): unknown {
  if (!isWitanError(error) || error.code !== 'SCHEMA_TOO_NEW') return error
  return new WitanError(error.code, error.message, { hint: error.hint ?? '', details: { ...error.details, from } })
}

function wentBack(from: number): WitanError {
  return new WitanError('EVENT_ID_AHEAD', `What is stored went back: events after ${from} that were read are lost.`, {
    hint: `Drop what came after ${from}, and go on from there.`,
    details: { from },
  })
}
