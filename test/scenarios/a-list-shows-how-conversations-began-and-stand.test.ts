/** The list of conversations: how each began, its latest run, and a search that looks at no log. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, type Store } from '@witan/core'
import { call } from '@witan/core/testing'
import { actionsIn, createStage } from '../support/stage.ts'

function deskStage(options: { readonly store?: Store } = {}) {
  return createStage({
    agents: [
      { id: 'desk', name: 'Front Desk', actions: [{ name: 'Send' }] },
      { id: 'kitchen', name: 'Große Küche' },
    ],
    plays: {
      desk: (request, turn) => {
        if (request.messages.at(-1)?.content === 'break') return new Error('the model broke')
        return turn === 0 && request.messages.at(-1)?.content === 'send' ? call('Send', {}) : 'done'
      },
      kitchen: ['soup'],
    },
    options,
  })
}

test('a line of the list tells the first words and the latest run', async () => {
  const stage = deskStage()
  await stage.runtime.start({ agent: 'desk', id: 'chats/empty' })
  await stage.ask('desk', 'hello', { id: 'chats/done' })
  const failed = await stage.ask('desk', 'break', { id: 'chats/failed' })
  const waiting = await stage.ask('desk', 'send', { id: 'chats/waiting' })
  const { items } = await stage.runtime.listConversations()
  const told = items.map(({ id, firstMessage, lastRun, status, activeRunId }) => [
    ...[id, firstMessage, lastRun?.status, status, activeRunId],
  ])
  assert.deepEqual(told, [
    ['chats/waiting', 'send', 'waiting', 'waiting', waiting.runId],
    ['chats/failed', 'break', 'failed', 'idle', null],
    ['chats/done', 'hello', 'completed', 'idle', null],
    ['chats/empty', null, undefined, 'idle', null],
  ])
  const { runs } = await stage.runtime.getConversation('chats/failed')
  assert.deepEqual(items[1]?.lastRun, runs[0])
  assert.equal(items[1]?.lastRun?.runId, failed.runId)
})

test('what waits names its conversation and the moment at which it was asked', async () => {
  const stage = deskStage()
  const result = await stage.ask('desk', 'send', { id: 'chats/1' })
  const [listed] = (await stage.runtime.listInterruptions({ state: 'open' })).items
  const [inResult] = actionsIn(result.interruptions)
  const [inConversation] = (await stage.runtime.getConversation('chats/1')).interruptions
  for (const one of [listed, inResult, inConversation]) {
    assert.equal(one?.conversationId, 'chats/1')
    assert.match(one?.createdAt ?? '', /^\d{4}-\d\d-\d\dT/)
  }
  const answered = await stage.runtime.answerInterruption(listed?.id ?? '', { answer: 'ok' })
  assert.equal(answered.conversationId, 'chats/1')
})

test('a search finds words of the first message, of the agent and of the id, in any order and case', async () => {
  const stage = deskStage()
  await stage.ask('desk', 'Who is my MANAGER in Zürich?', { id: 'chats/1' })
  await stage.ask('desk', 'holidays of my manager', { id: 'chats/2' })
  await stage.ask('kitchen', 'what is for lunch', { id: 'orders/3' })
  const found = async (search: string, more = {}) =>
    (await stage.runtime.listConversations({ search, ...more })).items.map(({ id }) => id)
  assert.deepEqual(await found('manager'), ['chats/2', 'chats/1'])
  assert.deepEqual(await found('ZÜRICH who'), ['chats/1'])
  assert.deepEqual(await found('Zu\u0308rich'), ['chats/1'])
  assert.deepEqual(await found('große'), ['orders/3'])
  assert.deepEqual(await found('front desk holidays'), ['chats/2'])
  assert.deepEqual(await found('orders/'), ['orders/3'])
  assert.deepEqual(await found('manager', { agent: 'kitchen' }), [])
  assert.deepEqual(await found(' '), ['orders/3', 'chats/2', 'chats/1'])
  for (const strange of ['%', '_', "' or 1=1 --", '.*', '\\', '\0', '\ud800'])
    assert.deepEqual(await found(strange), [])
})

test('a search goes on behind what it has looked at, and reads no entries of any log', async () => {
  const inner = memoryStore({ maxResting: 5000 })
  let reads = 0
  const store: Store = {
    ...inner,
    readEntries: (...at) => {
      reads += 1
      return inner.readEntries(...at)
    },
  }
  const stage = deskStage({ store })
  for (let index = 0; index < 2050; index += 1) await stage.runtime.start({ agent: 'desk', id: `chats/${index}` })
  const before = reads
  const all = async (limit: number, search: string) => {
    const pages: string[][] = []
    for (let cursor: string | null = null; ; ) {
      const page = await stage.runtime.listConversations({ limit, search, cursor })
      pages.push(page.items.map(({ id }) => id))
      cursor = page.nextCursor
      if (cursor === null) return pages
    }
  }
  assert.deepEqual(await all(10, 'chats/7'), await all(10, 'CHATS/7'))
  assert.equal((await all(10, 'chats/7')).flat().length, 111)
  assert.deepEqual(await all(10, 'chats/3 desk'), await all(10, 'desk chats/3'))
  const [first, second] = await all(10, 'nothing has this')
  assert.deepEqual([first, second], [[], []], 'the first page ends where the search has looked at 2,000')
  assert.equal(reads, before)
})
