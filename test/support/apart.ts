/**
 * Work in a process of its own: the runner of the tests follows every promise, which makes work that is made of promises several
 * times as dear.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** What is asked of the process: a function that a module exports, and what it gets, which must be plain data. */
export interface Errand {
  readonly id: number
  readonly module: string
  readonly name: string
  readonly given: readonly unknown[]
}

/** What came of it. */
export type Returned = { readonly id: number } & ({ readonly value: unknown } | { readonly error: string })

/** A process that does errands, many at once. */
export interface Apart {
  run<Result>(module: string, name: string, ...given: readonly unknown[]): Promise<Result>
  close(): void
}

/** Starts one. It ends with this process, however that ends. */
export function openApart(): Apart {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const child = fork(fileURLToPath(new URL('./apart-process.ts', import.meta.url)), {
    env,
    execArgv: ['--no-warnings', '--conditions=witan-source'],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let last = 0
  child.on('message', (returned: Returned) => {
    const one = waiting.get(returned.id)
    waiting.delete(returned.id)
    if ('error' in returned) one?.reject(new Error(returned.error))
    else one?.resolve(returned.value)
  })
  child.on('exit', (code, signal) => {
    for (const one of waiting.values()) one.reject(new Error(`the process ended with ${code ?? signal}`))
  })
  return {
    run<Result>(module: string, name: string, ...given: readonly unknown[]) {
      last += 1
      const one = Promise.withResolvers<unknown>()
      waiting.set(last, one)
      child.send({ id: last, module, name, given } satisfies Errand)
      return one.promise as Promise<Result>
    },
    close: () => void child.kill(),
  }
}
