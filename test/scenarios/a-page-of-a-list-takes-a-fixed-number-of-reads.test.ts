/** Lists over many conversations: what a page reads of the store does not grow with its rows. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore, type Store, type Witan } from '@witan/core'
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

test('a page of any other list takes at most eight reads too', async () => {
  const counter = counting(memoryStore())
  let asked = 0
  const model = scriptedModel((request) => {
    const mayAsk =
      asked < many && request.tools.some(({ name }) => name === 'clerk') && toolResults(request).length === 0
    if (mayAsk) asked += 1
    return mayAsk ? call('clerk', { message: 'Do it.' }) : 'Done.'
  })
  const agents = [
    {
      id: 'boss',
      model: 'play/model',
      instructions: 'Ask.',
      subAgents: [{ agent: 'clerk', blocking: 'never' as const }],
    },
    { id: 'clerk', model: 'play/model', instructions: 'Do it.' },
    ...Array.from({ length: many }, (_, index) => ({ id: `a-${index}`, model: 'play/model', instructions: 'Wait.' })),
  ]
  const runtime = createRuntime({ store: counter.store, models: { 'play/model': model }, agents })
  await runtime.ready
  const anna = runtime.as({ database: 'default' as DatabaseId, id: 'anna', roles: ['run', 'answer'], address: null })
  for (let index = 0; index < many; index += 1) {
    await (await anna.start({ agent: 'boss', id: `chats/${index}`, prompt: 'Go.' })).run?.result
    const opened = index === 0 ? await anna.start({ agent: 'a-0', id: 'chats/runs', prompt: 'Go.' }) : null
    await (opened?.run ?? (await anna.run('chats/runs', { prompt: 'Again.' }))).result
  }
  const key = { id: 'user:anna', roles: ['run' as const] }
  for (let index = 0; index < many; index += 1) await runtime.keys.create({ ...key, name: `k${index}` })
  const page = { limit: 200 }
  const lists = {
    tasks: (witan: Witan) => witan.tasks.list(page),
    'live tasks': (witan: Witan) => witan.tasks.list({ ...page, live: false }),
    'runs of a conversation': (witan: Witan) => witan.listRuns('chats/runs', page),
    participants: (witan: Witan) => witan.listParticipants('chats/0', page),
  }
  const ofAdmins = {
    agents: () => runtime.agents.list(page),
    protocols: () => runtime.protocols.list(page),
    keys: () => runtime.keys.list(page),
  }
  for (const [who, witan] of Object.entries({ anna, admin: runtime }))
    for (const [name, list] of Object.entries({ ...lists, ...(who === 'anna' ? {} : ofAdmins) })) {
      counter.reset()
      const { items } = await list(witan)
      if (name !== 'participants' && name !== 'protocols')
        assert.ok(items.length >= many / 2, `${name} has ${items.length}`)
      assert.ok(counter.count() <= 8, `${who}: a page of ${name} made ${counter.count()} calls`)
    }
  await runtime.close()
})
