/** Tool modes: of an agent, of a run; forced until the first call or until the model ends it; none in every last answer. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRuntime, defineTool, memoryStore, type ModelRequest, type Runtime } from '@witan/core'
import { call, countedIds, type ScriptedReply, scriptedModel } from '@witan/core/testing'
import { z } from 'zod'
import { fakeClock } from '../support/clock.ts'
import { outliving } from '../support/reopen.ts'
import { type AgentDraft, agent, allEvents, createStage, type Play, until } from '../support/stage.ts'

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  parameters: z.object({}),
  effect: 'none',
  execute: () => 'seen',
})
const end = call('end_tool_mode')
const both = (...names: string[]): ScriptedReply => ({
  toolCalls: names.map((name) => ({ name, arguments: {} })),
})

/** One agent with one tool. */
function staged(draft: Omit<AgentDraft, 'id'>, plays: Play) {
  const stage = createStage({
    agents: [{ id: 'root', tools: ['look'], ...draft }],
    plays: { root: plays },
    options: { tools: [look] },
  })
  const choices = () => stage.requests.map(({ toolChoice }) => toolChoice)
  const offered = () => stage.requests.map(({ tools }) => tools.map(({ name }) => name))
  return { ...stage, choices, offered }
}

async function noticesOf(runtime: Runtime, id: string): Promise<readonly string[]> {
  const events = await allEvents(runtime, id)
  return events.flatMap(({ type, content }) => (type === 'notice' ? [String(content.code)] : []))
}

describe('[Tb09] `force` with `endToolMode`', () => {
  const forced: Omit<AgentDraft, 'id'> = { toolMode: 'force', endToolMode: true }

  test('offers `end_tool_mode` and holds over every call until the model calls it', async () => {
    const { ask, choices, offered, runtime, requests } = staged(forced, [call('look'), call('look'), end, 'done'])
    const result = await ask('root', 'go', { id: 'chats/1' })
    assert.equal(result.text, 'done')
    assert.deepEqual(choices(), ['required', 'required', 'required', 'auto'])
    assert.deepEqual(offered(), Array(4).fill(['look', 'end_tool_mode']))
    assert.equal(requests[3]?.messages.at(-1)?.content, '{"status":"ok"}')
    assert.deepEqual(requests[0]?.tools[1]?.parameters, { type: 'object', properties: {}, additionalProperties: false })
    assert.deepEqual(await noticesOf(runtime, 'chats/1'), ['TOOL_MODE_ENDED'])
    assert.equal(result.usage.modelCalls, 4)
    await runtime.close()
  })

  test('takes nothing from `maxIterations` where the model only ends it', async () => {
    const limits = { maxIterations: 2 }
    const { ask, choices, runtime } = staged({ ...forced, limits }, [end, call('look'), call('look'), 'done'])
    const result = await ask('root', 'go')
    assert.deepEqual([result.text, result.finishReason], ['done', 'iteration_limit'])
    assert.deepEqual(choices(), ['required', 'auto', 'auto', 'none'])
    await runtime.close()
  })

  test('is ended beside other calls too, and that reply is an iteration', async () => {
    const limits = { maxIterations: 2 }
    const plays = [both('look', 'end_tool_mode'), call('look'), 'done']
    const { ask, choices, runtime } = staged({ ...forced, limits }, plays)
    const result = await ask('root', 'go')
    assert.equal(result.finishReason, 'iteration_limit')
    assert.deepEqual(choices(), ['required', 'auto', 'none'])
    await runtime.close()
  })

  test('is ended once: a model that ends it again and again spends its iterations', async () => {
    const { ask, choices, runtime } = staged({ ...forced, limits: { maxIterations: 3 } }, ({ toolChoice }) =>
      toolChoice === 'none' ? 'enough' : end,
    )
    const result = await ask('root', 'go', { id: 'chats/1' })
    assert.deepEqual([result.text, result.finishReason], ['enough', 'iteration_limit'])
    assert.deepEqual(choices(), ['required', 'auto', 'auto', 'auto', 'none'])
    assert.deepEqual(await noticesOf(runtime, 'chats/1'), ['TOOL_MODE_ENDED'])
    await runtime.close()
  })

  test('counts as a model call: `maxModelCalls` holds', async () => {
    const { ask, runtime } = staged({ ...forced, limits: { maxModelCalls: 2 } }, [end, call('look'), 'done'])
    const result = await ask('root', 'go')
    assert.equal(result.error?.code, 'BUDGET_EXCEEDED')
    await runtime.close()
  })

  test('begins anew with the next run, whose model reads that it ended before', async () => {
    const { ask, run, choices, runtime } = staged(forced, ({ messages }) =>
      messages.at(-1)?.role === 'user' ? end : 'done',
    )
    await ask('root', 'go', { id: 'chats/1' })
    await run('chats/1', { prompt: 'again' })
    assert.deepEqual(choices(), ['required', 'auto', 'required', 'auto'])
    await runtime.close()
  })

  test('is not offered alone: an agent without tools answers in text', async () => {
    const { ask, choices, offered, runtime } = staged({ ...forced, tools: [] }, ['done'])
    assert.equal((await ask('root', 'go')).text, 'done')
    assert.deepEqual([choices(), offered()], [['none'], [[]]])
    await runtime.close()
  })
})

