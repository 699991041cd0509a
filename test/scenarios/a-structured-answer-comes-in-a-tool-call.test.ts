/** `outputMode: tool`: after the final text one forced call of `set_output`, on a copy of the history, gives the structured answer. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createRuntime, defineTool, type Model, type ModelRequest, sqliteStore } from '@witan/core'
import { call, type ScriptedAnswer, scriptedModel } from '@witan/core/testing'
import { z } from 'zod'
import { type AgentDraft, agent, allEvents, createStage, settle, until } from '../support/stage.ts'

const outputSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city'],
  additionalProperties: false,
}
const draft: Omit<AgentDraft, 'id'> = { outputMode: 'tool', outputSchema }
const isClosing = ({ tools, toolChoice }: ModelRequest) => toolChoice === 'required' && tools[0]?.name === 'set_output'
const fit = call('set_output', { city: 'Oslo', days: 3 })

/** Plays words, and for the n-th request for the structured form the n-th of these answers, the last one again and again. */
function staged(
  given: Omit<AgentDraft, 'id'>,
  closings: readonly ScriptedAnswer[],
  words: ScriptedAnswer = 'In Oslo.',
) {
  let asked = 0
  const root = (request: ModelRequest) =>
    isClosing(request) ? closings[Math.min(asked++, closings.length - 1)] : words
  const stage = createStage({ agents: [{ id: 'root', ...given }], plays: { root } })
  return { ...stage, closing: () => stage.requests.filter(isClosing) }
}

