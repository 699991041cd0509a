/** Artificial actions: calls that the model seems to have made, with the response that the caller brings. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, type ScriptedAnswer, toolResults } from '@witan/core/testing'
import type { ModelRequest } from '@witan/core'
import type { RunInput } from '@witan/protocol/schemas'
import { assertAlternates, assertSound } from '../support/claims.ts'
import { createGate, createStage, until } from '../support/stage.ts'

const rename = { name: 'Rename', parametersSchema: { type: 'object', properties: { name: { type: 'string' } } } }

function stageOf(play: (request: ModelRequest) => ScriptedAnswer | Promise<ScriptedAnswer>) {
  return createStage({ agents: [{ id: 'root', actions: [rename] }], plays: { root: play } })
}

const seen = ({ messages }: ModelRequest) =>
  messages
    .slice(1)
    .map(({ role, content, ...rest }) => ('toolCalls' in rest ? [role, rest.toolCalls?.[0]?.name] : [role, content]))

test('[Rb52] artificial actions stand behind the prompt and before its answer, for the model and in the document', async () => {
  const stage = stageOf((request) => `read ${toolResults(request).join(' and ')}`)
  await stage.ask('root', 'hello', { id: 'chats/1' })
  const artificialActions = [
    { name: 'Rename', response: { ok: true } },
    { name: 'get-weather', response: 'rain' },
  ]
  const result = await stage.run('chats/1', { prompt: 'and now?', artificialActions })
  assert.equal(result.text, 'read {"ok":true} and rain')
  assert.deepEqual(seen(stage.requests[1] as ModelRequest), [
    ['user', 'hello'],
    ['assistant', 'read '],
    ['user', 'and now?'],
    ['assistant', 'Rename'],
    ['tool', '{"ok":true}'],
    ['tool', 'rain'],
  ])
  for (const request of stage.requests) assertAlternates(request)
  assertSound(await stage.events('chats/1'))
  const { messages, totalUsage } = await stage.document('chats/1')
  const [, , prompt, calls, answer] = messages
  assert.deepEqual([prompt?.role, calls?.role, calls?.author, answer?.role], ['user', 'assistant', 'root', 'assistant'])
  assert.deepEqual(
    calls?.toolCalls.map(({ name, arguments: args, result: came }) => ({ name, args, came })),
    [
      { name: 'Rename', args: {}, came: { ok: true } },
      { name: 'get-weather', args: {}, came: 'rain' },
    ],
  )
  assert.deepEqual([result.usage.modelCalls, result.usage.toolCalls, totalUsage.toolCalls], [1, 0, 0])
})

test('[Rb52] [D12] with a prompt that joins a live run they stand behind that prompt', async () => {
  const gate = createGate()
  let asked = 0
  const stage = stageOf(async () => {
    asked += 1
    if (asked === 1) await gate.opened
    return `answer ${asked}`
  })
  const first = stage.ask('root', 'one', { id: 'chats/1' })
  await until(() => asked === 1)
  const joined = await stage.runtime.run('chats/1', {
    prompt: 'two',
    artificialActions: [{ name: 'Rename', response: null }],
  })
  gate.open()
  assert.equal((await joined.result).text, 'answer 2')
  assert.equal((await first).runId, joined.runId)
  assert.deepEqual(seen(stage.requests[1] as ModelRequest), [
    ['user', 'one'],
    ['assistant', 'answer 1'],
    ['user', 'two'],
    ['assistant', 'Rename'],
    ['tool', 'null'],
  ])
})

test('[Rb52] they are stored with the message, and a colder reader folds the same', async () => {
  const stage = stageOf((request) => toolResults(request)[0] ?? 'nothing')
  const artificialActions = [{ name: 'Rename', response: 'kept' }]
  await stage.runtime.start({ agent: 'root', id: 'chats/1' })
  assert.equal((await stage.run('chats/1', { prompt: 'go', artificialActions })).text, 'kept')
  const [message] = await stage.events('chats/1')
  const { artificialActions: shown } = (message?.content ?? {}) as {
    artificialActions: { name: string; response: unknown }[]
  }
  assert.deepEqual([shown[0]?.name, shown[0]?.response], ['Rename', 'kept'])
})

test('[Rb52] [C17] what an agent must not see is taken out of a response that was brought along, as out of any other', async () => {
  const key = { name: 'key', sendToModel: false, policy: 'forbidModelGeneration' } as const
  const stage = createStage({
    agents: [{ id: 'root', parameters: [key] }],
    plays: { root: (request) => `read ${toolResults(request)[0]}` },
  })
  await stage.runtime.start({ agent: 'root', id: 'chats/1', parameters: { key: 'cny_7d21c0' } })
  const artificialActions = [{ name: 'Look', response: { owner: 'cny_7d21c0' } }]
  for (const prompt of ['one', 'two']) {
    assert.equal((await stage.run('chats/1', { prompt, artificialActions })).text, 'read {"owner":"[hidden]"}')
  }
  assert.ok(!JSON.stringify(stage.requests).includes('cny_7d21c0'))
})

test('[Rb52] without a prompt, or together with responses, they are refused', async () => {
  const stage = stageOf(() => call('Rename', { name: 'x' }))
  const { interruptions } = await stage.ask('root', 'go', { id: 'chats/1' })
  const artificialActions = [{ name: 'Rename', response: 1 }]
  const actionResponses = [{ id: interruptions[0]?.id, response: 1 }]
  for (const body of [{ artificialActions }, { artificialActions, actionResponses }]) {
    await assert.rejects(stage.runtime.run('chats/1', body as RunInput), {
      code: 'RUN_INPUT_INVALID',
      path: 'artificialActions',
    })
  }
  await assert.rejects(
    stage.runtime.run('chats/1', { prompt: 'x', artificialActions: [{ name: 'a b', response: 1 }] }),
    {
      code: 'BODY_INVALID',
    },
  )
})

test('[Rb53] parts of text are joined in order; a part of another type is refused by its name', async () => {
  const stage = stageOf(() => 'fine')
  const parts = ['first', 'second', 'third'].map((text) => ({ type: 'text', text }))
  await stage.runtime.start({ agent: 'root', id: 'chats/1' })
  await stage.run('chats/1', { prompt: parts })
  assert.equal(stage.requests[0]?.messages[1]?.content, 'first\nsecond\nthird')
  const image = [...parts, { type: 'image', url: 'https://example.com/a.png' }]
  await assert.rejects(
    stage.runtime.run('chats/1', { prompt: image as never }),
    (error: { code: string; message: string; path: string; hint: string }) => {
      assert.deepEqual([error.code, error.path], ['BODY_INVALID', 'prompt'])
      assert.match(error.message, /part 3 has type `image`.*send parts of type `text` or `file`/)
      return error.hint.length > 0
    },
  )
})
