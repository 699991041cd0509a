/** The conformance kit of models: what every implementation of `Model` must do. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelUsage } from '@witan/protocol/entries'
import type { ModelMessage } from '../../model/message.ts'
import type { Model, ModelPart, ModelReply, ModelRequest, ModelTool } from '../../model/model.ts'
import { ModelCallError } from '../../model/model.ts'

/** A provider's answer in a neutral form, which the harness translates. */
export type Play =
  | {
      readonly type: 'reply'
      /** The text, in pieces where the provider streams. */
      readonly pieces?: readonly string[]
      readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
      readonly usage?: ModelUsage | null
      readonly finishReason?: ModelReply['finishReason']
    }
  /** Refuses with this status at once. */
  | { readonly type: 'refuse'; readonly status: number; readonly message: string }
  /** Sends the pieces if the provider streams, then hangs. */
  | { readonly type: 'hang'; readonly pieces: readonly string[] }
  /** Sends the pieces, then drops the connection. */
  | { readonly type: 'break'; readonly pieces: readonly string[] }

/** A request that reached the provider, in a neutral form. A field is null if the provider has no such field. */
export interface Asked {
  readonly roles: readonly string[]
  readonly tools: readonly string[]
  readonly toolChoice: string | null
  readonly temperature: number | null
  readonly schema: unknown
}

/** A model under test with its provider. */
export interface ModelUnderTest {
  readonly model: Model
  readonly asked: () => readonly Asked[]
  close(): Promise<void>
}

/** Creates a model whose provider plays these answers in order and repeats the last one. */
export interface ModelHarness {
  readonly name: string
  open(plays: readonly Play[]): Promise<ModelUnderTest>
}

const usage: ModelUsage = { inputTokens: 21, outputTokens: 7, cachedInputTokens: 5, reasoningTokens: 2 }
const messages: readonly ModelMessage[] = [
  { role: 'system', content: 'You are brief.' },
  { role: 'user', content: 'Wie ist das Wetter in Ås? ☔' },
]
const history: readonly ModelMessage[] = [
  ...messages,
  {
    role: 'assistant',
    content: '',
    toolCalls: [
      { id: 'c1', name: 'weather', arguments: '{"city":"Oslo"}' },
      { id: 'c2', name: 'weather', arguments: '{"city":' },
    ],
  },
  { role: 'tool', toolCallId: 'c1', name: 'weather', content: 'rain' },
  { role: 'tool', toolCallId: 'c2', name: 'weather', content: '{"error":"not JSON"}' },
  { role: 'assistant', content: 'Rain.' },
  { role: 'user', content: 'And now?' },
]
const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const
const tools: readonly ModelTool[] = [{ name: 'weather', description: 'Tells the weather.', parameters: schema }]

function requestWith(more: Partial<ModelRequest> = {}): ModelRequest {
  return { messages, tools: [], toolChoice: 'none', temperature: null, reasoningEffort: null, output: null, ...more }
}

interface Outcome {
  readonly deltas: readonly string[]
  readonly replies: readonly ModelReply[]
  readonly last: ModelPart['type'] | null
  readonly error: unknown
}

interface Calling {
  readonly request?: ModelRequest
  readonly deltas?: boolean
  readonly signal?: AbortSignal
  readonly onDelta?: () => void
}

async function callModel(model: Model, calling: Calling = {}): Promise<Outcome> {
  const deltas: string[] = []
  const replies: ModelReply[] = []
  let last: ModelPart['type'] | null = null
  const options = { signal: calling.signal ?? new AbortController().signal, deltas: calling.deltas ?? true }
  try {
    for await (const part of model.stream(calling.request ?? requestWith(), options)) {
      last = part.type
      if (part.type === 'reply') replies.push(part.reply)
      else {
        deltas.push(part.text)
        calling.onDelta?.()
      }
    }
  } catch (error) {
    return { deltas, replies, last, error }
  }
  return { deltas, replies, last, error: null }
}

function onlyReply(outcome: Outcome): ModelReply {
  assert.equal(outcome.error, null)
  assert.equal(outcome.replies.length, 1, 'exactly one reply')
  assert.equal(outcome.last, 'reply', 'the reply is last')
  const [reply] = outcome.replies
  assert.ok(reply)
  return reply
}

