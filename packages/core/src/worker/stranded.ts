/** Looks for parked jobs that nothing would wake: once at the start, and again when what is stored may have gone back. */
import type { StrandedSearch } from '../store/stranded.ts'

/** How many jobs are looked at with one statement, and how many pages in one round of the worker. */
const [atOnce, pagesInRound] = [50, 10]

/** A search in pages. */
export interface StrandedLook {
  /** The next pages, if the search is not over. */
  look(): Promise<void>
  /** Begins anew. */
  again(): void
}

/** Looks through all live jobs. */
export function lookForStranded(store: StrandedSearch): StrandedLook {
  let place: string | null | 'over' = null
  let begun = 0
  return {
    async look() {
      const search = begun
      for (let page = 0; page < pagesInRound && place !== 'over'; page += 1) {
        const { next } = await store.wakeStranded(place, atOnce)
        if (search !== begun) return
        place = next ?? 'over'
      }
    },
    again() {
      begun += 1
      place = null
    },
  }
}
