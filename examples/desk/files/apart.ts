/**
 * Reads files of others in a thread apart, which is ended if it does not come back. A mail or a calendar may be written so that reading it takes
 * for ever: the event loop of the desk never waits for it, and what holds the thread up is left out.
 */
import { Worker } from 'node:worker_threads'
import type { Found as CalendarFound, CalendarJob } from './calendar.ts'
import type { Found as MailFound, MailJob } from './mails.ts'

/** What the thread is to read. */
export type Job = MailJob | CalendarJob

type FoundBy<J extends Job> = J extends MailJob ? MailFound : CalendarFound

/** What the thread gets. It writes the number of the item that it reads into `at`. */
export interface Given {
  readonly job: Job
  /** Numbers of items that held an earlier thread up. */
  readonly skip: readonly number[]
  readonly at: Int32Array
}

/** What it sends back. */
export type Sent = { readonly found: unknown } | { readonly problem: string }

const tickMs = 100
/** How long one item may take, and how long the thread may take to start and to list the items. */
const itemMs = 1_500
const startMs = 10_000
const allMs = 20_000
/** How many items that hang the thread are left out before the whole reading is given up. */
const maxSkipped = 3

/** Reads what the job asks for. Throws an error with words for a model if the files cannot be read. */
export async function readApart<J extends Job>(job: J, signal: AbortSignal): Promise<FoundBy<J>> {
  const until = performance.now() + allMs
  const skip: number[] = []
  for (;;) {
    const ended = await attempt({ job, skip, at: new Int32Array(new SharedArrayBuffer(4)).fill(-1) }, until, signal)
    if ('found' in ended) return ended.found as FoundBy<J>
    if ('problem' in ended) throw new Error(ended.problem)
    if (ended.stuckAt < 0 || skip.length >= maxSkipped || performance.now() > until)
      throw new Error('the files take too long to read')
    skip.push(ended.stuckAt)
  }
}

/** One thread, until it has answered, or reads the same item for too long, or dies of it. */
function attempt(given: Given, until: number, signal: AbortSignal): Promise<Sent | { readonly stuckAt: number }> {
  signal.throwIfAborted()
  const worker = new Worker(new URL('worker.ts', import.meta.url), {
    workerData: given,
    execArgv: ['--no-warnings'],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  })
  return new Promise<Sent | { readonly stuckAt: number }>((resolve, reject) => {
    let [last, stillMs] = [-1, 0]
    const stuck = () => resolve({ stuckAt: Atomics.load(given.at, 0) })
    const timer = setInterval(() => {
      const now = Atomics.load(given.at, 0)
      stillMs = now === last ? stillMs + tickMs : 0
      last = now
      if (stillMs > (now < 0 ? startMs : itemMs) || performance.now() > until) stuck()
    }, tickMs)
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    worker.once('message', resolve)
    worker.once('error', stuck)
    worker.once('exit', () => {
      clearInterval(timer)
      signal.removeEventListener('abort', abort)
      stuck()
    })
  }).finally(() => worker.terminate())
}
