/** Lists over many conversations: what a page reads of the store does not grow with its rows. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore, type Store } from '@witan/core'
import type { DatabaseId } from '@witan/protocol'
import { call, scriptedModel, toolResults } from '@witan/core/testing'

const many = 60

/** A store that counts its calls. */
function counting(store: Store): { store: Store; reset(): void; count(): number } {
  let calls = 0
  const counted = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function' || name === 'now') return value
      return (...given: unknown[]) => {
        calls += 1
        return (value as (...all: unknown[]) => unknown).apply(target, given)
      }
    },
  })
  return { store: counted, reset: () => (calls = 0), count: () => calls }
}

test('a page of interruptions or conversations takes at most eight reads, however many rows it has', async () => {
  const counter = counting(memoryStore())
  const model = scriptedModel((request) => toolResults(request)[0] ?? call('OpenGate'))
  const porter = {
    id: 'porter',
    model: 'play/model',
    instructions: 'Open the gate when asked.',
    actions: [{ name: 'OpenGate', description: 'Opens the gate.' }],
  }
  const runtime = createRuntime({ store: counter.store, models: { 'play/model': model }, agents: [porter] })
  await runtime.ready
  const anna = runtime.as({ database: 'default' as DatabaseId, id: 'anna', roles: ['run', 'answer'], address: null })
  for (let index = 0; index < many; index += 1) {
    const { run } = await anna.start({ agent: 'porter', id: `chats/${index}`, prompt: 'Let me in.' })
    await run?.result
  }
  for (const [who, witan] of Object.entries({ anna, admin: runtime })) {
    const lists = {
      interruptions: () => witan.listInterruptions({ limit: 200 }),
      conversations: () => witan.listConversations({ limit: 200 }),
    }
    for (const [name, list] of Object.entries(lists)) {
      counter.reset()
      const { items } = await list()
      assert.equal(items.length, many)
      assert.ok(counter.count() <= 8, `${who}: a page of ${name} made ${counter.count()} calls`)
    }
  }
  await runtime.close()
})
