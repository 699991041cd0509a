/** The proposals of a conversation: appends that may be refused, one at a time [O2]. */
export class Proposals {
  #pending: Promise<unknown> | null = null
  #afterwards: (() => void)[] = []

  /** Resolves when the proposal under way is settled; null without one. Read it again after waiting: the next one may have begun. */
  get pending(): Promise<unknown> | null {
    return this.#pending
  }

  /** Begins a proposal once none is under way. */
  async next<Result>(begin: () => Promise<Result>): Promise<Result> {
    while (this.#pending !== null) await this.#pending
    const over = Promise.withResolvers<void>()
    this.#pending = over.promise
    try {
      return await begin()
    } finally {
      this.#pending = null
      for (const then of this.#afterwards.splice(0)) then()
      over.resolve()
    }
  }

  /** Runs `then` at once, or when the proposal under way is settled: before any code that waits for `pending` goes on. */
  afterwards(then: () => void): void {
    if (this.#pending === null) then()
    else this.#afterwards.push(then)
  }
}
