/** Wakes one waiter when something changes. */
export class Pulse {
  #wake: (() => void) | null = null
  #woken = false

  /** Wakes the waiter. */
  beat(): void {
    this.#woken = true
    this.#wake?.()
  }

  /** Resolves at the next beat, or at once if one came since the last wait. */
  async next(): Promise<void> {
    if (!this.#woken) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    this.#wake = null
    this.#woken = false
  }
}
