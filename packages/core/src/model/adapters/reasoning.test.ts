/** Reasoning of models as people read it: separate from the text, in pieces and complete, and only if requested. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { MockLanguageModelV3, MockLanguageModelV4 } from 'ai/test'
import { chunk, createFakeProvider, eventStream, jsonAnswer } from '../../../../../test/support/fake-provider.ts'
import type { Model, ModelReply, ModelRequest } from '../model.ts'
import { ModelCallError } from '../model.ts'
import { aiSdkModel } from './ai-sdk.ts'
import { openaiCompatible } from './openai-compatible.ts'

const request: ModelRequest = {
  messages: [{ role: 'user', content: 'Hi' }],
  tools: [],
  toolChoice: 'none',
  temperature: null,
  reasoningEffort: null,
  output: null,
}

interface Heard {
  readonly pieces: string[]
  reply: ModelReply | null
  error: unknown
}

/** Every piece with its kind in front. */
async function hear(model: Model, { deltas = true, shown = true } = {}): Promise<Heard> {
  const heard: Heard = { pieces: [], reply: null, error: null }
  const options = { signal: new AbortController().signal, deltas, ...(shown ? { reasoning: true as const } : {}) }
  try {
    for await (const part of model.stream(request, options)) {
      if (part.type === 'reply') heard.reply = part.reply
      else heard.pieces.push(`${part.type} ${part.text}`)
    }
  } catch (error) {
    heard.error = error
  }
  return heard
}

const usage = {
  inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: undefined, reasoning: undefined },
}
const finish = { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage } as const

const block = (id: string, ...pieces: string[]): LanguageModelV4StreamPart[] => [
  { type: 'reasoning-start', id },
  ...pieces.map((delta): LanguageModelV4StreamPart => ({ type: 'reasoning-delta', id, delta })),
  { type: 'reasoning-end', id },
]
const said: readonly LanguageModelV4StreamPart[] = [
  ...block('1', 'Let me', '', ' see.'),
  ...block('sealed'),
  ...block('2', 'It rains.'),
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'Yes.' },
  { type: 'text-end', id: '1' },
]

function streaming(parts: readonly LanguageModelV4StreamPart[]): Model {
  const doStream = async () => {
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      start(controller) {
        for (const part of parts) controller.enqueue(part)
        controller.close()
      },
    })
    return { stream }
  }
  return aiSdkModel(new MockLanguageModelV4({ doStream }))
}

test('an AI SDK model’s blocks of reasoning come in pieces and whole, an empty line between them', async () => {
  const { pieces, reply } = await hear(streaming([...said, finish]))
  assert.deepEqual(pieces, ['reasoning Let me', 'reasoning  see.', 'reasoning \n\nIt rains.', 'delta Yes.'])
  assert.deepEqual([reply?.text, reply?.reasoning], ['Yes.', 'Let me see.\n\nIt rains.'])
})

test('a plain call of an AI SDK model has it in the reply', async () => {
  const content = [
    { type: 'reasoning', text: 'Let me see.' },
    { type: 'reasoning', text: '' },
    { type: 'text', text: 'Yes.' },
    { type: 'reasoning', text: 'It rains.' },
  ] as const
  const answer = { content: [...content], finishReason: finish.finishReason, usage, warnings: [] }
  for (const model of [
    aiSdkModel(new MockLanguageModelV4({ doGenerate: answer })),
    aiSdkModel(new MockLanguageModelV3({ doGenerate: answer })),
  ]) {
    const { pieces, reply } = await hear(model, { deltas: false })
    assert.deepEqual([pieces, reply?.text, reply?.reasoning], [[], 'Yes.', 'Let me see.\n\nIt rains.'])
    assert.ok(!('reasoning' in ((await hear(model, { deltas: false, shown: false })).reply ?? assert.fail())))
  }
})

