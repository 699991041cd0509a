/** Tracks which stored entries of a log are folded here: all up to a seq, except gaps that other writers appended. */
import type { Entry } from '@witan/protocol/entries'

interface Gap {
  readonly after: number
  readonly upTo: number
}

/** The folded part of a log. */
export class Frontier {
  #known: number
  #gaps: readonly Gap[] = []

  constructor(seq: number) {
    this.#known = seq
  }

  /** Where to continue reading: the first gap, or the end. */
  get after(): number {
    return this.#gaps[0]?.after ?? this.#known
  }

  /** The last seq that is known to be stored. */
  get last(): number {
    return this.#known
  }

  get hasNoGaps(): boolean {
    return this.#gaps.length === 0
  }

  /** Notes that an own append is stored. Unknown entries before it form a gap, which includes the append itself. */
  markAppended({ before, lastSeq }: { readonly before: number; readonly lastSeq: number }): void {
    if (before > this.#known) this.#gaps = [...this.#gaps, { after: this.#known, upTo: lastSeq }]
    this.#known = Math.max(this.#known, lastSeq)
  }

  /** Whether a stored entry is not folded yet. */
  isNew({ seq }: Entry): boolean {
    return seq > this.#known || this.#gaps.some((gap) => seq > gap.after && seq <= gap.upTo)
  }

  /** Notes that all entries above `after` up to `last` were read. */
  markRead(after: number, last: number): void {
    this.#gaps = this.#gaps.flatMap((gap) => leftOf(gap, after, last))
    this.#known = Math.max(this.#known, last)
  }
}

function leftOf(gap: Gap, after: number, last: number): Gap[] {
  if (gap.after < after) return [gap]
  return gap.upTo <= last ? [] : [{ after: Math.max(gap.after, last), upTo: gap.upTo }]
}