describe('[Tb10] a structured answer in a tool call', () => {
  test('is requested after the final text, with `set_output` alone; its arguments are the output and the text stays', async () => {
    const { ask, run, requests, document, runtime } = staged(draft, [fit])
    const result = await ask('root', 'Where?', { id: 'chats/1' })
    assert.deepEqual([result.text, result.output], ['In Oslo.', { city: 'Oslo', days: 3 }])
    const [first, second] = requests
    assert.deepEqual([first?.toolChoice, first?.output], ['none', null])
    assert.deepEqual([second?.toolChoice, second?.output], ['required', null])
    assert.deepEqual(
      second?.tools.map(({ name, parameters }) => [name, parameters]),
      [['set_output', outputSchema]],
    )
    assert.deepEqual(second?.messages.slice(0, -1), [
      ...(first?.messages ?? []),
      { role: 'assistant', content: 'In Oslo.' },
    ])
    assert.match(second?.messages.at(-1)?.content ?? '', /^\[from @witan to @root\] Call `set_output` now/)
    assert.equal(result.usage.modelCalls, 2)
    await run('chats/1', { prompt: 'And then?' })
    assert.deepEqual(requests[2]?.messages.slice(1), [
      { role: 'user', content: 'Where?' },
      { role: 'assistant', content: 'In Oslo.' },
      { role: 'user', content: 'And then?' },
    ])
    const { messages, totalUsage } = await document('chats/1')
    assert.deepEqual(
      messages.map(({ text, toolCalls }) => [text, toolCalls.length]),
      [
        ['Where?', 0],
        ['In Oslo.', 0],
        ['And then?', 0],
        ['In Oslo.', 0],
      ],
    )
    assert.ok(totalUsage.inputTokens > 0)
    await runtime.close()
  })

  test('[R50] of another type than object stands under `output`, and its definitions stay reachable', async () => {
    const list = {
      type: 'array',
      items: { $ref: '#/$defs/city' },
      $defs: { city: { type: 'string', minLength: 2 } },
    }
    const { ask, closing, runtime } = staged({ outputMode: 'tool', outputSchema: list }, [
      call('set_output', { output: ['x'] }),
      call('set_output', { output: ['Oslo'] }),
    ])
    const result = await ask('root', 'Where?')
    assert.deepEqual([result.status, result.output], ['completed', ['Oslo']])
    const { $defs, ...bare } = list
    assert.deepEqual(closing()[0]?.tools[0]?.parameters, {
      type: 'object',
      properties: { output: bare },
      required: ['output'],
      additionalProperties: false,
      $defs,
    })
    await runtime.close()
  })

  test('[E28] that does not fit is asked for once more with what is wrong, and the mistake enters no history', async () => {
    const { ask, run, closing, requests, runtime } = staged(draft, [call('set_output', { days: 'x' }), fit])
    const result = await ask('root', 'Where?', { id: 'chats/1' })
    assert.deepEqual([result.status, result.output], ['completed', { city: 'Oslo', days: 3 }])
    const [assistant, tool] = closing()[1]?.messages.slice(-2) ?? []
    assert.equal(assistant?.role, 'assistant')
    assert.match(tool?.content ?? '', /invalid arguments: .*city/)
    await run('chats/1', { prompt: 'And then?' })
    assert.equal(requests[3]?.messages.length, 4)
    await runtime.close()
  })

  const wrong: Readonly<Record<string, readonly ScriptedAnswer[]>> = {
    'words, twice': ['{"city":"Oslo"}', 'No.'],
    'nothing, twice': [''],
    'no JSON': [call('set_output', '{"city":')],
    'a list': [call('set_output', '[]')],
    'JSON that nests too deep': [call('set_output', `{"city":${'['.repeat(5000)}${']'.repeat(5000)}}`)],
    'another tool': [call('look', {})],
    'a prototype': [call('set_output', '{"__proto__":{"city":"Oslo"}}')],
  }
  for (const [name, closings] of Object.entries(wrong)) {
    test(`[C37] fails the call after two replies off its form: ${name}`, async () => {
      const { ask, closing, runtime, reports } = staged(draft, closings)
      const result = await ask('root', 'Where?', { id: 'chats/1' })
      assert.deepEqual([result.status, result.error?.code, result.output], ['failed', 'MODEL_REPLY_INVALID', null])
      assert.deepEqual([closing().length, reports], [2, []])
      await runtime.close()
    })
  }

  test('[D15] a mistake goes back to the model without a value that it may not see', async () => {
    const parameters: AgentDraft['parameters'] = [
      { name: 'key', sendToModel: false, policy: 'forbidModelGeneration', secret: true },
    ]
    const given = { ...draft, parameters, actions: [{ name: 'Ask' }] }
    const guesses = ['I guess canary-71.', call('set_output', { city: 7, note: 'canary-71' })]
    for (const guess of guesses) {
      const { ask, closing, runtime } = staged(given, [guess, fit])
      const result = await ask('root', 'Where?', { parameters: { key: 'canary-71' } })
      assert.equal(result.status, 'completed')
      assert.ok(!JSON.stringify(closing()[1]?.messages).includes('canary-71'))
      await runtime.close()
    }
  })

  test('[C37] words and then the call are an answer', async () => {
    const { ask, closing, runtime } = staged(draft, ['{"city":"Oslo"}', fit])
    assert.deepEqual((await ask('root', 'Where?')).output, { city: 'Oslo', days: 3 })
    assert.deepEqual(
      closing()[1]
        ?.messages.slice(-3)
        .map(({ role }) => role),
      ['user', 'assistant', 'user'],
    )
    await runtime.close()
  })

  test('is the first call of several; nothing beside it runs, and a notice says so', async () => {
    let ran = 0
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      parameters: z.object({}),
      effect: 'none',
      execute: () => ++ran,
    })
    const many = ['look', 'set_output', 'set_output'].map((name, at) => ({ name, arguments: { city: `city ${at}` } }))
    const stage = createStage({
      agents: [{ id: 'root', tools: ['look'], ...draft }],
      plays: { root: (request) => (isClosing(request) ? { text: 'beside', toolCalls: many } : 'In Oslo.') },
      options: { tools: [look] },
    })
    const result = await stage.ask('root', 'Where?', { id: 'chats/1' })
    assert.deepEqual([result.text, result.output, ran], ['In Oslo.', { city: 'city 1' }, 0])
    const notices = (await stage.events('chats/1')).filter(({ type }) => type === 'notice')
    assert.deepEqual(
      notices.map(({ content }) => ('code' in content ? content.code : null)),
      ['TOOL_CALLS_REFUSED'],
    )
    await stage.runtime.close()
  })

  test('[E25] [R17] counts as a last answer: it uses no iteration, of its agent or of the tree', async () => {
    const limits = { maxIterations: 2, maxModelIterationsPerCall: 2 }
    const given: Omit<AgentDraft, 'id'> = { ...draft, toolMode: 'force', actions: [{ name: 'Ask' }], limits }
    for (const onExhausted of ['answer', 'error'] as const) {
      const stage = createStage({
        agents: [{ id: 'root', ...given, onExhausted }],
        plays: {
          root: (request, turn) => (isClosing(request) ? fit : turn === 0 ? call('no-such-tool') : 'In Oslo.'),
        },
      })
      const result = await stage.ask('root', 'Where?')
      assert.deepEqual([result.output, result.finishReason], [{ city: 'Oslo', days: 3 }, 'stop'])
      assert.equal(stage.requests.length, 3)
      await stage.runtime.close()
    }
  })

  test('follows a last answer too, and `maxModelCalls` bounds it like any call', async () => {
    const given = { ...draft, actions: [{ name: 'Ask' }] }
    const root = (request: ModelRequest) =>
      isClosing(request) ? fit : request.toolChoice === 'none' ? 'In Oslo.' : call('no-such-tool')
    for (const [maxModelCalls, end] of [
      [3, 'iteration_limit'],
      [2, 'BUDGET_EXCEEDED'],
    ] as const) {
      const limits = { maxIterations: 1, maxModelCalls }
      const stage = createStage({ agents: [{ id: 'root', ...given, limits }], plays: { root } })
      const result = await stage.ask('root', 'Where?')
      assert.equal(result.error?.code ?? result.finishReason, end)
      await stage.runtime.close()
    }
  })

  test('[Tb09] follows the text that comes once the model has ended its tool mode', async () => {
    const given: Omit<AgentDraft, 'id'> = { ...draft, toolMode: 'force', endToolMode: true, actions: [{ name: 'Ask' }] }
    const stage = createStage({
      agents: [{ id: 'root', ...given }],
      plays: { root: (request, turn) => (isClosing(request) ? fit : turn === 0 ? call('end_tool_mode') : 'In Oslo.') },
    })
    const result = await stage.ask('root', 'Where?')
    assert.deepEqual([result.text, result.output], ['In Oslo.', { city: 'Oslo', days: 3 }])
    assert.deepEqual(
      stage.requests.map(({ toolChoice }) => toolChoice),
      ['required', 'auto', 'required'],
    )
    await stage.runtime.close()
  })

  test('[C13] of a delegate is what its parent’s model reads, and its failure is an error there', async () => {
    for (const [closing, read] of [
      [fit, '{"city":"Oslo","days":3}'],
      ['no', '{"error":"The model of `leaf` called no `set_output`."}'],
    ] as const) {
      const stage = createStage({
        agents: [
          { id: 'root', subAgents: [{ agent: 'leaf' }] },
          { id: 'leaf', ...draft },
        ],
        plays: {
          root: [call('leaf', { message: 'Where?' }), 'done'],
          leaf: (request) => (isClosing(request) ? closing : 'In Oslo.'),
        },
      })
      assert.equal((await stage.ask('root', 'go')).text, 'done')
      assert.equal(stage.seenBy('root')[1]?.messages.at(-1)?.content, read)
      await stage.runtime.close()
    }
  })

  test('is asked for anew where a message comes while it is requested', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let closings = 0
    const stage = createStage({
      agents: [{ id: 'root', ...draft }],
      plays: {
        root: async (request) => {
          if (!isClosing(request)) return request.messages.length > 3 ? 'In Rome.' : 'In Oslo.'
          closings += 1
          if (closings === 1) await held
          return closings === 1 ? fit : call('set_output', { city: 'Rome' })
        },
      },
    })
    const first = stage.ask('root', 'Where?', { id: 'chats/1' })
    await until(() => closings === 1)
    const second = stage.run('chats/1', { prompt: 'Sure?' })
    await until(async () => (await stage.events('chats/1')).filter(({ type }) => type === 'message').length === 2)
    release()
    for (const result of await Promise.all([first, second])) {
      assert.deepEqual(
        [result.text, result.output, result.earlierAnswers],
        ['In Rome.', { city: 'Rome' }, ['In Oslo.']],
      )
    }
    assert.equal(stage.requests.length, 4)
    await stage.runtime.close()
  })

  test('[D2] is asked for by the next owner where a process ends before it came; the text is not asked for again', async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'witan-'))
    context.after(() => rmSync(folder, { recursive: true }))
    const open = (model: Model) => {
      const store = sqliteStore({ file: join(folder, 'app.db') })
      return createRuntime({ store, agents: [agent('root', draft)], models: { 'play/model': model } })
    }
    const hanging = scriptedModel((request) => (isClosing(request) ? { hang: true } : 'In Oslo.'))
    const first = open(hanging)
    const opened = await first.start({ agent: 'root', id: 'chats/1', prompt: 'Where?' })
    await until(() => hanging.requests.length === 2)
    await first.close()
    const model = scriptedModel((request) => (isClosing(request) ? fit : 'not asked again'))
    const second = open(model)
    const result = await (await second.followRun(opened.run?.runId ?? '')).result
    assert.deepEqual([result.text, result.output], ['In Oslo.', { city: 'Oslo', days: 3 }])
    assert.equal(model.requests.length, 1)
    await second.close()
  })

  test('[D8] streams no text to readers, who keep the answer itself', async () => {
    const words = { deltas: ['beside', ' it'], text: 'beside it', ...fit }
    const stage = createStage({
      agents: [{ id: 'root', ...draft }],
      plays: { root: (request) => (isClosing(request) ? words : { deltas: ['In ', 'Oslo.'] }) },
    })
    const { runtime } = stage
    await runtime.start({ agent: 'root', id: 'chats/1' })
    const stop = new AbortController()
    const texts: string[] = []
    const reading = (async () => {
      for await (const { type, content } of runtime.followEvents('chats/1', { verbose: true, signal: stop.signal })) {
        if (type === 'delta' && 'text' in content) texts.push(content.text)
      }
    })()
    await settle()
    const result = await stage.run('chats/1', { prompt: 'Where?' })
    stop.abort()
    await reading
    assert.deepEqual([result.text, result.output], ['In Oslo.', { city: 'Oslo', days: 3 }])
    assert.equal(texts.join(''), 'In Oslo.')
    assert.ok(!JSON.stringify(await allEvents(runtime, 'chats/1')).includes('beside'))
    await runtime.close()
  })
})
