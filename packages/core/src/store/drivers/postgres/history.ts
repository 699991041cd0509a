/** Notices that what is stored may have gone back: the origin of a transaction is another one than before. */

/** The histories that a store has worked with. */
export interface Histories {
  /** Which one the store works with now: a number that grows. */
  current(): number
  /** Takes the origin of a transaction that begins. */
  observe(origin: string): void
  /** The last history that had this origin, which was observed. */
  of(origin: string): number
}

/**
 * An origin is when the server was started, with the row of the schema's version: a restored dump writes that row anew. Nothing that is
 * stored goes back without one of the two being another: a standby and a restored backup are servers started at another time.
 */
export function createHistories(changed: () => void): Histories {
  const numbers = new Map<string, number>()
  let known: string | null = null
  let current = 0
  return {
    current: () => current,
    observe(origin) {
      if (origin === known) return
      const isFirst = known === null
      known = origin
      if (!isFirst) current += 1
      numbers.set(origin, current)
      if (!isFirst) changed()
    },
    of: (origin) => numbers.get(origin) ?? current,
  }
}
