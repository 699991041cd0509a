/** A prompt while a run is live: it joins at the next step, is refused, or ends the run first. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, lastUserMessage } from '@witan/core/testing'
import { assertAlternates, assertSound } from '../support/claims.ts'
import { createGate, createStage, settle } from '../support/stage.ts'

/** A run whose root waits for the gate in its first model call. */
async function thinking() {
  const gate = createGate()
  let first = true
  const stage = createStage({
    agents: [{ id: 'root' }],
    plays: {
      root: async (request) => {
        if (first) {
          first = false
          await gate.opened
        }
        return `answer to ${lastUserMessage(request)}`
      },
    },
  })
  const opened = await stage.runtime.start({ agent: 'root', prompt: 'one', id: 'chats/1' })
  await settle()
  return { stage, gate, runId: opened.run?.runId ?? '', result: opened.run?.result }
}

test('[D12] enqueue: the message joins the live run and is read at its next step', async () => {
  const { stage, gate, runId, result } = await thinking()
  const joined = await stage.runtime.run('chats/1', { prompt: 'two' })
  assert.equal(joined.runId, runId)
  gate.open()
  const told = await joined.result
  assert.equal(told.text, 'answer to two')
  assert.equal((await result)?.text, 'answer to two')
  assert.deepEqual(stage.requests[1]?.messages.slice(1), [
    { role: 'user', content: 'one' },
    { role: 'assistant', content: 'answer to one' },
    { role: 'user', content: 'two' },
  ])
  assertSound(await stage.events('chats/1'))
})

test('[D12] [E48] several messages that wait are read together, after the tool results', async () => {
  const gate = createGate()
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'leaf' }] }, { id: 'leaf' }],
    plays: {
      root: (request) => (request.messages.at(-1)?.content === 'one' ? call('leaf', { message: 'x' }) : 'done'),
      leaf: async () => {
        await gate.opened
        return 'result'
      },
    },
  })
  await stage.runtime.start({ agent: 'root', prompt: 'one', id: 'chats/1' })
  await settle()
  await stage.runtime.run('chats/1', { prompt: 'two' })
  const { result } = await stage.runtime.run('chats/1', { prompt: 'three' })
  gate.open()
  await result
  assert.deepEqual(
    stage
      .seenBy('root')[1]
      ?.messages.slice(3)
      .map(({ role, content }) => [role, content]),
    [
      ['tool', 'result'],
      ['assistant', 'Noted.'],
      ['user', 'two\n\nthree'],
    ],
  )
  for (const request of stage.requests) assertAlternates(request)
  assert.deepEqual(
    (await stage.document('chats/1')).messages.map(({ text }) => text).filter((text) => text !== ''),
    ['one', 'two', 'three', 'done'],
  )
})

test('[D12] reject: the message is refused and leaves no trace', async () => {
  const { stage, gate, result } = await thinking()
  await assert.rejects(stage.runtime.run('chats/1', { prompt: 'two', onActive: 'reject' }), { code: 'RUN_ACTIVE' })
  gate.open()
  assert.equal((await result)?.text, 'answer to one')
  assert.equal((await stage.document('chats/1')).messages.length, 2)
})

test('[D12] interrupt: the live run ends cancelled and the message starts another', async () => {
  const { stage, runId, result } = await thinking()
  const next = await stage.runtime.run('chats/1', { prompt: 'two', onActive: 'interrupt' })
  assert.notEqual(next.runId, runId)
  assert.equal((await result)?.status, 'cancelled')
  assert.equal((await next.result).status, 'completed')
  assert.equal(lastUserMessage(stage.requests[1] as (typeof stage.requests)[number]), 'one\n\ntwo')
  assertSound(await stage.events('chats/1'))
})

test('[Rb33] a message on the condition of a last seq is refused when the conversation moved on', async () => {
  const stage = createStage({ agents: [{ id: 'root' }], plays: { root: ['hi'] } })
  await stage.ask('root', 'one', { id: 'chats/1' })
  const { lastSeq } = await stage.runtime.getConversation('chats/1')
  for (const ifLastSeq of [lastSeq - 1, 0, lastSeq + 1])
    await assert.rejects(stage.run('chats/1', { prompt: 'two', ifLastSeq }), {
      code: 'REVISION_MISMATCH',
      path: 'ifLastSeq',
      message: `The last seq of conversation \`chats/1\` is ${lastSeq}, not ${ifLastSeq}.`,
    })
  assert.equal((await stage.run('chats/1', { prompt: 'two', ifLastSeq: lastSeq })).status, 'completed')
  assert.equal(stage.requests.length, 2)
})

