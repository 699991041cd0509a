/** Tool modes and the structured answer by a tool, as a client sees them and as a played model is asked for them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Seen } from './support/exchange.ts'
import { createGate } from './support/model-server.ts'
import { agent, createStage, type Stage, segment, sub, until } from './support/stage.ts'
import { toolContents } from './support/transcript.ts'
import type { Problem, RunResult } from './support/wire.ts'

let stage: Stage
before(async () => {
  stage = await createStage({ store: 'file' })
})
after(() => stage?.close())

const choices = (model: string) => stage.model.of(model).map(({ body }) => body.tool_choice ?? null)
const offered = (seen: Seen | undefined) => (seen?.body.tools ?? []).map((tool) => tool.function.name)
const actions = [{ name: 'Ask', description: 'Asks.', parametersSample: {} }]
const endIt = { calls: [{ name: 'end_tool_mode', args: {} }] }
const outputSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city'],
  additionalProperties: false,
}

async function notices(conversation: string): Promise<unknown[]> {
  const events = await stage.events(conversation)
  return events.filter(({ type }) => type === 'notice').map(({ content }) => (content as { code: string }).code)
}

describe('tool modes', () => {
  test('[C37] [E86] [T12] a force mode that answers in text is asked once more, then fails', async () => {
    await stage.save(agent('stubborn', { toolMode: 'force', actions }))
    stage.model.script('stubborn', { text: 'No.' }, { text: 'Still no.' })
    const run = await stage.ask('stubborn', 'hello')
    assert.deepEqual([run.status, run.error?.code], ['failed', 'MODEL_REPLY_INVALID'])
    assert.deepEqual(choices('stubborn'), ['required', 'required'])
  })

  test('[Tb09] `end_tool_mode` is offered with `endToolMode`, and ends the force without an iteration', async () => {
    const limits = { maxIterations: 2 }
    const helper = agent('ended-helper')
    await stage.save(
      helper,
      agent('ended', { toolMode: 'force', endToolMode: true, limits, subAgents: [sub(helper.id)] }),
    )
    const ask = { calls: [{ name: helper.id, args: { message: 'm' } }] }
    stage.model.on(helper.id, () => ({ text: 'helped' }))
    stage.model.script('ended', ask, endIt, ask, { text: 'done' })
    const run = await stage.ask('ended', 'hello')
    assert.deepEqual([run.text, run.finishReason], ['done', 'iteration_limit'])
    assert.deepEqual(choices('ended'), ['required', 'required', 'auto', 'none'])
    for (const seen of stage.model.of('ended')) assert.ok(offered(seen).includes(helper.id))
    assert.ok(offered(stage.model.of('ended')[0]).includes('end_tool_mode'))
    assert.deepEqual(await notices(run.conversationId), ['TOOL_MODE_ENDED'])
  })

  test('[E25] `none` wins over `force` in the answer call, and the tools stay in the request', async () => {
    await stage.save(agent('last-helper'))
    await stage.save(
      agent('last', { toolMode: 'force', limits: { maxIterations: 1 }, subAgents: [sub('last-helper')] }),
    )
    stage.model.on('last-helper', () => ({ text: 'helped' }))
    stage.model.script('last', { calls: [{ name: 'last-helper', args: { message: 'm' } }] }, { text: 'done' })
    assert.equal((await stage.ask('last', 'hello')).finishReason, 'iteration_limit')
    assert.deepEqual(choices('last'), ['required', 'none'])
    assert.deepEqual(...(stage.model.of('last').map(offered) as [unknown, unknown]))
  })

  test('[T12] a run names the mode of its root’s call; only a prompt may', async () => {
    await stage.save(agent('per-run', { actions }))
    stage.model.script('per-run', { text: 'one' }, { text: 'two' }, { calls: [{ name: 'Ask' }] }, { text: 'three' })
    const { id } = await stage.begin('per-run')
    for (const toolMode of ['none', null] as const) await stage.run(id, { prompt: 'go', toolMode })
    const waiting = await stage.run(id, { prompt: 'go', toolMode: 'force' })
    assert.equal(waiting.status, 'waiting')
    const refused = async (body: Record<string, unknown>, status: number) => {
      const answer = await stage.runAnswer<Problem>(id, body)
      assert.deepEqual([answer.status, answer.body.path], [status, 'toolMode'], answer.text)
    }
    const actionResponses = [{ id: waiting.interruptions[0]?.id, response: 'ok' }]
    await refused({ prompt: 'go', toolMode: 'always' }, 422)
    await refused({ actionResponses, toolMode: 'auto' }, 400)
    await refused({ prompt: 'go', toolMode: 'none', cancelPendingActions: true }, 409)
    assert.equal((await stage.run(id, { actionResponses })).text, 'three')
    assert.deepEqual(choices('per-run'), ['none', 'auto', 'required', 'auto'])
  })

  test('`TOOL_MODE_WITHOUT_TOOLS` warns at a save', async () => {
    const answer = await stage.witan.call<{ warnings: { code: string }[] }>('PUT', '/api/v1/agents/tool-less', {
      body: agent('tool-less', { toolMode: 'force' }),
    })
    assert.deepEqual(
      answer.body.warnings.map(({ code }) => code),
      ['TOOL_MODE_WITHOUT_TOOLS'],
    )
  })
})

describe('[Tb10] `outputMode: tool`', () => {
  const structured = { outputMode: 'tool', outputSchema }
  const give = (args: unknown) => ({ calls: [{ name: 'set_output', args }] })

  test('asks for the last answer by one forced call, on a copy of the history', async () => {
    await stage.save(agent('by-tool', structured))
    stage.model.script(
      'by-tool',
      { text: 'In Oslo.' },
      give({ city: 'Oslo', days: 3 }),
      { text: 'Later.' },
      give({ city: 'x' }),
    )
    const run = await stage.ask('by-tool', 'Where?')
    assert.deepEqual([run.text, run.output, run.usage.modelCalls], ['In Oslo.', { city: 'Oslo', days: 3 }, 2])
    const [first, second] = stage.model.of('by-tool')
    assert.equal(first?.body.response_format, undefined)
    assert.equal(first?.body.tools, undefined)
    assert.deepEqual([second?.body.tool_choice, offered(second)], ['required', ['set_output']])
    assert.deepEqual(second?.body.messages.slice(0, 3), [
      ...(first?.body.messages ?? []),
      { role: 'assistant', content: 'In Oslo.' },
    ])
    await stage.run(run.conversationId, { prompt: 'When?' })
    assert.deepEqual(
      stage.model.of('by-tool')[2]?.body.messages.map(({ content }) => content),
      ['You are by-tool.', 'Where?', 'In Oslo.', 'When?'],
    )
    const { messages } = await stage.document(run.conversationId)
    assert.equal(messages.length, 4)
  })

  test('asks again for arguments that do not fit, and fails after the second mistake', async () => {
    await stage.save(agent('mending', structured), agent('hopeless', structured))
    stage.model.script('mending', { text: 'In Oslo.' }, give({ days: 'three' }), give({ city: 'Oslo' }))
    stage.model.script('hopeless', { text: 'In Oslo.' }, { text: '{"city":"Oslo"}' }, give([]))
    assert.deepEqual((await stage.ask('mending', 'Where?')).output, { city: 'Oslo' })
    const [told] = toolContents(stage.model.of('mending')[2])
    assert.match(told ?? '', /city/)
    const failed = await stage.ask('hopeless', 'Where?')
    assert.deepEqual([failed.status, failed.error?.code, failed.output], ['failed', 'MODEL_REPLY_INVALID', null])
  })

  test('[C13] gives a delegate’s output to its parent, and counts as no iteration', async () => {
    await stage.save(
      agent('wants', { subAgents: [sub('typed')], limits: { maxModelIterationsPerCall: 2 } }),
      agent('typed', { ...structured, limits: { maxIterations: 1 }, onExhausted: 'error' }),
    )
    stage.model.script('wants', { calls: [{ name: 'typed', args: { message: 'm' } }] }, { text: 'done' })
    stage.model.script('typed', { text: 'In Oslo.' }, give({ city: 'Oslo' }))
    assert.equal((await stage.ask('wants', 'hello')).text, 'done')
    assert.deepEqual(toolContents(stage.model.of('wants')[1]), ['{"city":"Oslo"}'])
  })

  test('[I1] goes on after a kill: between the text and the output, and after the end of the tool mode', async () => {
    const gate = createGate()
    await stage.save(agent('killed', { ...structured, toolMode: 'force', endToolMode: true, actions }))
    let asked = 0
    stage.model.on('killed', ({ body }) => {
      const tools = (body.tools ?? []).map((tool) => tool.function.name)
      if (body.tool_choice === 'auto') return { text: 'In Oslo.' }
      if (!tools.includes('set_output')) return endIt
      asked += 1
      return asked === 1 ? { ...give({ city: 'lost' }), hold: gate } : give({ city: 'Oslo' })
    })
    const { id } = await stage.begin('killed')
    await stage.runAnswer(id, { prompt: 'Where?', wait: false })
    await gate.entered
    // The text is stored by then, or the request for its other form could not have been made from a stored history.
    await until(
      () => stage.events(id),
      (events) => events.filter(({ type, kind }) => type === 'end' && kind === 'model').length === 2,
    )
    await stage.witan.kill()
    gate.open()
    await stage.witan.start()
    const [line] = (await stage.conversation(id)).runs
    const state = await until(
      async () =>
        (await stage.witan.call<{ result: RunResult | null }>('GET', `/api/v1/runs/${segment(line?.runId ?? '')}`))
          .body,
      ({ result }) => result !== null,
    )
    assert.deepEqual([state.result?.text, state.result?.output], ['In Oslo.', { city: 'Oslo' }])
    assert.deepEqual(choices('killed'), ['required', 'auto', 'required', 'required'])
  })
})
