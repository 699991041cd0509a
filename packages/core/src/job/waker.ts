/** Wakes one waiter when something changes, and tells who watches. */
export class Waker {
  #resolve: (() => void) | null = null
  #isWoken = false
  /** Made when it is first needed: few jobs are watched. */
  #watchers: Set<() => void> | null = null

  /** Wakes the waiter. */
  wake(): void {
    this.#isWoken = true
    this.#resolve?.()
    if (this.#watchers !== null) for (const then of [...this.#watchers]) then()
  }

  /** Resolves at the next `wake`, or at once if one came since the last wait. */
  async wait(): Promise<void> {
    if (!this.#isWoken) {
      await new Promise<void>((resolve) => {
        this.#resolve = resolve
      })
    }
    this.#resolve = null
    this.#isWoken = false
  }

  /** Calls `then` at each `wake`. Returns how to stop that. */
  watch(then: () => void): () => void {
    this.#watchers ??= new Set()
    this.#watchers.add(then)
    return () => this.#watchers?.delete(then)
  }
}
