/** Several processes that start together with the same code agents: all start, and the agents are there. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { agent } from '../support/stage.ts'

test('[F10] runtimes that start at once on one store with the same agents all start', async () => {
  const store = memoryStore()
  const models = { 'play/model': scriptedModel(() => 'ok') }
  const make = (words: string) =>
    createRuntime({ store, models, agents: [{ ...agent('root'), instructions: words }, agent('leaf')] })
  const runtimes = ['one', 'two', 'three'].map(make)
  await Promise.all(runtimes.map(({ ready }) => ready))
  const saved = await runtimes[0]?.agents.get('root')
  assert.ok((saved?.revision ?? 0) >= 1)
  for (const runtime of runtimes) await runtime.close()
})
