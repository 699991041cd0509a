/** After a run failed, at whatever point, the next run of the conversation gives every model a history it may read. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, lastUserMessage } from '@witan/core/testing'
import { assertAlternates, assertSound, assertUsage } from '../support/claims.ts'
import { createStage, type StageOptions } from '../support/stage.ts'

/** Runs a first prompt that fails and a second that does not; gives both results and the requests. */
async function failThenGoOn(options: StageOptions, more: Readonly<Record<string, unknown>> = {}) {
  const stage = createStage(options)
  const failed = await stage.ask('root', 'fail', { id: 'chats/1', ...more })
  assert.equal(failed.status, 'failed')
  const after = await stage.run('chats/1', { prompt: 'go on' })
  const events = await stage.events('chats/1')
  assertSound(events)
  assertUsage(failed, events)
  for (const request of stage.requests) assertAlternates(request)
  return { stage, failed, after }
}

test('[R42] [P21] a reply whose second call fails the run leaves no call unanswered', async () => {
  const { failed, after, stage } = await failThenGoOn({
    agents: [
      { id: 'root', subAgents: [{ agent: 'fine' }, { agent: 'trusted' }, { agent: 'other' }] },
      { id: 'fine' },
      { id: 'other' },
      { id: 'trusted', parameters: [{ name: 'userId', policy: 'forbidModelGeneration' }] },
    ],
    plays: {
      root: (request) =>
        lastUserMessage(request) === 'fail'
          ? {
              toolCalls: ['fine', 'trusted', 'other'].map((name) => ({ name, arguments: { message: 'x' } })),
            }
          : 'went on',
      fine: ['fine'],
      other: ['other'],
    },
  })
  assert.equal(failed.error?.code, 'MISSING_AGENT_PARAMETER')
  assert.equal(after.text, 'went on')
  assert.equal(stage.seenBy('root')[1]?.messages.filter(({ role }) => role === 'tool').length, 3)
})

test('[C3] [P21] a run that spent its budget while delegates were at work can be followed by another', async () => {
  const { failed, after } = await failThenGoOn({
    agents: [
      { id: 'root', subAgents: [{ agent: 'a' }, { agent: 'b' }], limits: { maxModelCalls: 3 } },
      { id: 'a', subAgents: [{ agent: 'b' }] },
      { id: 'b' },
    ],
    plays: {
      root: (request, turn) =>
        lastUserMessage(request) !== 'fail'
          ? 'went on'
          : turn === 0
            ? { toolCalls: ['a', 'b'].map((name) => ({ name, arguments: { message: 'x' } })) }
            : 'too late',
      a: [call('b', { message: 'deeper' }), 'done'],
      b: ['done'],
    },
  })
  assert.equal(failed.error?.code, 'BUDGET_EXCEEDED')
  assert.equal(after.text, 'went on')
})

test('[E28] [P21] an answer twice off its schema fails the run, and the next run is whole', async () => {
  const { failed, after } = await failThenGoOn({
    agents: [
      {
        id: 'root',
        outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      },
    ],
    plays: { root: (request) => (request.messages.at(-1)?.content === 'go on' ? '{"n":1}' : 'not json') },
  })
  assert.equal(failed.error?.code, 'MODEL_REPLY_INVALID')
  assert.deepEqual(after.output, { n: 1 })
})

test('[D23] a model that cannot be called fails the run; what the person said is not lost', async () => {
  const { failed, stage } = await failThenGoOn({
    agents: [{ id: 'root' }],
    plays: { root: (request) => (lastUserMessage(request) === 'fail' ? new Error('down') : 'went on') },
  })
  assert.equal(failed.error?.code, 'MODEL_CALL_FAILED')
  assert.equal(lastUserMessage(stage.requests[1] as (typeof stage.requests)[number]), 'fail\n\ngo on')
})
