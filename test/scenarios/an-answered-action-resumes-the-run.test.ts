/** Actions: requests that the client answers, under a path, once; the run waits in the store and not in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, lastUserMessage } from '@witan/core/testing'
import { assertAlternates, assertSound, assertUsage } from '../support/claims.ts'
import { actionsIn, createStage } from '../support/stage.ts'

const rename = {
  name: 'Rename',
  description: 'Changes the name.',
  parametersSchema: {
    type: 'object',
    properties: { name: { type: 'string' } },
    required: ['name'],
    additionalProperties: false,
  },
}

function acting() {
  return createStage({
    agents: [
      { id: 'root', actions: [rename], subAgents: [{ agent: 'mid' }] },
      { id: 'mid', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', actions: [rename] },
    ],
    plays: {
      root: (request, turn) =>
        turn === 0 && lastUserMessage(request) === 'rename'
          ? {
              toolCalls: [
                { name: 'Rename', arguments: { name: 'Root' } },
                { name: 'mid', arguments: { message: 'rename below' } },
              ],
            }
          : 'both done',
      mid: [call('leaf', { message: 'rename here' }), 'below done'],
      leaf: [call('Rename', { name: 'Leaf' }), 'here done'],
    },
  })
}

test('[R25] [R26] [R27] [R29] [Rb26] actions of every level wait at the root, each under its path', async () => {
  const stage = acting()
  const result = await stage.ask('root', 'rename', { id: 'chats/1' })
  assert.equal(result.status, 'waiting')
  assert.equal(result.finishReason, 'waiting')
  assert.deepEqual(
    actionsIn(result.interruptions).map(({ path, agent, name, arguments: args }) => ({ path, agent, name, args })),
    [
      { path: 'Rename', agent: 'root', name: 'Rename', args: { name: 'Root' } },
      { path: 'mid/leaf/Rename', agent: 'leaf', name: 'Rename', args: { name: 'Leaf' } },
    ],
  )
  const conversation = await stage.runtime.getConversation('chats/1')
  assert.equal(conversation.status, 'waiting')
  assert.equal(conversation.interruptions.length, 2)
  assert.equal((await stage.document('chats/1/mid/leaf')).openCalls[0]?.path, 'mid/leaf/Rename')
})

test('[R28] answers in any order resume the run, and no sibling runs twice', async () => {
  const stage = acting()
  const first = await stage.ask('root', 'rename', { id: 'chats/1' })
  const [root, leaf] = first.interruptions.map(({ id }) => id)
  const second = await stage.run('chats/1', { actionResponses: [{ id: leaf, response: { done: true } }] })
  assert.equal(second.status, 'waiting')
  assert.deepEqual(
    second.interruptions.map(({ id }) => id),
    [root],
  )
  const third = await stage.run('chats/1', { actionResponses: [{ id: root, response: 'renamed' }] })
  assert.equal(third.status, 'completed')
  assert.equal(third.text, 'both done')
  assert.equal(stage.requests.length, 6)
  assert.equal(stage.seenBy('leaf')[1]?.messages.at(-1)?.content, '{"done":true}')
  assert.deepEqual(
    stage
      .seenBy('root')[1]
      ?.messages.slice(-2)
      .map(({ content }) => content),
    ['renamed', 'below done'],
  )
  const events = await stage.events('chats/1')
  assertSound(events)
  assertUsage(third, events)
  for (const request of stage.requests) assertAlternates(request)
})

test('[F34] a terse reader hears of actions of every level and their answers', async () => {
  const stage = acting()
  const { interruptions } = await stage.ask('root', 'rename', { id: 'chats/1' })
  for (const { id } of interruptions) await stage.runtime.answerInterruption(id, { answer: 'ok' })
  const terse = await stage.events('chats/1', { verbose: false })
  const told = terse.filter(({ type }) => type === 'action_required' || type === 'resolved')
  assert.deepEqual(
    told.map(({ type, agentPath }) => `${type} ${agentPath}`),
    ['action_required root', 'action_required root/mid/leaf', 'resolved root', 'resolved root/mid/leaf'],
  )
})

test('[I8] [E58] [D11] an answer counts once: the same again is accepted, another is refused', async () => {
  const stage = acting()
  const { interruptions, runId } = await stage.ask('root', 'rename', { id: 'chats/1' })
  const id = interruptions[0]?.id ?? ''
  await stage.runtime.answerInterruption(id, { answer: 'first' })
  const again = await stage.runtime.answerInterruption(id, { answer: 'first' })
  assert.equal(again.state, 'answered')
  await assert.rejects(stage.runtime.answerInterruption(id, { answer: 'second' }), { code: 'ALREADY_ANSWERED' })
  await assert.rejects(stage.runtime.answerInterruption(id, { error: 'first' }), { code: 'ALREADY_ANSWERED' })
  await stage.run('chats/1', { actionResponses: [{ id: interruptions[1]?.id, response: 1 }] })
  const events = await stage.events('chats/1')
  assert.equal(events.filter(({ type, content }) => type === 'resolved' && content['id'] === id).length, 1)
  assert.equal(stage.seenBy('root')[1]?.messages.at(-2)?.content, 'first')
  const late = await stage.run('chats/1', { actionResponses: [{ id, response: 'first' }] })
  assert.equal(late.runId, runId)
  assert.equal(late.status, 'completed')
})

test('[E58] one request answers each action once: the same twice counts once, two answers are refused and store none', async () => {
  const stage = acting()
  const { interruptions } = await stage.ask('root', 'rename', { id: 'chats/1' })
  const [one, other] = interruptions.map(({ id }) => id)
  const first = { id: one, response: 'first' }
  const torn = { actionResponses: [first, { id: other, response: 2 }, { id: one, response: 'second' }] }
  await assert.rejects(stage.run('chats/1', torn), { code: 'ALREADY_ANSWERED', message: /twice in one request/ })
  assert.deepEqual(
    (await stage.runtime.getConversation('chats/1')).interruptions.map(({ id }) => id),
    [one, other],
  )
  const done = await stage.run('chats/1', { actionResponses: [first, { id: other, response: 2 }, first] })
  assert.equal(done.status, 'completed')
  assert.equal(stage.seenBy('root')[1]?.messages.at(-2)?.content, 'first')
})

test('[I8] of two answers at the same moment one wins', async () => {
  for (let round = 0; round < 20; round += 1) {
    const stage = acting()
    const { interruptions } = await stage.ask('root', 'rename', { id: 'chats/1' })
    const id = interruptions[1]?.id ?? ''
    const tried = await Promise.allSettled(
      ['a', 'b', 'c'].map((answer) => stage.runtime.answerInterruption(id, { answer })),
    )
    const won = tried.flatMap((one, index) => (one.status === 'fulfilled' ? ['a', 'b', 'c'][index] : []))
    assert.equal(won.length, 1)
    for (const one of tried)
      if (one.status === 'rejected') assert.equal(one.reason.code, 'ALREADY_ANSWERED', String(one.reason))
    const done = await stage.run('chats/1', {
      actionResponses: [{ id: interruptions[0]?.id, response: 'r' }],
    })
    assert.equal(done.status, 'completed')
    assert.equal(stage.seenBy('leaf')[1]?.messages.at(-1)?.content, won[0])
  }
})

test('[Rb31] an unknown id, and one of another conversation, give the same refusal', async () => {
  const stage = acting()
  const { interruptions } = await stage.ask('root', 'rename', { id: 'chats/1' })
  await stage.ask('root', 'rename', { id: 'chats/2' })
  for (const id of ['i_none', interruptions[0]?.id]) {
    await assert.rejects(stage.run('chats/2', { actionResponses: [{ id, response: 1 }] }), {
      code: 'ACTION_NOT_FOUND',
    })
  }
})

test('[Rb29] a prompt and responses together, or neither, are refused', async () => {
  const stage = acting()
  const { interruptions } = await stage.ask('root', 'rename', { id: 'chats/1' })
  const actionResponses = [{ id: interruptions[0]?.id, response: 1 }]
  await assert.rejects(stage.run('chats/1', { prompt: 'x', actionResponses }), { code: 'RUN_INPUT_INVALID' })
  await assert.rejects(stage.run('chats/1', {}), { code: 'RUN_INPUT_INVALID' })
})

test('[Rb28] [Rb30] a prompt while actions wait is refused, unless it closes them', async () => {
  const stage = acting()
  const waiting = await stage.ask('root', 'rename', { id: 'chats/1' })
  const asked = stage.requests.length
  await assert.rejects(stage.run('chats/1', { prompt: 'never mind' }), { code: 'ACTIONS_PENDING' })
  assert.equal(stage.requests.length, asked)
  const result = await stage.run('chats/1', { prompt: 'never mind', cancelPendingActions: true })
  assert.equal(result.status, 'completed')
  // Those of every level, in the same words; the run goes on, and nobody can answer them any more.
  const closed = '{"error":"cancelled by the user"}'
  assert.equal(stage.seenBy('leaf')[1]?.messages.at(-1)?.content, closed)
  const last = stage.seenBy('root').at(-1)?.messages ?? []
  assert.deepEqual(
    last.slice(-4).map(({ role, content }) => [role, content]),
    [
      ['tool', closed],
      ['tool', 'below done'],
      ['assistant', 'Noted.'],
      ['user', 'never mind'],
    ],
  )
  assert.equal(result.runId, waiting.runId)
  for (const { id } of waiting.interruptions) {
    await assert.rejects(stage.runtime.answerInterruption(id, { answer: 'late' }), { code: 'RUN_FINISHED' })
  }
  const states = (await stage.runtime.listInterruptions({ state: 'cancelled' })).items.map(({ path }) => path)
  assert.deepEqual(states.sort(), ['Rename', 'mid/leaf/Rename'])
  assertSound(await stage.events('chats/1'))
  for (const request of stage.requests) assertAlternates(request)
})

test('[R28] [Rb46] [Rb47] [Rb48] a chat answers through its handlers, and waits for what nobody handles', async () => {
  const stage = acting()
  const chat = stage.runtime.conversation('root').handle('Rename', () => {
    throw new Error('no rights')
  })
  assert.throws(() => chat.handle('Rename', () => 1), { code: 'NAME_TAKEN' })
  const waiting = await chat.run('rename')
  assert.equal(waiting.status, 'waiting')
  assert.deepEqual(
    waiting.interruptions.map(({ path }) => path),
    ['mid/leaf/Rename'],
  )
  const done = await stage.run(chat.id, { actionResponses: [{ id: waiting.interruptions[0]?.id, response: 1 }] })
  assert.equal(done.status, 'completed')
  assert.equal(stage.seenBy('root')[1]?.messages.at(-2)?.content, '{"error":"no rights"}')
})

test('[C14] a waiting action does not block its siblings', async () => {
  const stage = acting()
  await stage.ask('root', 'rename', { id: 'chats/1' })
  assert.equal(stage.seenBy('leaf').length, 1)
})
