/** The proposals of a conversation: appends that may be refused, one at a time [O2]. */
export class Proposals {
  #isBusy = false
  /** Made once somebody waits for the proposal under way. */
  #over: PromiseWithResolvers<void> | null = null
  #afterwards: (() => void)[] | null = null

  /** Resolves when the proposal under way is settled; null without one. Read it again after waiting: the next one may have begun. */
  get pending(): Promise<unknown> | null {
    if (!this.#isBusy) return null
    this.#over ??= Promise.withResolvers()
    return this.#over.promise
  }

  /** Begins a proposal once none is under way. */
  async next<Result>(begin: () => Promise<Result>): Promise<Result> {
    while (this.#isBusy) await this.pending
    this.#isBusy = true
    try {
      return await begin()
    } finally {
      const [over, afterwards] = [this.#over, this.#afterwards]
      this.#isBusy = false
      this.#over = null
      this.#afterwards = null
      if (afterwards !== null) for (const then of afterwards) then()
      over?.resolve()
    }
  }

  /** Runs `then` at once, or when the proposal under way is settled: before any code that waits for `pending` goes on. */
  afterwards(then: () => void): void {
    if (!this.#isBusy) return then()
    this.#afterwards ??= []
    this.#afterwards.push(then)
  }
}
