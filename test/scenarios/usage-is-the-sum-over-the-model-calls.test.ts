/** What a run tells of its usage is what its model calls used: for every way in which a run or a part of it may end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call } from '@witan/core/testing'
import { assertUsage } from '../support/claims.ts'
import { createStage, settle } from '../support/stage.ts'

const used = (inputTokens: number, outputTokens: number) => ({
  inputTokens,
  outputTokens,
  cachedInputTokens: 1,
  reasoningTokens: 2,
})

test('[Rb56] parallel delegates, one of them called twice, count under their paths', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'a' }, { agent: 'b' }] },
      { id: 'a', subAgents: [{ agent: 'b' }] },
      { id: 'b' },
    ],
    plays: {
      root: [
        {
          toolCalls: ['a', 'b', 'b'].map((name, index) => ({ name, arguments: { message: `m${index}` } })),
          usage: used(10, 1),
        },
        { text: 'done', usage: used(20, 2) },
      ],
      a: [
        { ...call('b', { message: 'x' }), usage: used(100, 3) },
        { text: 'a', usage: used(200, 4) },
      ],
      b: [{ text: 'b', usage: used(1000, 5) }],
    },
  })
  const result = await stage.ask('root', 'go', { id: 'chats/1' })
  assertUsage(result, await stage.events('chats/1'))
  assert.equal(result.usage.inputTokens, 30 + 300 + 3000)
  assert.equal(result.usage.cachedInputTokens, 7)
  assert.equal(result.usage.reasoningTokens, 14)
  assert.equal(result.usage.byAgent['root/b']?.modelCalls, 2)
  assert.equal(result.usage.byAgent['root/a/b']?.modelCalls, 1)
  assert.equal(result.usage.complete, true)
  const { tree } = await stage.runtime.getRun(result.runId)
  assert.equal(tree.usage.modelCalls, 2)
  assert.equal((await stage.document('chats/1/b')).totalUsage.inputTokens, 2000)
})

test('[E83] a call that does not say what it used leaves the sum incomplete, never lower', async () => {
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'a' }] }, { id: 'a' }],
    plays: {
      root: [
        { ...call('a', { message: 'x' }), usage: used(10, 1) },
        { text: 'done', usage: used(20, 2) },
      ],
      a: [{ text: 'a', usage: null }],
    },
  })
  const { usage } = await stage.ask('root', 'go')
  assert.equal(usage.complete, false)
  assert.equal(usage.byAgent['root']?.complete, true)
  assert.equal(usage.byAgent['root/a']?.complete, false)
  assert.deepEqual([usage.modelCalls, usage.inputTokens], [3, 30])
})

test('[Rb56] a delegate that fails has spent what it spent', async () => {
  const stage = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'a' }] }, { id: 'a' }],
    plays: { root: [call('a', { message: 'x' }), 'done'], a: () => ({ text: '', usage: used(100, 0) }) },
  })
  const result = await stage.ask('root', 'go', { id: 'chats/1' })
  assertUsage(result, await stage.events('chats/1'))
  assert.equal(result.usage.byAgent['root/a']?.inputTokens, 200)
})

test('[Rb56] a cancelled run and a failed one have spent what their finished model calls used', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'a' }, { agent: 'b' }] },
      { id: 'a' },
      { id: 'b', subAgents: [{ agent: 'a' }] },
    ],
    plays: {
      root: [{ toolCalls: ['a', 'b'].map((name) => ({ name, arguments: { message: name } })), usage: used(10, 1) }],
      a: [{ text: 'half', hang: true }],
      b: [{ ...call('a', { message: 'y' }), usage: used(100, 7) }],
    },
  })
  const opened = await stage.runtime.start({ agent: 'root', prompt: 'go', id: 'chats/1' })
  await settle()
  await stage.runtime.cancelRun(opened.run?.runId ?? '')
  const result = await opened.run?.result
  assert.ok(result)
  assert.equal(result.status, 'cancelled')
  assertUsage(result, await stage.events('chats/1'))
  assert.equal(result.usage.inputTokens, 110)

  const failing = createStage({
    agents: [{ id: 'root', subAgents: [{ agent: 'a' }], limits: { maxModelCalls: 2 } }, { id: 'a' }],
    plays: {
      root: [{ ...call('a', { message: 'x' }), usage: used(10, 1) }],
      a: [{ text: 'a', usage: used(100, 1) }],
    },
  })
  const failed = await failing.ask('root', 'go', { id: 'chats/1' })
  assert.equal(failed.error?.code, 'BUDGET_EXCEEDED')
  assertUsage(failed, await failing.events('chats/1'))
  assert.equal(failed.usage.totalTokens, 112)
})

test('[Rb56] a run that waited counts what it used before and after', async () => {
  const stage = createStage({
    agents: [{ id: 'root', actions: [{ name: 'Ask' }] }],
    plays: {
      root: [
        { ...call('Ask'), usage: used(10, 1) },
        { text: 'done', usage: used(20, 1) },
      ],
    },
  })
  const waiting = await stage.ask('root', 'go', { id: 'chats/1' })
  assert.equal(waiting.usage.inputTokens, 10)
  const done = await stage.run('chats/1', { actionResponses: [{ id: waiting.interruptions[0]?.id, response: 1 }] })
  assert.equal(done.usage.inputTokens, 30)
  assertUsage(done, await stage.events('chats/1'))
})

test('[C4] a run tells its tool rounds beside its model calls: replies that called something while they might', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'a' }, { agent: 'b' }], limits: { maxIterations: 2 } },
      { id: 'a', subAgents: [{ agent: 'b' }] },
      { id: 'b' },
    ],
    plays: {
      root: [
        { toolCalls: ['a', 'b'].map((name) => ({ name, arguments: { message: name } })) },
        call('nothing-of-that-name'),
        { text: 'done', ...call('a', { message: 'too late' }) },
      ],
      a: [call('b', { message: 'x' }), 'a'],
      b: ['b'],
    },
  })
  const result = await stage.ask('root', 'go', { id: 'chats/1' })
  assert.equal(result.finishReason, 'iteration_limit')
  assert.equal(result.usage.modelCalls, 7)
  const { toolRounds } = await stage.runtime.getRun(result.runId)
  assert.equal(toolRounds, 3, 'two of the root, one of its delegate; an answer and a call with tools off are none')
})
