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

  /** A proposal begins. None may be under way. */
  begin(): void {
    this.#isBusy = true
  }

  /** The proposal under way is settled. */
  end(): void {
    const [over, afterwards] = [this.#over, this.#afterwards]
    this.#isBusy = false
    this.#over = null
    this.#afterwards = null
    if (afterwards !== null) for (const then of afterwards) then()
    over?.resolve()
  }

  /** Runs `then` at once, or when the proposal under way is settled: before any code that waits for `pending` goes on. */
  afterwards(then: () => void): void {
    if (!this.#isBusy) return then()
    this.#afterwards ??= []
    this.#afterwards.push(then)
  }
}
