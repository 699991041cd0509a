/**
 * Loaded before tests. The runner of node:test follows every promise, so that it can name the test of an error that nobody caught. That
 * costs tests made of promises a sixth to a quarter more CPU. With this module it follows only timers, sockets and the like. An error that
 * nobody caught still fails its file, without the name of a test. Threads that tests start load it too, and have no runner.
 */
import { type AsyncHook, createHook } from 'node:async_hooks'
import { createRequire } from 'node:module'
import { isMainThread } from 'node:worker_threads'

interface Internals {
  getHookArrays(): readonly [hooks: readonly AsyncHook[], ...rest: readonly unknown[]]
}

if (isMainThread) followNone()

function followNone(): void {
  const example = createHook({ init() {}, trackPromises: false } as Parameters<typeof createHook>[0])
  const followsNone = Object.getOwnPropertySymbols(example).find((symbol) => Reflect.get(example, symbol) === true)
  const { getHookArrays } = createRequire(import.meta.url)('internal/async_hooks') as Internals
  const [hooks] = getHookArrays()
  if (followsNone === undefined || hooks.length === 0)
    throw new Error('the hooks of this Node are others: see this file')
  for (const hook of [...hooks]) {
    hook.disable()
    Reflect.set(hook, followsNone, true)
    hook.enable()
  }
}