/** Registers the tests for one implementation. */
export function testModel(harness: ModelHarness): void {
  const claim = (name: string, plays: readonly Play[], check: (subject: ModelUnderTest) => Promise<void>): void => {
    test(`${harness.name}: ${name}`, async () => {
      const subject = await harness.open(plays)
      try {
        await check(subject)
      } finally {
        await subject.close()
      }
    })
  }
  testReplies(claim)
  testRequests(claim)
  testFailures(claim)
  testAborts(claim)
}

type Claim = (name: string, plays: readonly Play[], check: (subject: ModelUnderTest) => Promise<void>) => void

function testReplies(claim: Claim): void {
  const pieces = ['Re', 'gen ', '☔ und ', 'Wind.']
  claim(
    'the deltas are the text of the reply, which is last and one',
    [{ type: 'reply', pieces, usage }],
    async ({ model }) => {
      const outcome = await callModel(model)
      const reply = onlyReply(outcome)
      assert.equal(reply.text, pieces.join(''))
      assert.equal(outcome.deltas.join(''), reply.text)
      assert.ok(outcome.deltas.every((text) => text !== ''))
      assert.equal(reply.finishReason, 'stop')
      assert.deepEqual(reply.toolCalls, [])
    },
  )
  claim(
    'without a reader the reply is whole, and deltas, if any come, are its text',
    [{ type: 'reply', pieces, usage }],
    async ({ model }) => {
      const outcome = await callModel(model, { deltas: false })
      assert.equal(onlyReply(outcome).text, pieces.join(''))
      assert.ok(outcome.deltas.length === 0 || outcome.deltas.join('') === pieces.join(''))
    },
  )
  const toolCalls = [
    { id: 'a', name: 'weather', arguments: '{"city":"Oslo"}' },
    { id: 'b', name: 'weather', arguments: '{"city":"Ås"}' },
  ]
  for (const deltas of [true, false]) {
    const mode = deltas ? 'with deltas' : 'without deltas'
    claim(
      `tool calls come whole and in order, ${mode}`,
      [{ type: 'reply', pieces: ['One moment.'], toolCalls }],
      async (subject) => {
        const request = requestWith({ tools, toolChoice: 'auto' })
        const reply = onlyReply(await callModel(subject.model, { request, deltas }))
        assert.deepEqual(reply.toolCalls, toolCalls)
        assert.equal(reply.text, 'One moment.')
        assert.equal(reply.finishReason, 'tool_calls')
      },
    )
    claim(`usage is told, ${mode}`, [{ type: 'reply', pieces, usage }], async ({ model }) => {
      assert.deepEqual(onlyReply(await callModel(model, { deltas })).usage, usage)
    })
    claim(
      `usage that is unknown is not counted as 0 [E83], ${mode}`,
      [{ type: 'reply', pieces, usage: null }],
      async ({ model }) => {
        const { usage: told } = onlyReply(await callModel(model, { deltas }))
        assert.equal(told?.inputTokens ?? null, null)
        assert.equal(told?.outputTokens ?? null, null)
      },
    )
  }
  for (const finishReason of ['length', 'content_filter'] as const) {
    claim(
      `a reply that ended by ${finishReason} says so`,
      [{ type: 'reply', pieces, finishReason }],
      async ({ model }) => {
        assert.equal(onlyReply(await callModel(model)).finishReason, finishReason)
      },
    )
  }
  claim('an empty reply is a reply', [{ type: 'reply', usage }], async ({ model }) => {
    const reply = onlyReply(await callModel(model))
    assert.deepEqual([reply.text, reply.toolCalls], ['', []])
  })
}