test('[Rb33] of messages on the condition of one seq that come at once, one is taken', async () => {
  const stage = createStage({ agents: [{ id: 'root' }], plays: { root: () => 'hi' } })
  await stage.ask('root', 'one', { id: 'chats/1' })
  const { lastSeq } = await stage.runtime.getConversation('chats/1')
  const prompts = ['two', 'three', 'four']
  const said = await Promise.allSettled(prompts.map((prompt) => stage.run('chats/1', { prompt, ifLastSeq: lastSeq })))
  assert.deepEqual(
    said.map((one) => (one.status === 'fulfilled' ? one.value.status : one.reason.code)),
    ['completed', 'REVISION_MISMATCH', 'REVISION_MISMATCH'],
  )
  const messages = (await stage.events('chats/1')).filter(({ type }) => type === 'message')
  assert.deepEqual(
    messages.map(({ content }) => content['text']),
    ['one', 'two'],
  )
})

test('[Rb33] [D12] an interrupt on the condition of a last seq ends the run and is said, or does neither', async () => {
  const { stage, gate, runId, result } = await thinking()
  const { lastSeq } = await stage.runtime.getConversation('chats/1')
  const interrupting = (ifLastSeq: number) =>
    stage.runtime.run('chats/1', { prompt: 'two', onActive: 'interrupt', ifLastSeq })
  await assert.rejects(interrupting(lastSeq - 1), { code: 'REVISION_MISMATCH' })
  assert.equal((await stage.runtime.getConversation('chats/1')).activeRunId, runId)
  const next = await interrupting(lastSeq)
  assert.notEqual(next.runId, runId)
  assert.equal((await result)?.status, 'cancelled')
  assert.equal((await next.result).text, 'answer to one\n\ntwo')
  gate.open()
})

test('[Rb33] responses on the condition of a last seq are refused when the conversation moved on', async () => {
  const stage = createStage({
    agents: [{ id: 'root', actions: [{ name: 'Ask' }] }],
    plays: { root: [call('Ask'), 'done'] },
  })
  const { interruptions } = await stage.ask('root', 'one', { id: 'chats/1' })
  const { lastSeq } = await stage.runtime.getConversation('chats/1')
  const actionResponses = [{ id: interruptions[0]?.id, response: 'ok' }]
  const stale = stage.run('chats/1', { actionResponses, ifLastSeq: lastSeq - 1 })
  await assert.rejects(stale, {
    code: 'REVISION_MISMATCH',
    message: new RegExp(`is ${lastSeq}, not ${lastSeq - 1}\\.`),
  })
  assert.equal((await stage.runtime.getConversation('chats/1')).interruptions[0]?.state, 'open')
  assert.equal((await stage.run('chats/1', { actionResponses, ifLastSeq: lastSeq })).text, 'done')
})

test('[I1] [I2] messages that arrive at any moment are each answered and stored once', async () => {
  for (let pause = 0; pause < 12; pause += 1) {
    const stage = createStage({
      agents: [{ id: 'root', subAgents: [{ agent: 'leaf' }] }, { id: 'leaf' }],
      plays: {
        root: (request, turn) =>
          turn === 0 && lastUserMessage(request).startsWith('one') ? call('leaf', { message: 'x' }) : 'done',
        leaf: ['result'],
      },
    })
    const opened = await stage.runtime.start({ agent: 'root', prompt: 'one', id: 'chats/1' })
    for (let tick = 0; tick < pause * 3; tick += 1) await Promise.resolve()
    const second = await stage.runtime.run('chats/1', { prompt: 'two' })
    await second.result
    await opened.run?.result
    const events = await stage.events('chats/1')
    assertSound(events)
    const said = events.filter(({ type }) => type === 'message').map(({ content }) => content['text'])
    assert.deepEqual(said, ['one', 'two'])
    const read = stage.seenBy('root').at(-1)?.messages ?? []
    assert.equal(read.filter(({ role, content }) => role === 'user' && content.includes('two')).length, 1)
    for (const request of stage.requests) assertAlternates(request)
  }
})
