/** What the entries of a fold say of it: which one wrote them, and what it had read of others. */
import type { Entry, EntryView, Writable } from '@witan/protocol/entries'

/**
 * The view of one fold of a conversation. Other processes write to the log too, and what they write is folded here some time later. So the
 * first entry that is recorded here behind it says up to where it was read. A fold that was loaded from a log has a name: the first entry that
 * each job writes with it has that, and so has each entry of a command.
 */
export class OwnView {
  readonly #isLoaded: boolean
  #name: string | null = null
  /** The writers that an entry has named as writers with this fold. Made for the first one: every garbage collection looks through each weak set. */
  #known: WeakSet<object> | null = null
  /** The seq of the last entry of others, if no entry says yet that it was read; else 0. */
  #unsaid = 0

  constructor(isLoaded: boolean) {
    this.#isLoaded = isLoaded
  }

  /** Notes that the entries of others were folded up to this seq. */
  read(seq: number): void {
    this.#unsaid = Math.max(this.#unsaid, seq)
  }

  /** Sets the view of an entry that is made now; `writer` records it, null for a command. */
  mark(entry: Writable<Entry>, writer: object | null): void {
    if (this.#unsaid === 0 && !this.#isLoaded) return
    const isKnown = this.#isKnown(writer)
    if (this.#unsaid === 0 && isKnown) return
    const view: Writable<EntryView> = {}
    if (!isKnown && this.#isLoaded) {
      view.by = this.#name ??= `${entry.job}/${entry.appendNo}`
      this.#known ??= new WeakSet()
      if (writer !== null) this.#known.add(writer)
    }
    if (this.#unsaid > 0) view.upTo = this.#unsaid
    entry.view = view
    this.#unsaid = 0
  }

  /** Marks the entries of a proposal; `writer` records those of `job`. Returns what takes it back if they are not stored; null if there is nothing to say. */
  propose(entries: readonly Entry[], writer: object | null, job: string | undefined): (() => void) | null {
    for (const entry of entries) if (entry.view !== undefined) delete (entry as Writable<Entry>).view
    if (this.#unsaid === 0 && !this.#isLoaded) return null
    const [unsaid, name] = [this.#unsaid, this.#name]
    const isKnown = this.#isKnown(writer)
    for (const entry of entries) this.mark(entry, entry.job === job && entry.epoch > 0 ? writer : null)
    return () => {
      this.read(unsaid)
      this.#name = name
      if (writer !== null && !isKnown) this.#known?.delete(writer)
    }
  }

  #isKnown(writer: object | null): boolean {
    return writer !== null && this.#known?.has(writer) === true
  }
}