function testRequests(claim: Claim): void {
  const fine: readonly Play[] = [{ type: 'reply', pieces: ['Fine.'] }]
  for (const toolChoice of ['auto', 'required', 'none'] as const) {
    claim(`the tool choice ${toolChoice} reaches the provider [T12]`, fine, async ({ model, asked }) => {
      await callModel(model, { request: requestWith({ tools, toolChoice }) })
      const [seen] = asked()
      assert.deepEqual([seen?.toolChoice, seen?.tools], [toolChoice, ['weather']])
    })
  }
  claim('a temperature is sent only when it is set', fine, async ({ model, asked }) => {
    await callModel(model)
    await callModel(model, { request: requestWith({ temperature: 0 }) })
    assert.deepEqual(
      asked().map((seen) => seen.temperature),
      [null, 0],
    )
  })
  claim('an output schema reaches the provider', fine, async ({ model, asked }) => {
    await callModel(model, { request: requestWith({ output: { name: 'place', schema } }) })
    assert.deepEqual(asked()[0]?.schema, schema)
  })
  claim(
    'a history with calls, broken arguments and results is accepted and left as it is',
    fine,
    async ({ model, asked }) => {
      const before = JSON.stringify(history)
      const request = requestWith({ messages: history, tools, toolChoice: 'auto' })
      for (const deltas of [true, false]) onlyReply(await callModel(model, { request, deltas }))
      assert.equal(JSON.stringify(history), before)
      const roles = asked()[0]?.roles.filter((role, at, all) => role !== 'tool' || all[at - 1] !== 'tool')
      assert.deepEqual(roles, ['system', 'user', 'assistant', 'tool', 'assistant', 'user'])
    },
  )
}

function testFailures(claim: Claim): void {
  const refusals: readonly (readonly [number, boolean])[] = [
    [400, false],
    [401, false],
    [404, false],
    [408, true],
    [409, true],
    [429, true],
    [500, true],
    [503, true],
  ]
  for (const [status, retryable] of refusals) {
    for (const deltas of [true, false]) {
      const name = `status ${status} is ${retryable ? '' : 'not '}retryable, ${deltas ? 'with' : 'without'} deltas`
      claim(name, [{ type: 'refuse', status, message: 'Not today.' }], async ({ model, asked }) => {
        const { error, deltas: seen } = await callModel(model, { deltas })
        assert.ok(error instanceof ModelCallError)
        assert.deepEqual([error.status, error.retryable, seen.length], [status, retryable, 0])
        assert.match(error.message, /Not today\./)
        assert.equal(asked().length, 1, 'a model never retries by itself')
      })
    }
  }
  claim(
    'a reply that breaks off after text is an error that is not retried',
    [{ type: 'break', pieces: ['Half a '] }],
    async (subject) => {
      const outcome = await callModel(subject.model)
      assert.ok(outcome.error instanceof ModelCallError)
      assert.deepEqual(
        [outcome.deltas.join(''), outcome.replies.length, outcome.error.retryable],
        ['Half a ', 0, false],
      )
    },
  )
}

function testAborts(claim: Claim): void {
  const hang: readonly Play[] = [{ type: 'hang', pieces: ['Let me '] }]
  for (const deltas of [true, false]) {
    const mode = deltas ? 'with deltas' : 'without deltas'
    claim(`an abort before the call makes none, ${mode}`, hang, async ({ model, asked }) => {
      const reason = new Error('stop')
      const outcome = await callModel(model, { signal: AbortSignal.abort(reason), deltas })
      assert.equal(outcome.error, reason)
      assert.equal(asked().length, 0)
    })
  }
  claim('an abort in the middle ends the call with the reason of the signal', hang, async ({ model }) => {
    const controller = new AbortController()
    const reason = new Error('stop')
    const outcome = await callModel(model, {
      signal: controller.signal,
      onDelta: () => setImmediate(() => controller.abort(reason)),
    })
    assert.equal(outcome.error, reason)
    assert.equal(outcome.deltas.join(''), 'Let me ')
  })
  claim('an abort ends a call that nobody reads deltas of', hang, async ({ model }) => {
    const controller = new AbortController()
    const reason = new Error('stop')
    setTimeout(() => controller.abort(reason), 20)
    assert.equal((await callModel(model, { signal: controller.signal, deltas: false })).error, reason)
  })
  claim('a reader may leave in the middle', hang, async ({ model }) => {
    const stream = model.stream(requestWith(), { signal: new AbortController().signal, deltas: true })
    for await (const part of stream) {
      assert.equal(part.type, 'delta')
      break
    }
  })
}