describe('[T12] a tool mode', () => {
  test('[C37] `force` without `endToolMode` holds until the first tool call, and a call of `end_tool_mode` is unknown', async () => {
    const { ask, choices, requests, runtime } = staged({ toolMode: 'force' }, [end, 'done'])
    assert.equal((await ask('root', 'go')).text, 'done')
    assert.deepEqual(choices(), ['required', 'auto'])
    assert.match(requests[1]?.messages.at(-1)?.content ?? '', /unknown tool end_tool_mode/)
    await runtime.close()
  })

  test('of a run stands in place of the agent’s own, for the root’s call in that run alone', async () => {
    const stage = createStage({
      agents: [
        { id: 'root', tools: ['look'], subAgents: [{ agent: 'leaf' }] },
        { id: 'leaf', tools: ['look'] },
      ],
      plays: { root: [call('leaf', { message: 'go' }), 'done'], leaf: ['from leaf'] },
      options: { tools: [look] },
    })
    const { runtime } = stage
    const { id } = await runtime.start({ agent: 'root', id: 'chats/1' })
    await stage.run(id, { prompt: 'one', toolMode: 'force' })
    await stage.run(id, { prompt: 'two', toolMode: null })
    const of = (agent: string) => stage.seenBy(agent).map(({ toolChoice }) => toolChoice)
    assert.deepEqual(of('root'), ['required', 'auto', 'auto', 'auto'])
    assert.deepEqual(of('leaf'), ['auto', 'auto'])
    const starts = (await allEvents(runtime, id)).filter(({ type, kind }) => type === 'start' && kind === 'agent')
    assert.deepEqual(
      starts.map(({ content }) => ('overrides' in content ? content.overrides : null)),
      [{ toolMode: 'force' }, null, null, null],
    )
    await runtime.close()
  })

  test('of a run may also take the force away, or bring `end_tool_mode`', async () => {
    const { runtime, run, choices, offered } = staged({ toolMode: 'force', endToolMode: true }, ({ toolChoice }) =>
      toolChoice === 'required' ? end : 'done',
    )
    const { id } = await runtime.start({ agent: 'root', id: 'chats/1' })
    for (const toolMode of ['auto', 'none', 'force']) await run(id, { prompt: toolMode, toolMode })
    assert.deepEqual(choices(), ['auto', 'none', 'required', 'auto'])
    assert.deepEqual(
      offered().map((names) => names.length),
      [1, 1, 2, 2],
    )
    await runtime.close()
  })

  test('of a run is refused where no run begins', async () => {
    const { runtime, run } = staged({ actions: [{ name: 'Ask' }] }, ({ messages }) =>
      messages.at(-1)?.content === 'go' ? call('Ask') : 'done',
    )
    const { id } = await runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
    const refused = (body: Record<string, unknown>, code: string) =>
      assert.rejects(run(id, body), (error: { code?: string; path?: string }) => {
        assert.deepEqual([error.code, error.path], [code, 'toolMode'])
        return true
      })
    await refused({ prompt: 'x', toolMode: 'some' }, 'BODY_INVALID')
    await refused({ answers: [{ id: 'i', answer: 1 }], toolMode: 'auto' }, 'RUN_INPUT_INVALID')
    await refused({ prompt: 'x', toolMode: 'force', cancelPendingActions: true }, 'RUN_ACTIVE')
    const joined = await run(id, { prompt: 'x', toolMode: 'auto', cancelPendingActions: true })
    assert.equal(joined.text, 'done', 'the mode that the run has anyway')
    await runtime.close()
  })

  test('`none` holds for the reply too: a call is not run, and the text is the answer', async () => {
    let ran = 0
    const stage = createStage({
      agents: [{ id: 'root', tools: ['count'], toolMode: 'none' }],
      plays: { root: [{ text: 'In words.', ...call('count') }] },
      options: {
        tools: [
          defineTool({
            name: 'count',
            description: 'Counts.',
            parameters: z.object({}),
            effect: 'none',
            execute: () => ++ran,
          }),
        ],
      },
    })
    const result = await stage.ask('root', 'go', { id: 'chats/1' })
    assert.deepEqual([result.text, result.finishReason, ran], ['In words.', 'stop', 0])
    const errors = (await stage.events('chats/1')).filter(({ type }) => type === 'error')
    assert.equal(errors.length, 1)
    await stage.runtime.close()
  })
})

