/** The thread of knowledge, from outside: started at the first call, started again if it died, and ended by `close`. */
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { WitanError } from '@witan/protocol'
import { pause } from '../../../identity/turn.ts'
import type { FromThread, ThreadSettings, ToThread } from './messages.ts'
import { receivedError } from './messages.ts'
import type { ArgumentOf, MethodName, ResultOf } from './methods.ts'

/** How long a thread may be silent while somebody waits for it, in ms. */
const silentMs = 60_000
/** How much memory its own values may take, in MB. What SQLite caches is beside it. */
const memoryMb = 512
/** A small space for new values is collected often, and keeps the process small. */
const youngMb = 8
/** A thread inherits the arguments of its process, and no hook that makes `@witan/…` mean the source: then one of source is told by this argument. */
const fromSource = '--conditions=witan-source'

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

interface Running {
  readonly worker: Worker
  readonly waiting: Map<number, Waiting>
  /** Settles when the thread has ended. */
  readonly ended: Promise<void>
}

/** The thread of one file. */
export class KnowledgeThread {
  readonly #settings: ThreadSettings
  #running: Running | null = null
  #lastId = 0
  #timer: NodeJS.Timeout | null = null

  constructor(settings: ThreadSettings) {
    this.#settings = settings
  }

  /**
   * Calls a method of the thread; `parts` are sent before, each in a turn that has time for it. Rejects with `STORE_UNAVAILABLE` if the thread
   * dies, or says nothing for a minute: then it is ended, and the next call starts another one.
   */
  async call<Name extends MethodName>(
    method: Name,
    argument: ArgumentOf<Name>,
    parts: Iterable<unknown> = [],
  ): Promise<ResultOf<Name>> {
    this.#running ??= this.#start()
    const running = this.#running
    this.#lastId += 1
    const id = this.#lastId
    const result = new Promise<unknown>((resolve, reject) => running.waiting.set(id, { resolve, reject }))
    result.catch(() => {}) // it may reject while parts are still sent
    running.worker.ref()
    this.#watch(running)
    const post = (message: ToThread) => running.worker.postMessage(message)
    for (const part of parts) {
      await pause()
      if (!running.waiting.has(id)) break
      post({ id, part })
    }
    post({ id, method, argument })
    return (await result) as ResultOf<Name>
  }

  /** Lets the thread end its work, and ends it. */
  async close(): Promise<void> {
    const running = this.#running
    if (running === null) return
    running.worker.postMessage('close' satisfies ToThread)
    running.worker.ref()
    await running.ended
  }

  #start(): Running {
    const extension = extname(import.meta.url)
    const worker = new Worker(new URL(`./worker${extension}`, import.meta.url), {
      ...(extension === '.ts' && !process.execArgv.includes(fromSource) ? { execArgv: [fromSource] } : {}),
      workerData: this.#settings,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: youngMb },
      stdin: false,
    })
    const waiting = new Map<number, Waiting>()
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    const running: Running = { worker, waiting, ended }
    worker.on('message', (message: FromThread) => this.#receive(running, message))
    worker.on('error', (error) => this.#lost(running, died(error.message)))
    worker.on('exit', () => this.#lost(running, died('it ended')))
    return running
  }

  #receive(running: Running, message: FromThread): void {
    this.#timer?.refresh()
    if (message === 'working') return
    if ('error' in message && message.id === 'open') return this.#lost(running, receivedError(message.error))
    const { id } = message as { readonly id: number }
    const waiting = running.waiting.get(id)
    running.waiting.delete(id)
    if ('error' in message) waiting?.reject(receivedError(message.error))
    else waiting?.resolve(message.value)
    if (running.waiting.size > 0) return
    this.#rest()
    running.worker.unref()
  }

  /** Everybody who waits learns of it, and the next call starts another thread. */
  #lost(running: Running, error: Error): void {
    if (this.#running === running) {
      this.#running = null
      this.#rest()
    }
    for (const { reject } of running.waiting.values()) reject(error)
    running.waiting.clear()
  }

  #watch(running: Running): void {
    this.#timer ??= setTimeout(() => {
      this.#lost(running, died(`it said nothing for ${silentMs / 1000} s`))
      running.worker.terminate().catch(() => {})
    }, silentMs)
  }

  #rest(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}

function died(why: string): WitanError {
  return new WitanError('STORE_UNAVAILABLE', `The thread of knowledge failed: ${why}.`, {
    hint: 'Try again: the next call starts it again. If it repeats, look at the memory and the disk of this machine.',
  })
}
