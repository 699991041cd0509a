/** What only the store in memory promises: several stores on the same tables, and several runtimes on one store. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWitanError } from '@witan/protocol'
import { begin, by, database, entry, idleListener, start } from '../../testing/conformance/store-fixtures.ts'
import type { StoreListener } from '../listener.ts'
import type { Store } from '../store.ts'
import { memoryStore } from './memory.ts'

function listener(heard: string[]): StoreListener {
  return {
    ...idleListener,
    appended: ({ conversation, lastSeq }) => heard.push(`appended ${conversation} ${lastSeq}`),
    due: () => heard.push('due'),
    gone: ({ conversation }) => heard.push(`gone ${conversation}`),
    received: ({ conversation }, text) => heard.push(`said ${conversation} ${text}`),
  }
}

async function act(store: Store): Promise<void> {
  const job = await begin(store, { id: 'j1', in: 'chats/1' })
  await store.append({ ...by(job), entries: [] })
  await store.releaseJobs('w1')
  store.notify(database, 'chats/1', 'hello')
  await store.deleteConversation(database, 'chats/1')
}

const everything = ['appended chats/1 1', 'due', 'said chats/1 hello', 'gone chats/1']

test('the only listener of a store does not hear of what that store did', async () => {
  const store = memoryStore()
  const heard: string[] = []
  store.listen(listener(heard))
  await act(store)
  assert.deepEqual(heard, [])
})

test('runtimes that share one store hear of each other, and each of itself', async () => {
  const store = memoryStore()
  const heard: [string[], string[]] = [[], []]
  const ends = heard.map((one) => store.listen(listener(one)))
  await act(store)
  assert.deepEqual(heard, [everything, everything])
  ends[1]?.()
  await start(store, 'chats/2')
  assert.deepEqual(heard[0], everything)
})

test('a store beside another has its data and its clock, and hears of it', async () => {
  const first = memoryStore({ now: () => 42 })
  const second = memoryStore({ beside: first })
  const third = memoryStore({ beside: second })
  assert.equal(third.now(database), 42)
  const heard: [string[], string[], string[]] = [[], [], []]
  for (const [index, store] of [first, second, third].entries()) store.listen(listener(heard[index] ?? []))
  await act(second)
  assert.deepEqual(heard, [everything, [], everything])
  await start(third, 'chats/3')
  assert.equal((await first.getConversation(database, 'chats/3'))?.lastSeq, 1)
})

test('what stores beside each other keep is there until the last of them is closed', async () => {
  const first = memoryStore()
  const second = memoryStore({ beside: first })
  await start(first, 'chats/1')
  await first.close()
  assert.equal((await second.getConversation(database, 'chats/1'))?.lastSeq, 1)
  await second.close()
  await second.open()
  assert.equal(await second.getConversation(database, 'chats/1'), null)
})

test('a listener that is called may append, and a closed store calls nobody', async () => {
  const first = memoryStore()
  const second = memoryStore({ beside: first })
  const heard: string[] = []
  const { append } = second
  second.listen({
    ...listener(heard),
    appended: ({ conversation, lastSeq }) => {
      heard.push(`${lastSeq}`)
      if (lastSeq < 3) void append({ database, conversation, entries: [entry('more')] })
    },
  })
  await start(first, 'chats/1')
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve()
  assert.deepEqual(heard, ['1'])
  assert.equal((await first.getConversation(database, 'chats/1'))?.lastSeq, 2)
  await second.close()
  await start(first, 'chats/2')
  assert.deepEqual(heard, ['1'])
})

test('a store beside what is none in memory is refused', () => {
  const first = memoryStore()
  assert.throws(
    () => memoryStore({ beside: { ...first } }),
    (error) => isWitanError(error) && error.code === 'CONFIG_INVALID',
  )
})
