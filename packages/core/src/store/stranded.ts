/** Parked jobs that nothing would wake. */

/** A page of a search. */
interface StrandedPage {
  /** Where to go on; null at the end. Only the store that gave it can read it. */
  readonly next: string | null
  readonly woken: number
}

/** Finds parked jobs that nothing would wake, as a history that went back may leave them. */
export interface StrandedSearch {
  /**
   * Looks at `limit` live jobs, of any database, and sets `wake` of those that are parked and have no open interruption. A claim of one
   * counts as no attempt: whatever waits for something else parks again.
   */
  wakeStranded(after: string | null, limit: number): Promise<StrandedPage>
}
