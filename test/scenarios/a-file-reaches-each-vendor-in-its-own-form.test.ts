/** Files through the real packages of the AI SDK, and through our own adapter: what each vendor's request holds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createMistral } from '@ai-sdk/mistral'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { type AiSdkLanguageModel, aiSdkModel, createRuntime, type Model, openaiCompatible } from '@witan/core'
import type { Prompt } from '@witan/protocol'

type Fetch = typeof fetch
const data = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64')
const pdf = btoa('%PDF-1.7')
const prompt: Exclude<Prompt, string> = [
  { type: 'text', text: 'Look.' },
  { type: 'file', mediaType: 'image/png', data, name: 'a.png' },
  { type: 'file', mediaType: 'application/pdf', data: pdf, name: 'b.pdf' },
]
const words = 'Look.\n[file "a.png", image/png, 8 bytes]\n[file "b.pdf", application/pdf, 8 bytes]'

/** The body that the vendor was sent; every request is refused, because only the request counts. */
async function bodyOf(make: (fetch: Fetch) => Model): Promise<Record<string, unknown>> {
  const bodies: Record<string, unknown>[] = []
  const model = make(async (_url, init) => {
    bodies.push(JSON.parse(String(init?.body)))
    return Response.json({ error: { message: 'only looked at' } }, { status: 400 })
  })
  const agents = [{ id: 'root', model: model.id, instructions: 'Look.' }]
  const runtime = createRuntime({ models: { [model.id]: model }, agents, retry: { tries: 1 } })
  await (await runtime.start({ agent: 'root', prompt })).run?.result
  await runtime.close()
  assert.equal(bodies.length, 1)
  return bodies[0] ?? {}
}

const apiKey = 'key'
const url = `data:image/png;base64,${data}`
const pdfUrl = `data:application/pdf;base64,${pdf}`

const vendors: readonly (readonly [
  name: string,
  make: (fetch: Fetch) => AiSdkLanguageModel | Model,
  parts: unknown,
])[] = [
  [
    'Anthropic',
    (fetch) => createAnthropic({ apiKey, fetch })('claude-sonnet-4-5'),
    [
      { type: 'text', text: words },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf }, title: 'b.pdf' },
    ],
  ],
  [
    'OpenAI Responses',
    (fetch) => createOpenAI({ apiKey, fetch }).responses('gpt-5'),
    [
      { type: 'input_text', text: words },
      { type: 'input_image', image_url: url },
      { type: 'input_file', filename: 'b.pdf', file_data: pdfUrl },
    ],
  ],
  [
    'OpenAI chat',
    (fetch) => createOpenAI({ apiKey, fetch }).chat('gpt-4o'),
    [
      { type: 'text', text: words },
      { type: 'image_url', image_url: { url } },
      { type: 'file', file: { filename: 'b.pdf', file_data: pdfUrl } },
    ],
  ],
  [
    'Google',
    (fetch) => createGoogle({ apiKey, fetch })('gemini-2.5-flash'),
    [
      { text: words },
      { inlineData: { mimeType: 'image/png', data } },
      { inlineData: { mimeType: 'application/pdf', data: pdf } },
    ],
  ],
  [
    'Mistral',
    (fetch) => createMistral({ apiKey, fetch })('pixtral-large-latest'),
    [
      { type: 'text', text: words },
      { type: 'image_url', image_url: url },
      { type: 'document_url', document_url: pdfUrl },
    ],
  ],
  [
    'a compatible server through the AI SDK',
    (fetch) => createOpenAICompatible({ name: 'own', baseURL: 'http://127.0.0.1:1/v1', apiKey, fetch })('m'),
    [
      { type: 'text', text: words },
      { type: 'image_url', image_url: { url } },
      { type: 'file', file: { filename: 'b.pdf', file_data: pdfUrl } },
    ],
  ],
  [
    'a compatible server through our own adapter',
    (fetch) => openaiCompatible({ baseUrl: 'http://127.0.0.1:1/v1', model: 'm', fetch }),
    [
      { type: 'text', text: words },
      { type: 'image_url', image_url: { url } },
      { type: 'file', file: { filename: 'b.pdf', file_data: pdfUrl } },
    ],
  ],
]

for (const [name, make, expected] of vendors)
  test(`[Rb53] ${name} gets a picture and a document`, async () => {
    const made = (fetch: Fetch) => make(fetch)
    const body = await bodyOf((fetch) => {
      const model = made(fetch)
      return 'stream' in model ? model : aiSdkModel(model)
    })
    const turns = (body['messages'] ?? body['input'] ?? body['contents']) as {
      role: string
      content?: unknown
      parts?: unknown
    }[]
    const user = turns.findLast(({ role }) => role === 'user')
    assert.deepEqual(user?.content ?? user?.parts, expected)
  })

test('[Rb53] specifications V2 and V3 get base64 as it is, V4 with the name of its form', async () => {
  for (const version of ['v2', 'v3', 'v4'] as const) {
    const seen: unknown[] = []
    const refuse = async (options: { prompt: { role: string; content: unknown }[] }) => {
      seen.push(options.prompt.at(-1)?.content)
      throw new Error('only looked at')
    }
    const model = { specificationVersion: version, provider: 'p', modelId: 'm', doGenerate: refuse, doStream: refuse }
    const witan = aiSdkModel(model as never)
    const agents = [{ id: 'root', model: witan.id, instructions: 'Look.' }]
    const runtime = createRuntime({ models: { [witan.id]: witan }, agents, retry: { tries: 1 } })
    await (await runtime.start({ agent: 'root', prompt: prompt.slice(0, 2) })).run?.result
    await runtime.close()
    const form = version === 'v4' ? { type: 'data', data } : data
    const file = { type: 'file', mediaType: 'image/png', data: form, filename: 'a.png' }
    assert.deepEqual(seen, [[{ type: 'text', text: 'Look.\n[file "a.png", image/png, 8 bytes]' }, file]])
  }
})

test('[Rb53] what a provider’s package cannot send is told in its words, and nothing is sent', async () => {
  const fetched: unknown[] = []
  const fetch: Fetch = async (input) => {
    fetched.push(input)
    return Response.json({}, { status: 400 })
  }
  const model = aiSdkModel(createOpenAI({ apiKey, fetch }).chat('gpt-4o'))
  const agents = [{ id: 'root', model: model.id, instructions: 'Look.' }]
  const runtime = createRuntime({ models: { [model.id]: model }, agents, retry: { tries: 1 } })
  const zip = [{ type: 'file' as const, mediaType: 'application/zip', data }]
  const result = await (await runtime.start({ agent: 'root', prompt: zip })).run?.result
  assert.deepEqual([result?.error?.code, fetched.length], ['MODEL_CALL_FAILED', 0])
  assert.match(result?.error?.detail ?? '', /application\/zip/)
  assert.match(result?.error?.hint ?? '', /has files/)
  await runtime.close()
})
