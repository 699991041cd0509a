/** Servers and clients in a thread of their own, so that their work does not count as work of the runtime. */
import { Worker } from 'node:worker_threads'

/** An answer that a server gives to every request: `head`, then `piece` this many times, then `tail`. */
export interface Script {
  readonly status?: number
  readonly type?: string
  readonly head?: string
  readonly piece?: string
  readonly times?: number
  readonly tail?: string
}

/** Requests that are sent at once. */
export interface Requests {
  readonly url: string
  /** What each must be answered with: a row whose request is refused for another reason measures nothing. */
  readonly status: number
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** How many. Default 1. */
  readonly times?: number
  /** Reads each answer until it holds this text, then leaves. Default: to its end. */
  readonly until?: string
}

/** What is asked of the thread. */
export type Asked = { readonly id: number } & (
  | { readonly serve: Readonly<Record<string, Script>> }
  | { readonly send: Requests }
)
/** What it replies. */
export type Told = { readonly id: number } & ({ readonly value: unknown } | { readonly error: string })

/** The thread. */
export interface Outside {
  /** Starts a server; a path that no script names gets the one of `*`. Returns its address. */
  serve(scripts: Readonly<Record<string, Script>>): Promise<string>
  /** Sends requests and reads their answers. Throws if one has another status. */
  send(requests: Requests): Promise<void>
  close(): Promise<unknown>
}

/** Prepares a thread, which starts with the first request to it. */
export function openOutside(): Outside {
  let worker: Worker | null = null
  let last = 0
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  const started = (): Worker => {
    const thread = new Worker(new URL('outside-thread.ts', import.meta.url))
    thread.on('message', (told: Told) => {
      const one = waiting.get(told.id)
      waiting.delete(told.id)
      if ('error' in told) one?.reject(new Error(told.error))
      else one?.resolve(told.value)
    })
    thread.on('error', (error) => {
      for (const one of waiting.values()) one.reject(error)
    })
    return thread
  }
  const ask = <Result>(asked: { readonly serve: Readonly<Record<string, Script>> } | { readonly send: Requests }) => {
    worker ??= started()
    last += 1
    const one = Promise.withResolvers<unknown>()
    waiting.set(last, one)
    worker.postMessage({ id: last, ...asked } satisfies Asked)
    return one.promise as Promise<Result>
  }
  return {
    serve: (scripts) => ask<string>({ serve: scripts }),
    send: (requests) => ask<void>({ send: requests }),
    close: async () => worker?.terminate(),
  }
}
