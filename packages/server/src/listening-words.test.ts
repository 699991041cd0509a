/** What a server logs when it can no longer listen to the other processes of its store, and when it can again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore, type Store } from '@witan/core'
import { WitanError } from '@witan/protocol'
import { loadConfig } from './config.ts'
import type { Log } from './log.ts'
import { runtimeOptions } from './open-runtime.ts'

test('a lost listener is a warning in plain words, without a stack, once, and once more when it is well', async () => {
  const lines: unknown[][] = []
  const log: Log = (...line) => lines.push(line)
  const config = await loadConfig({ cwd: import.meta.dirname, env: { WITAN_STORE_URL: 'memory:' } })
  const memory = memoryStore()
  const listeners: Parameters<Store['listen']>[0][] = []
  const listen: Store['listen'] = (listener) => {
    listeners.push(listener)
    return memory.listen(listener)
  }
  const runtime = createRuntime({ ...runtimeOptions(config, log), store: { ...memory, listen } })
  await runtime.ready
  lines.length = 0
  const problem = new WitanError('STORE_UNAVAILABLE', 'This process cannot listen.', { hint: 'Look at the limits.' })
  for (const listener of listeners) listener.listening(problem)
  await assert.rejects(runtime.health(), { code: 'STORE_UNAVAILABLE' })
  for (const listener of listeners) listener.listening(null)
  await runtime.health()
  assert.deepEqual(lines, [
    ['warn', 'This process cannot listen.', { hint: 'Look at the limits.' }],
    ['info', 'notifications of other processes arrive again'],
  ])
  await runtime.close()
})
