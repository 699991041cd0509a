/** Agents that an earlier version stored lack the keys that have come since; they get the defaults when they are read. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import type { AgentData } from '@witan/protocol'

test('[C8] an agent stored before a key existed runs with the default of that key', async () => {
  const store = memoryStore()
  const data = { id: 'old', model: 'play/model', instructions: 'You are old.' } as unknown as AgentData
  const row = {
    database: 'default',
    id: 'old',
    revision: 1,
    source: 'data' as const,
    data,
    warnings: [],
    changed: null,
  }
  await store.changeAgents('default', [{ id: 'old', ifRevision: 0, row }])
  const runtime = createRuntime({ store, models: { 'play/model': scriptedModel(() => 'still here') } })
  const result = await runtime.conversation('old').run('hello')
  assert.equal(result.text, 'still here')
  assert.deepEqual((await runtime.agents.get('old')).subAgents, [])
  await runtime.close()
})
