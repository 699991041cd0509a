/** Tests of the scripted model, which are also its examples. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelMessage } from '../model/message.ts'
import type { Model, ModelReply, ModelRequest } from '../model/model.ts'
import { ModelCallError } from '../model/model.ts'
import {
  call,
  finishedCalls,
  lastUserMessage,
  scriptedModel,
  systemText,
  toolResults,
  turns,
  when,
} from './scripted-model.ts'

const asking = (...messages: readonly ModelMessage[]): ModelRequest => {
  return { messages, tools: [], toolChoice: 'none', temperature: null, reasoningEffort: null, output: null }
}
const system: ModelMessage = { role: 'system', content: 'You plan trips.' }
const user: ModelMessage = { role: 'user', content: 'What should I pack for Oslo?' }
const called: ModelMessage = {
  role: 'assistant',
  content: '',
  toolCalls: [{ id: 'a', name: 'weather', arguments: '{}' }],
}
const result: ModelMessage = { role: 'tool', toolCallId: 'a', name: 'weather', content: 'rain' }

async function ask(
  model: Model,
  request: ModelRequest,
  deltas = true,
): Promise<ModelReply & { readonly deltas: readonly string[] }> {
  const seen: string[] = []
  for await (const part of model.stream(request, { signal: new AbortController().signal, deltas })) {
    if (part.type === 'reply') return { ...part.reply, deltas: seen }
    seen.push(part.text)
  }
  return assert.fail('no reply')
}

test('a rule sees the request and the turn', async () => {
  const model = scriptedModel((request, turn) =>
    turn === 0 ? call('weather', { city: 'Oslo' }) : `In Oslo there is ${toolResults(request)[0]}.`,
  )
  const first = await ask(model, asking(system, user))
  assert.deepEqual(first.toolCalls, [{ id: 'call_2_0', name: 'weather', arguments: '{"city":"Oslo"}' }])
  assert.equal(first.finishReason, 'tool_calls')
  const second = await ask(model, asking(system, user, called, result))
  assert.equal(second.text, 'In Oslo there is rain.')
  assert.deepEqual(second.deltas, ['In', ' Oslo', ' there', ' is', ' rain.'])
  const answered = { role: 'assistant' as const, content: 'Rain.', toolCalls: [] }
  const again = asking(system, user, called, result, answered, { role: 'user', content: 'Again' })
  assert.equal((await ask(model, again)).toolCalls.length, 1)
  assert.equal(model.requests.length, 3)
})

test('the first rule with an answer counts; without one the call fails and says what was asked', async () => {
  const model = scriptedModel([when(/plan trips/, turns(call('weather'), 'Take a coat.')), when('Hi', 'Hello!')])
  assert.equal((await ask(model, asking(system, user))).toolCalls[0]?.name, 'weather')
  assert.equal((await ask(model, asking(system, user, called, result))).text, 'Take a coat.')
  assert.equal((await ask(model, asking({ role: 'user', content: 'Hi' }))).text, 'Hello!')
  await assert.rejects(ask(model, asking(user)), /no answer to "What should I pack for Oslo\?", turn 0/)
})

test('helpers read the request', () => {
  const request = asking(system, user, called, result, { ...result, content: 'wind' })
  assert.deepEqual(
    [systemText(request), lastUserMessage(request), toolResults(request)],
    [system.content, user.content, ['rain', 'wind']],
  )
  assert.deepEqual([systemText(asking(user)), lastUserMessage(asking(system)), toolResults(asking(user))], ['', '', []])
})

test('it misbehaves on demand', async () => {
  const script = scriptedModel([
    when('unknown', call('no_such_tool', {})),
    when('broken', call('weather', '{"city":')),
    when('cut', { deltas: ['Half', ' a'], error: new ModelCallError('cut', { retryable: true }) }),
    when('refuse', () => new Error('no')),
    when('twins', {
      toolCalls: [
        { id: 'x', name: 'f', arguments: {} },
        { id: 'x', name: 'f', arguments: {} },
      ],
    }),
  ])
  const say = (content: string) => ask(script, asking({ role: 'user', content }))
  assert.equal((await say('unknown')).toolCalls[0]?.name, 'no_such_tool')
  assert.equal((await say('broken')).toolCalls[0]?.arguments, '{"city":')
  await assert.rejects(say('cut'), (error) => error instanceof ModelCallError && error.retryable)
  await assert.rejects(say('refuse'), (error) => error instanceof ModelCallError && !error.retryable)
  assert.equal((await say('twins')).toolCalls.length, 2)
})

test('a delay is waited for by the sleep that was given, and is none without one', async () => {
  const waits: number[] = []
  const model = scriptedModel(() => ({ text: 'Late.', delayMs: 500 }), { sleep: async (ms) => void waits.push(ms) })
  assert.equal((await ask(model, asking(user))).text, 'Late.')
  assert.deepEqual(waits, [500])
  assert.equal(
    (
      await ask(
        scriptedModel(() => ({ text: 'Now.', delayMs: 9e9 })),
        asking(user),
      )
    ).text,
    'Now.',
  )
})

test('usage is estimated, given, or unknown', async () => {
  const none = { cachedInputTokens: 0, reasoningTokens: 0 }
  assert.deepEqual(
    (
      await ask(
        scriptedModel(() => 'Twelve chars'),
        asking(user),
      )
    ).usage,
    { inputTokens: 7, outputTokens: 3, ...none },
  )
  assert.equal(
    (
      await ask(
        scriptedModel(() => ({ text: 'x', usage: null })),
        asking(user),
      )
    ).usage,
    null,
  )
})

test('what it reasons comes in front of the text, word by word or in given pieces, only where it is shown', async () => {
  const play = async (reasoning: string | readonly string[], more: { deltas?: boolean; shown?: boolean } = {}) => {
    const { deltas = true, shown = true } = more
    const model = scriptedModel(() => ({ text: 'It rains.', reasoning }))
    const options = { signal: new AbortController().signal, deltas, ...(shown ? { reasoning: true as const } : {}) }
    const parts: (string | undefined)[] = []
    for await (const part of model.stream(asking(user), options))
      parts.push(part.type === 'reply' ? part.reply.reasoning : `${part.type}:${part.text}`)
    return parts
  }
  const text = ['delta:It', 'delta: rains.']
  const words = ['reasoning:Let', 'reasoning: me', 'reasoning: see.']
  assert.deepEqual(await play('Let me see.'), [...words, ...text, 'Let me see.'])
  assert.deepEqual(await play(['Le', 't me']), ['reasoning:Le', 'reasoning:t me', ...text, 'Let me'])
  assert.deepEqual(await play('Let me see.', { deltas: false }), ['Let me see.'])
  assert.deepEqual(await play('Let me see.', { shown: false }), [...text, undefined])
})

test('a rule finds every call with its arguments and result, whatever a model wrote', () => {
  const asks = (...calls: readonly [id: string, args: string][]): ModelMessage => {
    return {
      role: 'assistant',
      content: '',
      toolCalls: calls.map(([id, args]) => ({ id, name: `tool-${id}`, arguments: args })),
    }
  }
  const answers = (id: string, content: string): ModelMessage => ({ role: 'tool', toolCallId: id, name: 'x', content })
  const request = asking(
    ...[system, user, asks(['a', '{"city":"Oslo"}'], ['b', '["no object"]']), answers('b', 'two'), answers('a', 'one')],
    ...[user, asks(['a', '{"city":']), answers('a', 'three'), answers('nobody', 'x'), asks(['c', '{}'])],
  )
  assert.deepEqual(finishedCalls(request), [
    { name: 'tool-b', arguments: {}, result: 'two' },
    { name: 'tool-a', arguments: { city: 'Oslo' }, result: 'one' },
    { name: 'tool-a', arguments: {}, result: 'three' },
  ])
})
