/** Forks: the values, the documents and the end of the original, and a way of its own from there. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, lastUserMessage } from '@witan/core/testing'
import { assertSound } from '../support/claims.ts'
import { actionsIn, createGate, createStage, until } from '../support/stage.ts'

const userId = { name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' } as const

function stageOf(hold: Promise<void> = Promise.resolve()) {
  return createStage({
    agents: [
      { id: 'root', parameters: [{ name: 'country' }], subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', parameters: [userId], actions: [{ name: 'Sign', parametersSchema: { type: 'object' } }] },
    ],
    plays: {
      root: async (request, turn) => {
        const said = lastUserMessage(request)
        if (said === 'wait') await hold
        return turn === 0 && said !== 'wait' ? call('leaf', { message: said }) : 'done'
      },
      leaf: (request, turn) => (turn === 0 && lastUserMessage(request) === 'sign' ? call('Sign') : 'seen'),
    },
  })
}

const given = { parameters: { country: 'France', userId: 'employees/3' } }

test('[Rb55] [R23] a fork keeps the values and the end of its original; its delegates go on in their own documents', async () => {
  const { runtime, ask, run, document, events, seenBy } = stageOf()
  await ask('root', 'look', { id: 'chats/1', ...given, expiresInSeconds: 60 })
  const { lastSeq, expiresAt } = await runtime.getConversation('chats/1')
  const fork = await runtime.forkConversation('chats/1', { seq: lastSeq, id: 'forks/' })
  assert.match(fork.id, /^forks\/.+/)
  assert.deepEqual([fork.agent, fork.lastSeq, fork.expiresAt, fork.runs], ['root', lastSeq, expiresAt, []])
  assert.deepEqual((await document(fork.id)).parameters, { country: { value: 'France', sendToModel: true } })
  const { interruptions } = await run(fork.id, { prompt: 'sign' })
  assert.deepEqual(actionsIn(interruptions)[0]?.arguments, { userId: 'employees/3' })
  assert.deepEqual(
    seenBy('leaf')
      .at(-1)
      ?.messages.slice(1)
      .map(({ content }) => content),
    ['look', 'seen', 'sign'],
  )
  assert.equal((await document(`${fork.id}/leaf`)).messages.length, 4)
  assert.equal((await document('chats/1/leaf')).messages.length, 2)
  await run(fork.id, { actionResponses: [{ id: interruptions[0]?.id, response: 'ok' }] })
  assertSound(await events(fork.id))
  assert.equal((await runtime.getConversation('chats/1')).lastSeq, lastSeq)
  await runtime.deleteConversation('chats/1')
  assert.equal((await run(fork.id, { prompt: 'look' })).status, 'completed')
})

test('[Rb55] a live run is no hindrance to a fork before it, and the beginning is always legal', async () => {
  const gate = createGate()
  const { runtime, ask, run, requests } = stageOf(gate.opened)
  await ask('root', 'look', { id: 'chats/1', ...given })
  const { lastSeq } = await runtime.getConversation('chats/1')
  const live = run('chats/1', { prompt: 'wait' })
  await until(() => lastUserMessage(requests.at(-1) as (typeof requests)[number]) === 'wait')
  const fork = await runtime.forkConversation('chats/1', { seq: lastSeq })
  assert.equal((await run(fork.id, { prompt: 'look' })).status, 'completed')
  const empty = await runtime.forkConversation('chats/1', { seq: 0 })
  assert.deepEqual([empty.lastSeq, empty.status], [0, 'idle'])
  assert.equal((await run(empty.id, { prompt: 'look' })).text, 'done')
  gate.open()
  assert.equal((await live).status, 'completed')
})

test('[Rb55] an id that is taken, or none at all, is refused, and nothing is stored', async () => {
  const { runtime, ask } = stageOf()
  await ask('root', 'look', { id: 'chats/1', ...given })
  await assert.rejects(runtime.forkConversation('chats/1', { seq: 0, id: 'chats/1' }), {
    code: 'NAME_TAKEN',
    path: 'id',
  })
  await assert.rejects(runtime.forkConversation('chats/1', { seq: 0, id: 'no id' }), { code: 'ID_INVALID' })
  await assert.rejects(runtime.forkConversation('chats/1', { seq: -1 }), { code: 'BODY_INVALID', path: 'seq' })
  await assert.rejects(runtime.forkConversation('chats/2', { seq: 0 }), { code: 'NOT_FOUND' })
  assert.equal((await runtime.listConversations()).items.length, 1)
})