test('[E25] `none` wins over `force` in a last answer, and the tools stay in the request', async () => {
  for (const endToolMode of [false, true]) {
    const draft = { toolMode: 'force', endToolMode, limits: { maxIterations: 1 } } as const
    const { ask, choices, offered, runtime } = staged(draft, [call('look'), 'my answer'])
    const result = await ask('root', 'go')
    assert.deepEqual([result.text, result.finishReason], ['my answer', 'iteration_limit'])
    assert.deepEqual(choices(), ['required', 'none'])
    const [first, last] = offered()
    assert.deepEqual(first, last)
    await runtime.close()
  }
})

test('[D3] [Tb09] [Tb10] a restart at any model call changes neither what is asked nor what comes of it', async () => {
  const script = [
    call('look'),
    end,
    call('look'),
    'In words.',
    call('set_output', { n: 'x' }),
    call('set_output', { n: 1 }),
  ]
  const outputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
  const draft: Omit<AgentDraft, 'id'> = {
    tools: ['look'],
    toolMode: 'force',
    endToolMode: true,
    outputMode: 'tool',
    outputSchema,
    limits: { maxIterations: 4 },
  }
  async function play(stopAt: number) {
    const clock = fakeClock()
    const store = outliving(memoryStore({ now: clock.now }))
    const asked: ModelRequest[] = []
    let isStopped = false
    const model = scriptedModel((request) => {
      if (asked.length === stopAt && !isStopped) return { hang: true }
      asked.push(request)
      return script[asked.length - 1]
    })
    const ids = countedIds()
    const open = () => {
      const agents = [agent('root', draft)]
      return createRuntime({ store, clock, ids, agents, tools: [look], models: { 'play/model': model } })
    }
    const first = open()
    const { run } = await first.start({ agent: 'root', id: 'chats/1', prompt: 'go', parameters: {} })
    if (stopAt < script.length) await until(() => model.requests.length === stopAt + 1)
    else await run?.result
    isStopped = true
    await first.close()
    const second = open()
    const result = await (await second.followRun(run?.runId ?? '')).result
    const { messages } = await second.getDocument('chats/1')
    await second.close()
    const { status, text, output, finishReason } = result
    const requests = asked.map(({ messages: read, tools, toolChoice }) => ({ read, tools, toolChoice }))
    return JSON.parse(
      JSON.stringify({
        result: { status, text, output, finishReason, modelCalls: result.usage.modelCalls },
        requests,
        said: messages.map((message) => [message.text, message.toolCalls.map(({ name }) => name)]),
      }),
    ) as { readonly result: unknown; readonly requests: readonly { readonly toolChoice: string }[] }
  }
  const whole = await play(script.length)
  assert.deepEqual(whole.result, {
    status: 'completed',
    text: 'In words.',
    output: { n: 1 },
    finishReason: 'stop',
    modelCalls: 6,
  })
  assert.deepEqual(
    whole.requests.map(({ toolChoice }) => toolChoice),
    ['required', 'required', 'auto', 'auto', 'required', 'required'],
  )
  for (let stopAt = 0; stopAt < script.length; stopAt += 1) assert.deepEqual(await play(stopAt), whole, `${stopAt}`)
})
