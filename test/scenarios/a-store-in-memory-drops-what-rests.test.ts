/** A store in memory drops conversations that rest: they are then not found, like those whose time is over, and nothing of them is left. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '@witan/core'
import { call } from '@witan/core/testing'
import { fakeClock } from '../support/clock.ts'
import { createStage, settle } from '../support/stage.ts'

const leaseMs = 15_000
const notFound = { code: 'NOT_FOUND' }

function stageOf(limits: Parameters<typeof memoryStore>[0]) {
  const clock = fakeClock()
  const store = memoryStore({ now: clock.now, ...limits })
  const stage = createStage({
    agents: [
      {
        id: 'root',
        actions: [{ name: 'Sign' }],
        subAgents: [{ agent: 'leaf' }, { agent: 'helper', blocking: 'never' }],
      },
      { id: 'leaf' },
      { id: 'helper' },
    ],
    plays: {
      root: (request, turn) => {
        const last = request.messages.findLast(({ role }) => role === 'user')?.content
        if (turn > 0) return 'done'
        return last === 'sign' ? call('Sign') : call(last === 'help' ? 'helper' : 'leaf', { message: 'look' })
      },
      leaf: () => 'seen',
      helper: () => 'helped',
    },
    options: { clock, store, leaseMs },
  })
  return { clock, store, ...stage }
}

test('[Rb35] a dropped conversation is not found with its runs, tasks, documents, events and interruptions, and takes no run', async () => {
  const { runtime, ask, run, document, events } = stageOf({ maxResting: 1 })
  const signed = await ask('root', 'sign', { id: 'chats/1' })
  const [open] = signed.interruptions
  await run('chats/1', { actionResponses: [{ id: open?.id, response: 'yes' }] })
  const { tasks } = await run('chats/1', { prompt: 'help' })
  await settle()
  const wholeLog = await events('chats/1')
  assert.equal((await runtime.tasks.list()).items.length, 1)
  await ask('root', 'look', { id: 'chats/2' })
  const refused = [
    () => runtime.getConversation('chats/1'),
    () => document('chats/1'),
    () => document('chats/1/leaf'),
    () => runtime.readEvents('chats/1'),
    () => runtime.getRun(signed.runId),
    () => runtime.followRun(signed.runId),
    () => runtime.tasks.get(tasks[0]?.taskId ?? ''),
    () => runtime.answerInterruption(open?.id ?? '', { answer: 'yes' }),
    () => runtime.run('chats/1', { prompt: 'again' }),
    () => runtime.deleteConversation('chats/1'),
  ]
  for (const one of refused) await assert.rejects(one(), notFound, String(one))
  assert.deepEqual((await runtime.tasks.list()).items, [])
  const again = await ask('root', 'look', { id: 'chats/1' })
  assert.equal(again.status, 'completed')
  const now = await events('chats/1')
  assert.ok(now.length < wholeLog.length && now[0]?.seq === 1, 'the id begins anew')
})

test('the event stream of a dropped conversation ends', async () => {
  const { runtime, ask } = stageOf({ maxResting: 1 })
  await ask('root', 'look', { id: 'chats/1' })
  const stopped = new AbortController()
  const ended = (async () => {
    let last = ''
    for await (const { type } of runtime.followEvents('chats/1', { signal: stopped.signal })) last = type
    return last
  })()
  await settle()
  await ask('root', 'look', { id: 'chats/2' })
  assert.equal(await ended, 'end')
})

test('what is warm of a dropped conversation is forgotten: its id begins with an empty history', async () => {
  const { ask, seenBy } = stageOf({ maxResting: 1 })
  await ask('root', 'look', { id: 'chats/1' })
  await ask('root', 'look', { id: 'chats/2' })
  await ask('root', 'look', { id: 'chats/1' })
  assert.deepEqual(
    seenBy('root')
      .at(-2)
      ?.messages.map(({ role }) => role),
    ['system', 'user'],
  )
})

test('a conversation that rests too long goes in a round of the worker, also where nothing is written', async () => {
  const { runtime, ask, clock } = stageOf({ maxRestingMs: 60_000 })
  await ask('root', 'look', { id: 'chats/1' })
  clock.advance(60_000)
  await settle()
  assert.equal((await runtime.getConversation('chats/1')).status, 'idle')
  clock.advance(leaseMs)
  await settle()
  await assert.rejects(runtime.getConversation('chats/1'), notFound)
})

test('a conversation that waits is not dropped, however many come after it', async () => {
  const { runtime, ask, run } = stageOf({ maxResting: 1, maxRestingMs: 60_000 })
  const { interruptions } = await ask('root', 'sign', { id: 'chats/waits' })
  for (let index = 0; index < 5; index += 1) await ask('root', 'look', { id: `chats/${index}` })
  assert.equal((await runtime.getConversation('chats/waits')).status, 'waiting')
  const actionResponses = [{ id: interruptions[0]?.id, response: 'yes' }]
  assert.equal((await run('chats/waits', { actionResponses })).status, 'completed')
})

test('after many runs a process holds no more conversations than its store keeps', async () => {
  const { runtime, ask, store } = stageOf({ maxResting: 20 })
  const ids = Array.from({ length: 300 }, (_, index) => `chats/${index}`)
  for (const id of ids) await ask('root', 'look', { id })
  const logs = await Promise.all(ids.map((id) => store.readEntries('default', id, { after: 0, limit: 1000 })))
  assert.equal(logs.filter(({ length }) => length > 0).length, 20)
  assert.equal((await runtime.listConversations({ limit: 200 })).items.length, 20)
})
