/** Which stored entries of a log are known here: all up to a seq, but for gaps where others appended and nothing was read yet. */
import type { Entry } from '@witan/protocol/entries'

interface Gap {
  readonly after: number
  readonly upTo: number
}

/** How far a fold has come in its log. */
export class Frontier {
  #known: number
  #gaps: readonly Gap[] = []

  constructor(seq: number) {
    this.#known = seq
  }

  /** Where to read on: behind this nothing is known, or something is missing. */
  get after(): number {
    return this.#gaps[0]?.after ?? this.#known
  }

  get isWhole(): boolean {
    return this.#gaps.length === 0
  }

  /** An append of ours is stored: what stands before it and is not known was stored by others. It is read with that, for its place. */
  landed({ before, lastSeq }: { readonly before: number; readonly lastSeq: number }): void {
    if (before > this.#known) this.#gaps = [...this.#gaps, { after: this.#known, upTo: lastSeq }]
    this.#known = Math.max(this.#known, lastSeq)
  }

  /** Whether an entry that was read is new here. */
  isNew({ seq }: Entry): boolean {
    return seq > this.#known || this.#gaps.some((gap) => seq > gap.after && seq <= gap.upTo)
  }

  /** Everything behind `after` and up to `last` was read. */
  covered(after: number, last: number): void {
    this.#gaps = this.#gaps.flatMap((gap) => leftOf(gap, after, last))
    this.#known = Math.max(this.#known, last)
  }
}

function leftOf(gap: Gap, after: number, last: number): Gap[] {
  if (gap.after < after) return [gap]
  return gap.upTo <= last ? [] : [{ after: Math.max(gap.after, last), upTo: gap.upTo }]
}
