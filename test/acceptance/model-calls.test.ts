/** Model calls over HTTP: the body on the wire and the computed request say the same, large ones are bounded, and others get 404. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ChatRequest } from './support/exchange.ts'
import { agent, createStage, type Stage, segment, sub } from './support/stage.ts'

let stage: Stage
before(async () => {
  stage = await createStage({ store: 'file' })
})
after(() => stage?.close())

interface ModelCall {
  readonly id: string
  readonly agent: string
  readonly messages: number
  readonly leftOut?: number
  readonly exact: boolean | null
  readonly readUpTo: number | null
  readonly request: {
    readonly messages: readonly {
      readonly role: string
      readonly content: string
      readonly toolCallId?: string
      readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
    }[]
    readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: unknown }[]
    readonly toolChoice: string
    readonly temperature: number | null
    readonly reasoningEffort: string | null
    readonly maxOutputTokens: number | null
    readonly output: { readonly name: string; readonly schema: unknown } | null
  }
  readonly reply: { readonly text: string } | null
}

const at = (conversation: string) => `/api/v1/conversations/${segment(conversation)}`

async function read<Body>(path: string): Promise<Body> {
  const answer = await stage.witan.call('GET', path)
  assert.equal(answer.status, 200, JSON.stringify(answer.body).slice(0, 500))
  return answer.body as Body
}

async function modelCalls(conversation: string): Promise<readonly ModelCall[]> {
  const { items } = await read<{ items: readonly { id: string }[] }>(`${at(conversation)}/model-calls`)
  return Promise.all(items.map(({ id }) => read<ModelCall>(`${at(conversation)}/model-calls/${id}`)))
}

/** A computed request as chat completions have it. */
function onTheWire({ request }: ModelCall): Record<string, unknown> {
  const { messages, tools, toolChoice, temperature, reasoningEffort, maxOutputTokens, output } = request
  return {
    messages: messages.map(({ role, content, toolCallId, toolCalls }) => {
      if (role === 'tool') return { role, tool_call_id: toolCallId, content }
      if (toolCalls === undefined) return { role, content }
      const calls = toolCalls.map((one) => ({
        id: one.id,
        type: 'function',
        function: { name: one.name, arguments: one.arguments },
      }))
      return { role, content: content === '' ? null : content, tool_calls: calls }
    }),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map((one) => ({ type: 'function', function: one })),
          tool_choice: toolChoice,
        }),
    ...(temperature === null ? {} : { temperature }),
    ...(reasoningEffort === null ? {} : { reasoning_effort: reasoningEffort }),
    ...(maxOutputTokens === null ? {} : { max_tokens: maxOutputTokens }),
    ...(output === null ? {} : { output }),
  }
}

/** The body of a request without what the connection adds. */
function asked(body: ChatRequest): Record<string, unknown> {
  const {
    model: _,
    stream: __,
    stream_options: ___,
    response_format: format,
    ...rest
  } = body as ChatRequest & {
    readonly stream?: unknown
    readonly stream_options?: unknown
    readonly response_format?: { readonly json_schema: { readonly name: string; readonly schema: unknown } }
  }
  if (format === undefined) return rest
  const { name, schema } = format.json_schema
  return { ...rest, output: { name, schema } }
}

describe('model calls over HTTP', () => {
  test('the body on the wire has the same messages, tools and settings', async () => {
    const outputSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    await stage.save(
      agent('mc-leaf', { temperature: 0.2, outputSchema }),
      agent('mc-desk', { reasoningEffort: 'low' }),
      agent('mc-boss', {
        subAgents: [sub('mc-leaf')],
        transfers: [{ agent: 'mc-desk' }],
        maxOutputTokens: 500,
        parameters: [{ name: 'city' }],
      }),
    )
    stage.model.script(
      'mc-boss',
      { text: 'let me ask', calls: [{ name: 'mc-leaf', args: { message: 'where?' } }] },
      { calls: [{ name: 'transfer_to_agent', args: { agent_name: 'mc-desk' } }] },
    )
    stage.model.script('mc-leaf', { text: '{"city":"Oslo"}' })
    stage.model.script('mc-desk', { text: 'done' })
    const { conversationId } = await stage.ask('mc-boss', 'hello', { parameters: { city: 'Oslo' } })
    const calls = await modelCalls(conversationId)
    assert.deepEqual(
      calls.map((one) => one.agent),
      ['mc-boss', 'mc-leaf', 'mc-boss', 'mc-desk'],
    )
    for (const id of ['mc-boss', 'mc-leaf', 'mc-desk']) {
      const computed = calls.filter((one) => one.agent === id)
      assert.deepEqual(
        computed.map(onTheWire),
        stage.model.of(id).map(({ body }) => asked(body)),
        id,
      )
      for (const { exact } of computed) assert.equal(exact, true)
    }
  })

  test('one answer has at most 4 MiB: the oldest messages are left out, and counted', async () => {
    await stage.save(agent('mc-large'))
    stage.model.on('mc-large', () => ({ text: 'read' }))
    const prompt = 'a line of 64 characters, which somebody has pasted here again …\n'.repeat(14_000)
    const { conversationId } = await stage.ask('mc-large', `1 ${prompt}`)
    for (const number of [2, 3, 4, 5, 6]) await stage.run(conversationId, { prompt: `${number} ${prompt}` })
    const calls = await modelCalls(conversationId)
    for (const [index, one] of calls.entries()) {
      assert.ok(JSON.stringify(one).length <= 4 * 1_048_576)
      const got = stage.model.of('mc-large')[index]?.body.messages ?? []
      const { leftOut = 0 } = one
      assert.equal(one.messages, got.length)
      assert.deepEqual(one.request.messages, got.slice(leftOut), 'what is left is what was asked')
      assert.equal(leftOut > 0, index > 3)
    }
  })

  test('for other roles, and of other conversations, there is nothing', async () => {
    await stage.save(agent('mc-small'))
    stage.model.on('mc-small', () => ({ text: 'read' }))
    const { conversationId } = await stage.ask('mc-small', 'go')
    const [one] = await modelCalls(conversationId)
    const { items } = await read<{ items: readonly unknown[] }>(`${at(conversationId)}/readers?seq=1`)
    assert.equal(items.length, 1)
    for (const [path, status] of [
      [`${at(conversationId)}/model-calls/999`, 404],
      [`${at('chats/none')}/model-calls`, 404],
      [`${at('chats/none')}/model-calls/${one?.id}`, 404],
      [`${at(conversationId)}/readers?seq=999`, 404],
      [`${at(conversationId)}/readers?seq=0`, 400],
      [`${at(conversationId)}/readers`, 400],
      [`${at(conversationId)}/model-calls?limit=0`, 422],
      [`${at(conversationId)}/model-calls?cursor=none`, 422],
      [`${at(conversationId)}/model-calls?agent=x`, 422],
    ] as const)
      assert.equal((await stage.witan.call('GET', path)).status, status, path)
  })
})
