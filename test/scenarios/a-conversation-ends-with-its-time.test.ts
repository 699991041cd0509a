/** Expiry: a conversation with all its documents goes when its time is over, and never in the middle of something. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '@witan/core'
import { call } from '@witan/core/testing'
import { fakeClock } from '../support/clock.ts'
import { allEvents, createStage, settle } from '../support/stage.ts'

const leaseMs = 15_000

function stageOf() {
  const clock = fakeClock()
  /** How far the store's clock is ahead: time that passes without a round. */
  const ahead = { ms: 0 }
  const store = memoryStore({ now: () => clock.now() + ahead.ms })
  const stage = createStage({
    agents: [{ id: 'root', actions: [{ name: 'Sign' }], subAgents: [{ agent: 'leaf' }] }, { id: 'leaf' }],
    plays: {
      root: (request, turn) => {
        const last = request.messages.findLast(({ role }) => role === 'user')?.content
        if (turn > 0) return 'done'
        return last === 'sign' ? call('Sign') : call('leaf', { message: 'look' })
      },
      leaf: () => 'seen',
    },
    options: { clock, store, leaseMs },
  })
  return { clock, ahead, store, ...stage }
}

const notFound = { code: 'NOT_FOUND' }

test('[Rb35] a conversation and all its documents show when their time is over, and new messages move nothing', async () => {
  const { clock, runtime, ask, run, document } = stageOf()
  await ask('root', 'look', { id: 'chats/1', expiresInSeconds: 60 })
  const expiresAt = new Date(clock.now() + 60_000).toISOString()
  clock.advance(30_000)
  await run('chats/1', { prompt: 'again' })
  assert.equal((await runtime.getConversation('chats/1')).expiresAt, expiresAt)
  assert.equal((await document('chats/1')).expiresAt, expiresAt)
  assert.equal((await document('chats/1/leaf')).expiresAt, expiresAt)
  assert.equal((await runtime.listConversations()).items[0]?.expiresAt, expiresAt)
  await runtime.start({ agent: 'root', id: 'chats/2' })
  assert.equal((await runtime.getConversation('chats/2')).expiresAt, null)
})

test('[Rb35] the time of a conversation is counted by the store’s clock, however wrong that of its process is', async () => {
  const { clock, ahead, runtime, ask } = stageOf()
  ahead.ms = 3_600_000
  await ask('root', 'look', { id: 'chats/1', expiresInSeconds: 60 })
  const { expiresAt } = await runtime.getConversation('chats/1')
  assert.equal(expiresAt, new Date(clock.now() + ahead.ms + 60_000).toISOString())
})

test('[Rb35] what has expired is not found and takes no run, also before it is swept', async () => {
  const { ahead, runtime, ask, document, store } = stageOf()
  const { runId } = await ask('root', 'look', { id: 'chats/1', expiresInSeconds: 60 })
  await ask('root', 'look', { id: 'chats/2', expiresInSeconds: 1000 })
  ahead.ms = 60_000
  assert.equal((await store.readEntries('default', 'chats/1', { after: 0, limit: 1 })).length, 1)
  const refused = [
    () => runtime.getConversation('chats/1'),
    () => document('chats/1'),
    () => document('chats/1/leaf'),
    () => runtime.readEvents('chats/1'),
    () => runtime.getRun(runId),
    () => runtime.run('chats/1', { prompt: 'again' }),
    () => runtime.deleteConversation('chats/1'),
  ]
  for (const one of refused) await assert.rejects(one(), notFound, String(one))
  assert.deepEqual(
    (await runtime.listConversations()).items.map(({ id }) => id),
    ['chats/2'],
  )
})

test('[Rb35] [E79] the worker sweeps the whole tree in its round, and the id is free again', async () => {
  const { clock, runtime, ask, store, requests } = stageOf()
  await ask('root', 'look', { id: 'chats/1', expiresInSeconds: 60 })
  const stopped = new AbortController()
  const ended = (async () => {
    let last = ''
    for await (const { type } of runtime.followEvents('chats/1', { signal: stopped.signal })) last = type
    return last
  })()
  await settle()
  clock.advance(61_000)
  assert.equal(await ended, 'end', 'a reader hears of the end')
  assert.deepEqual(await store.readEntries('default', 'chats/1', { after: 0, limit: 1 }), [])
  assert.deepEqual(await store.listJobs('default', 'chats/1'), [])
  await ask('root', 'look', { id: 'chats/1' })
  assert.deepEqual(
    requests.at(-2)?.messages.map(({ role }) => role),
    ['system', 'user'],
    'nothing is remembered',
  )
})

test('[E79] an open action keeps the conversation; it goes when the run is over', async () => {
  const { clock, runtime, ask, run } = stageOf()
  const { interruptions } = await ask('root', 'sign', { id: 'chats/1', expiresInSeconds: 60 })
  clock.advance(61_000)
  await settle()
  assert.equal((await runtime.getConversation('chats/1')).status, 'waiting')
  const actionResponses = [{ id: interruptions[0]?.id, response: 'yes' }]
  assert.equal((await run('chats/1', { actionResponses })).status, 'completed')
  await assert.rejects(runtime.getConversation('chats/1'), notFound)
  clock.advance(leaseMs)
  await settle()
  await assert.rejects(allEvents(runtime, 'chats/1'), notFound)
})

test('[Rb35] a time that is no time is refused', async () => {
  const { runtime } = stageOf()
  for (const expiresInSeconds of [0, -1, 1.5, '60']) {
    await assert.rejects(runtime.start({ agent: 'root', expiresInSeconds: expiresInSeconds as number }), {
      code: 'BODY_INVALID',
      path: 'expiresInSeconds',
    })
  }
})