test('where nobody shows it, no adapter yields any, and what goes back to the model is the same', async () => {
  const [off, on] = [
    await hear(streaming([...said, finish]), { shown: false }),
    await hear(streaming([...said, finish])),
  ]
  assert.deepEqual(off.pieces, ['delta Yes.'])
  const { reasoning: _, ...rest } = on.reply ?? assert.fail()
  assert.deepEqual(off.reply, rest)
})

test('a stream that breaks behind reasoning may be tried again, one that breaks behind text may not', async () => {
  for (const [parts, retryable] of [
    [block('1', 'Let me see.'), true],
    [said, false],
  ] as const) {
    const { error } = await hear(streaming(parts))
    assert.ok(error instanceof ModelCallError)
    assert.equal(error.retryable, retryable)
  }
})

/** What a server of chat completions sends, streamed and plain. */
async function serve(deltas: readonly object[], shown = true): Promise<readonly [Heard, Heard]> {
  const whole: Record<string, unknown> = {}
  for (const delta of deltas)
    for (const [key, value] of Object.entries(delta))
      whole[key] = Array.isArray(value)
        ? [...((whole[key] as unknown[] | undefined) ?? []), ...value]
        : `${whole[key] ?? ''}${value}`
  const plain = jsonAnswer({ choices: [{ message: { role: 'assistant', ...whole }, finish_reason: 'stop' }] })
  const provider = await createFakeProvider([
    eventStream([...deltas.map((delta) => chunk(delta)), chunk({}, 'stop')]),
    plain,
  ])
  const model = openaiCompatible({ baseUrl: provider.baseUrl, model: 'm' })
  try {
    return [await hear(model, { shown }), await hear(model, { shown })]
  } finally {
    await provider.close()
  }
}

const together = ({ pieces }: Heard, type: string) =>
  pieces.flatMap((piece) => (piece.startsWith(`${type} `) ? [piece.slice(type.length + 1)] : [])).join('')

test('a chat completion’s reasoning is read from each field that servers send it in, once where they send it in several', async () => {
  const twice = (text: string) => ({ reasoning: text, reasoning_details: [{ type: 'reasoning.text', text, index: 0 }] })
  const ways: readonly (readonly object[])[] = [
    [{ reasoning_content: 'Let me ' }, { reasoning_content: 'see.' }],
    [{ reasoning: 'Let me ' }, { reasoning: 'see.' }],
    [twice('Let me '), twice('see.')],
    [
      {
        reasoning_details: [
          { type: 'reasoning.summary', summary: 'Let me ' },
          { type: 'reasoning.encrypted', data: 'x' },
        ],
      },
      { reasoning_details: [{ type: 'reasoning.text', text: 'see.' }, 7, null] },
    ],
    [
      { reasoning_content: 'Let me ', reasoning: 'Let me ' },
      { reasoning_content: 'see.', reasoning: 'see.' },
    ],
  ]
  for (const way of ways) {
    for (const heard of await serve([...way, { content: 'Yes.' }])) {
      assert.deepEqual([together(heard, 'reasoning'), together(heard, 'delta')], ['Let me see.', 'Yes.'])
      assert.deepEqual([heard.reply?.reasoning, heard.reply?.text], ['Let me see.', 'Yes.'])
    }
    for (const { pieces, reply } of await serve([...way, { content: 'Yes.' }], false)) {
      assert.deepEqual([pieces, reply?.text], [['delta Yes.'], 'Yes.'])
      assert.ok(!('reasoning' in (reply ?? assert.fail())))
    }
  }
})

test('fields that hold no text are no reasoning', async () => {
  const odd = [{ reasoning_content: '' }, { reasoning_details: [{ text: 7 }] }, { reasoning_details: [] }]
  for (const { pieces, reply } of await serve([...odd, { content: 'Yes.' }])) {
    assert.deepEqual(pieces, ['delta Yes.'])
    assert.ok(!('reasoning' in (reply ?? assert.fail())))
  }
})
