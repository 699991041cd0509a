/** Parameters given again where a conversation goes on: values stand, flags are tightened and never loosened. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, lastUserMessage, systemText } from '@witan/core/testing'
import { defineTool, memoryStore, type QuerySource } from '@witan/core'
import { z } from 'zod'
import { outliving } from '../support/reopen.ts'
import { actionsIn, createStage, type Stage, type StageOptions } from '../support/stage.ts'

const canary = 'Users/canary-7'
const chain: StageOptions['agents'] = [
  { id: 'root', parameters: [{ name: 'key' }, { name: 'country' }], subAgents: [{ agent: 'mid' }] },
  { id: 'mid', parameters: [{ name: 'key' }], subAgents: [{ agent: 'leaf' }] },
  { id: 'leaf', parameters: [{ name: 'key' }] },
]
const plays: StageOptions['plays'] = {
  root: (request, turn) => (turn % 2 === 0 ? call('mid', { message: lastUserMessage(request) }) : 'done'),
  mid: (request, turn) => (turn % 2 === 0 ? call('leaf', { message: lastUserMessage(request) }) : 'done'),
  leaf: () => 'ok',
}
const parameters = { key: canary, country: 'Norway' }

async function begun(more: Partial<StageOptions> = {}): Promise<Stage> {
  const stage = createStage({ agents: chain, plays, ...more })
  await stage.ask('root', 'hello', { id: 'chats/1', parameters })
  return stage
}

const asked = (stage: Stage) => stage.requests.map((request) => systemText(request))

test('[E19] a value that is hidden on resume is hidden from every agent of the chain, from the next run on and for good', async () => {
  const stage = await begun()
  const before = asked(stage)
  assert.equal(before.filter((text) => text.includes(canary)).length, 5)
  await stage.ask('root', 'again', { id: 'chats/1', parameters: { key: { value: canary, sendToModel: false } } })
  await stage.ask('root', 'once more', { id: 'chats/1', parameters: { key: { value: canary, sendToModel: true } } })
  await stage.run('chats/1', { prompt: 'and more' })
  const after = asked(stage).slice(before.length)
  assert.equal(after.length, 15)
  for (const text of after) assert.match(text, /key: supplied by the system/)
  assert.doesNotMatch(JSON.stringify(stage.requests.slice(before.length)), new RegExp(canary))
  assert.match(after[0] ?? '', /country = "Norway"/)
})

test('[E19] hiding without a prompt holds for the next run, and readers of the document see it at once', async () => {
  const stage = await begun()
  const shown = async () => (await stage.document('chats/1')).parameters
  assert.deepEqual((await shown())['key'], { value: canary, sendToModel: true })
  const opened = await stage.runtime.start({
    agent: 'root',
    id: 'chats/1',
    parameters: { key: { value: canary, sendToModel: false } },
  })
  assert.deepEqual([opened.created, opened.run], [false, null])
  assert.deepEqual(await shown(), { key: { sendToModel: false }, country: { value: 'Norway', sendToModel: true } })
  await stage.run('chats/1', { prompt: 'again' })
  assert.deepEqual((await shown())['key'], { sendToModel: false })
  assert.doesNotMatch(asked(stage).at(-1) ?? '', new RegExp(canary))
})

test('[E19] [I1] a restart reads the same flags from the same place in the log', async () => {
  const kept = memoryStore()
  const store = { ...kept, close: async () => {} }
  const stage = await begun({ options: { store } })
  await stage.ask('root', 'again', { id: 'chats/1', parameters: { key: { value: canary, sendToModel: false } } })
  await stage.runtime.close()
  const next = createStage({ agents: chain, plays, options: { store } })
  await next.run('chats/1', { prompt: 'once more' })
  for (const text of asked(next)) assert.doesNotMatch(text, new RegExp(canary))
  const warm = createStage({ agents: chain, plays })
  await warm.ask('root', 'hello', { id: 'chats/1', parameters })
  await warm.ask('root', 'again', { id: 'chats/1', parameters: { key: { value: canary, sendToModel: false } } })
  await warm.run('chats/1', { prompt: 'once more' })
  assert.deepEqual(
    next.requests.map(({ messages }) => messages),
    warm.requests.slice(-5).map(({ messages }) => messages),
  )
})

test('[E19] a run that is waiting when a value is hidden keeps what it started with; the next one does not', async () => {
  const stage = createStage({
    agents: [{ id: 'root', parameters: [{ name: 'key' }], actions: [{ name: 'Ask' }] }],
    plays: { root: (request) => (lastUserMessage(request) === 'hello' ? call('Ask') : 'done') },
  })
  const open = await stage.ask('root', 'hello', { id: 'chats/1', parameters: { key: canary } })
  await stage.runtime.start({
    agent: 'root',
    id: 'chats/1',
    parameters: { key: { value: canary, sendToModel: false } },
  })
  const actionResponses = [{ id: open.interruptions[0]?.id, response: 'yes' }]
  const [first] = stage.requests
  assert.equal((await stage.run('chats/1', { actionResponses })).status, 'waiting')
  assert.equal(asked(stage).at(-1), systemText(first as Stage['requests'][number]))
  await stage.runtime.cancelRun(open.runId)
  await stage.run('chats/1', { prompt: 'again' })
  assert.match(asked(stage).at(-1) ?? '', /key: supplied by the system/)
})

test('[E19] [I1] a run that waits when a value is hidden keeps what it started with after a restart too', async () => {
  const store = outliving(memoryStore())
  const open = () =>
    createStage({
      agents: [{ id: 'root', parameters: [{ name: 'key' }], actions: [{ name: 'Ask' }] }],
      plays: { root: (request) => (request.messages.at(-1)?.role === 'tool' ? 'done' : call('Ask')) },
      options: { store },
    })
  const first = open()
  const waiting = await first.ask('root', 'hello', { id: 'chats/1', parameters: { key: canary } })
  const hidden = { key: { value: canary, sendToModel: false } }
  await first.runtime.start({ agent: 'root', id: 'chats/1', parameters: hidden })
  await first.runtime.close()
  const next = open()
  const actionResponses = [{ id: waiting.interruptions[0]?.id, response: 'yes' }]
  assert.equal((await next.run('chats/1', { actionResponses })).status, 'completed')
  assert.deepEqual(asked(next), asked(first))
  await next.run('chats/1', { prompt: 'again' })
  assert.match(asked(next).at(-1) ?? '', /key: supplied by the system/)
})

test('[E19] [D15] a trusted value that was shown is taken out of what is read again of the history', async () => {
  const trusted = { name: 'key', policy: 'forbidModelGeneration' } as const
  const stage = createStage({
    agents: [{ id: 'root', parameters: [trusted] }],
    plays: { root: [`Your key is ${canary}.`, 'hidden', 'still'] },
  })
  await stage.ask('root', 'what is it?', { id: 'chats/1', parameters: { key: canary } })
  await stage.ask('root', 'again', { id: 'chats/1', parameters: { key: { value: canary, sendToModel: false } } })
  await stage.run('chats/1', { prompt: 'more' })
  assert.doesNotMatch(JSON.stringify(stage.requests.slice(1)), new RegExp(canary))
  assert.match(JSON.stringify(stage.requests.at(-1)), /Your key is \[hidden\]\./)
})

test('[E19] [D15] a trusted value that was written into a tool call is taken out of what is read again of it', async () => {
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    parameters: z.object({ at: z.string() }),
    effect: 'none',
    execute: () => 'seen',
  })
  const stage = createStage({
    agents: [{ id: 'root', parameters: [{ name: 'key', policy: 'forbidModelGeneration' }], tools: ['look'] }],
    plays: { root: (request) => (request.messages.length === 2 ? call('look', { at: canary }) : 'looked') },
    options: { tools: [look] },
  })
  await stage.ask('root', 'look', { id: 'chats/1', parameters: { key: canary } })
  await stage.ask('root', 'again', { id: 'chats/1', parameters: { key: { value: canary, sendToModel: false } } })
  const last = stage.requests.at(-1)?.messages ?? []
  const written = last.flatMap((one) => (one.role === 'assistant' ? (one.toolCalls ?? []) : []))
  assert.deepEqual(
    written.map((one) => one.arguments),
    ['{"at":"[hidden]"}'],
  )
  assert.doesNotMatch(JSON.stringify(last), new RegExp(canary))
})

test('[E19] [D15] of two trusted values the one that is hidden later is taken out of the history like the first', async () => {
  const trusted = (name: string) => ({ name, policy: 'forbidModelGeneration' }) as const
  const first = { value: 'Users/first-3', sendToModel: false }
  const stage = createStage({
    agents: [{ id: 'root', parameters: [trusted('first'), trusted('key')] }],
    plays: { root: [`Your key is ${canary}.`, 'hidden'] },
  })
  await stage.ask('root', 'what is it?', { id: 'chats/1', parameters: { first, key: canary } })
  const hidden = { key: { value: canary, sendToModel: false } }
  await stage.ask('root', `again, with ${first.value}`, { id: 'chats/1', parameters: hidden })
  const last = JSON.stringify(stage.requests.at(-1))
  assert.doesNotMatch(last, new RegExp(canary))
  assert.match(last, /Your key is \[hidden\]\./)
})

test('[E19] another value, a new one and an unknown one are refused by name and without the value', async () => {
  const stage = createStage({
    agents: [{ id: 'root', parameters: [{ name: 'key' }, { name: 'late', sendToModel: false }] }],
    plays: { root: () => 'ok' },
  })
  await stage.ask('root', 'hello', { id: 'chats/1', parameters: { key: canary } })
  const again = (given: object) => stage.ask('root', 'again', { id: 'chats/1', parameters: given })
  const rows: [given: object, code: string, name: string][] = [
    [{ key: 'other-value' }, 'PARAM_FIXED', 'key'],
    [{ key: { value: 'other-value', sendToModel: false } }, 'PARAM_FIXED', 'key'],
    [{ key: [canary] }, 'PARAM_FIXED', 'key'],
    [{ key: { value: canary, sendToModel: false }, late: 'other-value' }, 'PARAM_FIXED', 'late'],
    [{ late: 7 }, 'PARAM_TYPE', 'late'],
    [{ lat: 'other-value' }, 'PARAM_UNKNOWN', 'lat'],
    [{ key: { val: 'other-value' } }, 'PARAM_TYPE', 'key'],
  ]
  for (const [given, code, name] of rows) {
    await assert.rejects(again(given), (error: Error & { code: string; path: string }) => {
      assert.deepEqual([error.code, error.path], [code, `parameters.${name}`])
      assert.ok(error.message.includes(`\`${name}\``))
      assert.doesNotMatch(`${error.message} ${JSON.stringify(error)}`, /other-value|canary/)
      return true
    })
  }
  assert.equal(stage.requests.length, 1)
  await again({ key: canary })
  assert.match(asked(stage).at(-1) ?? '', new RegExp(canary), 'what was refused has hidden nothing')
})

test('[E19] [F42] a direct run that goes on holds to the same', async () => {
  const stage = createStage({
    agents: [
      { id: 'lead', subAgents: [{ agent: 'expert' }] },
      { id: 'expert', parameters: [{ name: 'key' }] },
    ],
    plays: { expert: () => 'ok' },
  })
  const direct = async (body: object) =>
    (await stage.runtime.agents.subAgents.run('lead', 'expert', { prompt: 'x', ...body })).result
  const { conversationId } = await direct({ parameters: { key: canary } })
  await assert.rejects(direct({ conversationId, parameters: { key: 'other' } }), { code: 'PARAM_FIXED' })
  await direct({ conversationId, parameters: { key: { value: canary, sendToModel: false } } })
  assert.match(asked(stage).at(-1) ?? '', /key: supplied by the system/)
})

test('[E19] [Rb55] a fork at any place before a value was hidden hides it from its first run on', async () => {
  const stage = await begun()
  const ends = [(await stage.runtime.getConversation('chats/1')).lastSeq]
  await stage.run('chats/1', { prompt: 'again' })
  ends.push((await stage.runtime.getConversation('chats/1')).lastSeq)
  await stage.ask('root', 'hide', { id: 'chats/1', parameters: { key: { value: canary, sendToModel: false } } })
  for (const seq of [0, ...ends]) {
    const fork = await stage.runtime.forkConversation('chats/1', { seq })
    const before = stage.requests.length
    await stage.run(fork.id, { prompt: 'in the fork' })
    for (const text of asked(stage).slice(before)) assert.match(text, /key: supplied by the system/)
  }
})

test('[D14] [R23] [R44] a list that was given stays what it was: nobody who holds it changes what others are bound to', async () => {
  const spoil = (list: unknown) => {
    try {
      ;(list as string[]).push('Users/stranger')
    } catch {
      // It says no; what counts is what the next one gets.
    }
  }
  const got: unknown[] = []
  const take = defineTool({
    name: 'take',
    description: 'Takes.',
    parameters: z.object({}),
    effect: 'none',
    execute: (_args, context) => {
      got.push([...(context.parameters['ids'] as string[])])
      spoil(context.parameters['ids'])
      return 'taken'
    },
  })
  const shop: QuerySource = {
    kind: 'shop',
    check: async () => ({ ok: true, placeholders: ['ids'] }),
    run: async ({ bindings }) => {
      spoil(bindings.get('ids'))
      return { ok: true, rows: [], truncated: false }
    },
    close: async () => {},
  }
  const ids = { name: 'ids', type: 'string[]', policy: 'forbidModelGeneration' } as const
  const stage = createStage({
    agents: [
      { id: 'root', parameters: [ids], tools: ['take'], subAgents: [{ agent: 'leaf' }] },
      {
        id: 'leaf',
        parameters: [ids],
        tools: ['take'],
        queries: [{ name: 'look', source: 'shop', query: 'select $ids' }],
        actions: [{ name: 'Sign' }],
      },
    ],
    plays: {
      root: (_, turn) => [call('take'), call('leaf', { message: 'go' })][turn] ?? 'done',
      leaf: (_, turn) => [call('take'), call('look'), call('Sign'), call('take')][turn] ?? 'done',
    },
    options: { tools: [take], sources: { shop } },
  })
  const given = ['Users/1']
  const { interruptions } = await stage.ask('root', 'hello', { id: 'chats/1', parameters: { ids: given } })
  spoil(given)
  spoil(actionsIn(interruptions)[0]?.arguments['ids'])
  for (const path of ['chats/1', 'chats/1/leaf']) spoil((await stage.document(path)).parameters['ids']?.value)
  await stage.run('chats/1', { actionResponses: [{ id: interruptions[0]?.id, response: 'ok' }] })
  const { interruptions: open } = await stage.run('chats/1', { prompt: 'again' })
  assert.deepEqual(got, Array(5).fill(['Users/1']))
  assert.deepEqual(actionsIn(open)[0]?.arguments, { ids: ['Users/1'] })
  for (const text of asked(stage)) assert.match(text, /^You are (root|leaf)\.\nids = \["Users\/1"\]$/)
  // Another set of values would have a document of its own.
  assert.deepEqual((await stage.document('chats/1')).linkedConversations, ['chats/1/leaf'])
  const starts = (await stage.events('chats/1')).filter(({ type, kind }) => type === 'start' && kind === 'agent')
  assert.deepEqual(
    [...new Set(starts.map(({ content }) => JSON.stringify(content['parameters'])))],
    ['{"ids":["Users/1"]}'],
  )
})
