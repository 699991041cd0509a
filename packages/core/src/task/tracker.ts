/** The callers in this process that wait for a run's result. Runs do not depend on them. */
import type { RunResult } from '@witan/protocol'

/** A job, and the epoch in which the caller saw it. */
export interface TrackedJob {
  readonly id: string
  readonly database: string
  readonly conversation: string
  readonly epoch: number
}

/** A result as it is stored. Its readers get the id of the trace with it, which its ids tell. */
export type StoredResult = Omit<RunResult, 'traceId'>

interface Waiter extends TrackedJob {
  readonly resolve: (result: StoredResult) => void
  readonly reject: (error: unknown) => void
}

/** Waiters by job. A result of an earlier epoch does not resolve a waiter of a later one. */
export class RunTracker {
  readonly #waiters = new Map<string, Waiter[]>()
  readonly #hold: () => () => void
  #release: (() => void) | null = null
  #closed: { readonly error: unknown } | null = null

  /** `hold` keeps the process alive until the returned function is called. A run in another process needs this. */
  constructor(hold: () => () => void) {
    this.#hold = hold
  }

  /** The next result of the job in this epoch or a later one. */
  next({ id, database, conversation, epoch }: TrackedJob): Promise<StoredResult> {
    if (this.#closed !== null) return rejected(this.#closed.error)
    const promise = new Promise<StoredResult>((resolve, reject) => {
      const waiters = this.#waiters.get(id) ?? []
      waiters.push({ id, database, conversation, epoch, resolve, reject })
      this.#waiters.set(id, waiters)
      this.#release ??= this.#hold()
    })
    promise.catch(() => {})
    return promise
  }

  /** One waiter of each awaited job, of that conversation or of all. Another process may have stored its result. */
  awaited(at?: { readonly database: string; readonly conversation: string }): readonly TrackedJob[] {
    const first = [...this.#waiters.values()].flatMap((waiters) => waiters.slice(0, 1))
    if (at === undefined) return first
    return first.filter((one) => one.database === at.database && one.conversation === at.conversation)
  }

  /** The epochs that callers saw may be lost: any result counts from now on. */
  forgetEpochs(): void {
    for (const [id, waiters] of this.#waiters)
      this.#waiters.set(
        id,
        waiters.map((waiter) => ({ ...waiter, epoch: 0 })),
      )
  }

  report(job: string, epoch: number, result: StoredResult): void {
    for (const waiter of this.#take(job, epoch)) waiter.resolve(result)
  }

  fail(job: string, epoch: number, error: unknown): void {
    for (const waiter of this.#take(job, epoch)) waiter.reject(error)
  }

  /** Rejects all waiters, and all later calls of `next`. */
  close(error: unknown): void {
    this.#closed ??= { error }
    for (const job of [...this.#waiters.keys()]) this.fail(job, Number.POSITIVE_INFINITY, error)
  }

  #take(job: string, epoch: number): readonly Waiter[] {
    const waiters = this.#waiters.get(job)
    if (waiters === undefined) return []
    const later = waiters.filter((waiter) => waiter.epoch > epoch)
    if (later.length > 0) this.#waiters.set(job, later)
    else this.#waiters.delete(job)
    if (this.#waiters.size === 0) {
      this.#release?.()
      this.#release = null
    }
    return waiters.filter((waiter) => waiter.epoch <= epoch)
  }
}

function rejected(error: unknown): Promise<never> {
  const promise = Promise.reject<never>(error)
  promise.catch(() => {})
  return promise
}
