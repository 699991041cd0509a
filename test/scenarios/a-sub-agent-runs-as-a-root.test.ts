/** Direct runs: a sub-agent as the root of a conversation of its own, and a roster that changes one by one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool } from '@witan/core'
import { call, lastUserMessage, systemText } from '@witan/core/testing'
import { z } from 'zod'
import { agent, createStage, type Stage } from '../support/stage.ts'

const runDirectly = async (stage: Stage, request: object) =>
  (await stage.runtime.agents.subAgents.run('lead', 'expert', request)).result

test('[F40] [F42] a direct run keeps its own conversation; delegation from the parent has another document', async () => {
  const stage = createStage({
    agents: [{ id: 'lead', subAgents: [{ agent: 'expert' }] }, { id: 'expert' }],
    plays: {
      lead: [call('expert', { message: 'delegated' }), 'done'],
      expert: (request) => `on ${lastUserMessage(request)}`,
    },
  })
  const first = await runDirectly(stage, { prompt: 'one' })
  const second = await runDirectly(stage, { prompt: 'two', conversationId: first.conversationId })
  assert.deepEqual([first.text, second.text, second.conversationId], ['on one', 'on two', first.conversationId])
  const events = await stage.events(first.conversationId)
  const starts = events.filter(({ type, kind }) => type === 'start' && kind === 'agent')
  assert.deepEqual(
    starts.map(({ agentPath, parentCallId, callId, rootCallId }) => [agentPath, parentCallId, callId === rootCallId]),
    [
      ['expert', null, true],
      ['expert', null, true],
    ],
  )
  const messages = events.filter(({ type }) => type === 'message')
  assert.deepEqual(
    messages.map(({ content }) => content['text']),
    ['one', 'two'],
  )
  const { messages: kept } = await stage.document(first.conversationId)
  assert.deepEqual(
    kept.map(({ role, text }) => `${role}: ${text}`),
    ['user: one', 'assistant: on one', 'user: two', 'assistant: on two'],
  )
  assert.equal(stage.seenBy('lead').length, 0)
  const delegated = await stage.ask('lead', 'go')
  assert.equal(delegated.status, 'completed')
  assert.deepEqual(
    stage.seenBy('expert')[2]?.messages.map(({ content }) => content),
    ['You are expert.', 'delegated'],
  )
})

test('[F41] only below a parent that lists it, and only in conversations of its own', async () => {
  const stage = createStage({
    agents: [{ id: 'lead', subAgents: [{ agent: 'expert' }] }, { id: 'expert' }, { id: 'other' }],
    plays: { lead: ['lead says'], expert: ['ok'], other: ['ok'] },
  })
  const { subAgents } = stage.runtime.agents
  const { conversationId } = await stage.ask('lead', 'hello')
  await assert.rejects(runDirectly(stage, { prompt: 'x', conversationId }), { code: 'CONVERSATION_AGENT_MISMATCH' })
  await assert.rejects(subAgents.run('lead', 'other', { prompt: 'x' }), { code: 'NOT_FOUND' })
  await assert.rejects(subAgents.run('nobody', 'expert', { prompt: 'x' }), { code: 'NOT_FOUND' })
  await subAgents.assign('lead', 'other')
  assert.equal((await (await subAgents.run('lead', 'other', { prompt: 'x' })).result).text, 'ok')
  await subAgents.unassign('lead', 'other')
  await assert.rejects(subAgents.run('lead', 'other', { prompt: 'x' }), { code: 'NOT_FOUND' })
})

test('[E20] the caller of a direct run gives what a parent would hand down, and the model still never sees it', async () => {
  const got: unknown[] = []
  const record = defineTool({
    name: 'record',
    description: 'Records.',
    parameters: z.object({}),
    effect: 'none',
    execute: (_args, { parameters }) => {
      got.push({ ...parameters })
      return 'ok'
    },
  })
  const hidden = { sendToModel: false } as const
  const stage = createStage({
    agents: [
      { id: 'lead', parameters: [{ name: 'userId', ...hidden }], subAgents: [{ agent: 'expert' }] },
      {
        id: 'expert',
        parameters: [
          { name: 'userId', ...hidden, policy: 'forbidModelGeneration' },
          { name: 'note', ...hidden },
        ],
        tools: ['record'],
      },
    ],
    plays: { expert: [call('record'), 'done'] },
    options: { tools: [record] },
  })
  await assert.rejects(runDirectly(stage, { prompt: 'x' }), { code: 'PARAM_MISSING', path: 'parameters.userId' })
  assert.deepEqual((await stage.runtime.listConversations()).items, [])
  const run = await runDirectly(stage, { prompt: 'x', parameters: { userId: 'Users/7' } })
  assert.equal(run.status, 'completed')
  assert.deepEqual(got, [{ userId: 'Users/7' }])
  assert.doesNotMatch(JSON.stringify(stage.requests), /Users\/7/)
})

test('[E10] an agent that allows no parents is run only as the root of a conversation', async () => {
  const stage = createStage({
    agents: [{ id: 'lead' }, { id: 'expert', parents: [] }],
    plays: { lead: ['alone'], expert: ['as a root'] },
  })
  const { agents } = stage.runtime
  await assert.rejects(agents.subAgents.assign('lead', 'expert'), { code: 'PARENT_NOT_ALLOWED' })
  await stage.ask('lead', 'hello')
  assert.deepEqual(stage.seenBy('lead')[0]?.tools, [])
  assert.equal((await stage.ask('expert', 'hello')).text, 'as a root')
  assert.equal((await agents.list()).items.length, 2)
})

test('[F11] [F12] [F13] a roster and tools that change while the runtime is up: the next run has them', async () => {
  const tool = defineTool({
    name: 'ping',
    description: 'Pings.',
    parameters: z.object({}),
    effect: 'none',
    execute: () => 'pong',
  })
  const stage = createStage({
    agents: [{ id: 'lead' }],
    plays: { lead: () => 'ok' },
    options: { tools: [tool] },
  })
  const { subAgents, tools } = stage.runtime.agents
  const offered = async () => {
    await stage.ask('lead', 'hello')
    return systemText(stage.requests.at(-1) as Stage['requests'][number]) === 'You are lead.'
      ? stage.requests.at(-1)?.tools.map(({ name, description }) => `${name}: ${description}`)
      : null
  }
  const made = await subAgents.create('lead', { agent: agent('expert'), edge: { description: 'Knows.' } })
  assert.deepEqual([made.created, made.agent.id, made.parent.revision], [true, 'expert', 2])
  await tools.assign('lead', 'ping')
  assert.deepEqual(await offered(), ['ping: Pings.', 'expert: Knows.'])
  await assert.rejects(subAgents.assign('lead', 'expert', { edge: { description: 'Too late.' }, ifRevision: 1 }), {
    code: 'REVISION_MISMATCH',
  })
  await subAgents.assign('lead', 'expert', { edge: { description: 'Knows more.' } })
  await tools.unassign('lead', 'ping')
  assert.deepEqual(await offered(), ['expert: Knows more.'])
  await subAgents.unassign('lead', 'expert')
  assert.deepEqual(await offered(), [])
  assert.deepEqual((await subAgents.list('lead')).items, [])
})
