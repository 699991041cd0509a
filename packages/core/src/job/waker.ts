/** Wakes one waiter when something changes. */
export class Waker {
  #resolve: (() => void) | null = null
  #isWoken = false

  /** Wakes the waiter. */
  wake(): void {
    this.#isWoken = true
    this.#resolve?.()
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
}
