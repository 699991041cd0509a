/** The scrubbers of one conversation. The same values have the same scrubber, so that cleaned text can be cached. */
import type { Parameter } from '@witan/protocol'
import type { Bound } from './parameter.ts'
import { type Scrubber, scrubbedInOthers, scrubbedInOwn, scrubberOf } from './scrub.ts'

/** Creates each scrubber once. Uses no memory until a value is hidden. */
export class Scrubbers {
  #made: Map<string, Scrubber> | null = null

  /** For what an agent's model reads in its own document. */
  of(declared: readonly Parameter[], bound: Bound): Scrubber {
    return declared.length === 0 ? null : this.#get(scrubbedInOwn(declared, bound), bound)
  }

  /** For what an agent's model reads from another document. */
  ofOthers(declared: readonly Parameter[], bound: Bound): Scrubber {
    return declared.length === 0 ? null : this.#get(scrubbedInOthers(declared, bound), bound)
  }

  /** Values that the model may see do not count: calls that differ only in these share a scrubber. */
  #get(hidden: readonly Parameter[], bound: Bound): Scrubber {
    if (hidden.length === 0) return null
    const key = JSON.stringify(hidden.map(({ name }) => bound.get(name)?.box.reveal()))
    const known = this.#made?.get(key)
    if (known !== undefined) return known
    const made = scrubberOf(hidden, bound)
    if (made === null) return null
    this.#made ??= new Map()
    this.#made.set(key, made)
    return made
  }
}

/** A text after each of these scrubbers, in order. A scrubber is not applied twice in a row. */
export function scrubbedBy(text: string, ...scrubbers: readonly Scrubber[]): string {
  let clean = text
  let last: Scrubber = null
  for (const scrub of scrubbers) {
    if (scrub === null || scrub === last) continue
    clean = scrub(clean)
    last = scrub
  }
  return clean
}
