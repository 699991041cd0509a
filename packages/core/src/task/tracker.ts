/** Who in this process waits for a run to be told: nothing here is needed for a run to go on. */
import type { RunResult } from '@witan/protocol'

interface Waiter {
  readonly epoch: number
  readonly resolve: (result: RunResult) => void
  readonly reject: (error: unknown) => void
}

/** Waiters by run. A waiter of a later epoch is not answered by what an earlier one told. */
export class RunTracker {
  readonly #waiters = new Map<string, Waiter[]>()

  /** The next result that the run tells in this epoch or a later one. */
  next(run: string, epoch: number): Promise<RunResult> {
    const promise = new Promise<RunResult>((resolve, reject) => {
      const waiters = this.#waiters.get(run) ?? []
      waiters.push({ epoch, resolve, reject })
      this.#waiters.set(run, waiters)
    })
    promise.catch(() => {})
    return promise
  }

  tell(run: string, epoch: number, result: RunResult): void {
    for (const waiter of this.#take(run, epoch)) waiter.resolve(result)
  }

  fail(run: string, epoch: number, error: unknown): void {
    for (const waiter of this.#take(run, epoch)) waiter.reject(error)
  }

  #take(run: string, epoch: number): readonly Waiter[] {
    const waiters = this.#waiters.get(run)
    if (waiters === undefined) return []
    const later = waiters.filter((waiter) => waiter.epoch > epoch)
    if (later.length > 0) this.#waiters.set(run, later)
    else this.#waiters.delete(run)
    return waiters.filter((waiter) => waiter.epoch <= epoch)
  }
}
