/** Models that place texts: what is asked, what is taken for an answer, and what a failure says. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { json } from 'node:stream/consumers'
import { assertCheap } from '../../../../../test/support/cpu.ts'
import { ModelCallError } from '../model.ts'
import { aiSdkEmbedding } from './ai-sdk-embedding.ts'
import { openaiCompatibleEmbedding } from './openai-compatible-embedding.ts'

const { signal } = new AbortController()

interface Asked {
  readonly path: string | undefined
  readonly authorization: string | undefined
  readonly body: unknown
}

/** A server that answers each request with the same. */
async function serving(
  context: TestContext,
  answer: string | null,
  status = 200,
): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = []
  const server = createServer(async (request: IncomingMessage, response) => {
    const { url: path, headers } = request
    asked.push({ path, authorization: headers.authorization, body: await json(request) })
    if (answer !== null) response.writeHead(status, { 'content-type': 'application/json' }).end(answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(() => server.close().closeAllConnections())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`, asked }
}

const answerOf = (...vectors: readonly unknown[]) =>
  JSON.stringify({ data: vectors.map((embedding, index) => ({ index, embedding })), usage: { prompt_tokens: 7 } })

test('texts go out in one request, and lists of numbers come back in their order', async (context) => {
  const data = [
    { index: 1, embedding: [0, 1] },
    { index: 0, embedding: [0.12345678901234568, -1] },
  ]
  const { url, asked } = await serving(
    context,
    JSON.stringify({ data }).replace('0.12345678901234568', '0.12345678901234567891'),
  )
  const model = openaiCompatibleEmbedding({ baseUrl: url, model: 'small', apiKey: 'secret-key' })
  assert.equal(model.id, `${new URL(url).host}/small`)
  const { vectors, tokens } = await model.embed(['a', 'b'], signal)
  assert.deepEqual(
    [vectors, tokens],
    [
      [
        [0.12345678901234568, -1],
        [0, 1],
      ],
      null,
    ],
  )
  const body = { model: 'small', input: ['a', 'b'], encoding_format: 'float' }
  assert.deepEqual(asked, [{ path: '/v1/embeddings', authorization: 'Bearer secret-key', body }])
  const counted = await serving(context, answerOf([1]))
  assert.equal((await openaiCompatibleEmbedding({ baseUrl: counted.url, model: 'm' }).embed(['a'], signal)).tokens, 7)
})

test('what is no answer is a failure of the model, and tells no secret', async (context) => {
  const table: readonly (readonly [string, string, number, RegExp, boolean])[] = [
    ['too few', answerOf([1]), 200, /no list of numbers for each of 2 texts/, false],
    ['too many', answerOf([1], [1], [1]), 200, /for each of 2 texts/, false],
    ['an empty list', answerOf([1], []), 200, /for each of 2 texts/, false],
    ['no numbers', answerOf([1], ['x']), 200, /for each of 2 texts/, false],
    [
      'places that do not exist',
      '{"data":[{"index":-1,"embedding":[1]},{"index":4000000000,"embedding":[1]}]}',
      200,
      /for each/,
      false,
    ],
    ['another form', '[1]', 200, /for each of 2 texts/, false],
    ['no JSON', 'secret-key is wrong', 200, /not JSON/, true],
    ['a page', '<html>', 200, /web page/, false],
    ['too much', `"${'x'.repeat(5_000_000)}"`, 200, /more than 4000000 bytes/, false],
    ['too many values', JSON.stringify({ data: [{ embedding: Array(200_000).fill(1) }] }), 200, /too large/, false],
    ['a refusal', '{"error":{"message":"the key secret-key is wrong"}}', 401, /answered 401/, false],
    ['too many requests', '{}', 429, /answered 429/, true],
    ['a redirect', '', 302, /answered 302/, false],
  ]
  for (const [what, answer, status, message, retryable] of table) {
    const { url } = await serving(context, answer, status)
    const model = openaiCompatibleEmbedding({ baseUrl: url, model: 'm', apiKey: 'secret-key' })
    const failed = await model.embed(['a', 'b'], signal).catch((error: unknown) => error)
    assert.ok(failed instanceof ModelCallError, what)
    assert.match(failed.message, message, what)
    assert.ok(!failed.message.includes('secret-key'), what)
    assert.equal(failed.retryable, retryable, what)
  }
})

test('an abort and a time limit end the request', async (context) => {
  const { url } = await serving(context, null)
  const control = new AbortController()
  const asking = openaiCompatibleEmbedding({ baseUrl: url, model: 'm' }).embed(['a'], control.signal)
  setTimeout(() => control.abort(new Error('stopped')), 30)
  await assert.rejects(asking, /stopped/)
  const late = openaiCompatibleEmbedding({ baseUrl: url, model: 'm', timeoutMs: 30 }).embed(['a'], signal)
  await assert.rejects(late, ModelCallError)
})

test('the largest answer holds no turn', async (context) => {
  const vector = Array.from({ length: 4_096 }, (_, at) => Math.sin(at))
  const { url } = await serving(context, answerOf(...Array.from({ length: 16 }, () => vector)))
  const texts = Array.from({ length: 16 }, () => 'x'.repeat(4_000))
  const model = openaiCompatibleEmbedding({ baseUrl: url, model: 'm' })
  await assertCheap({ longest: 50 }, () => model.embed(texts, signal))
})

test('an address or a header that can never work is refused at once', () => {
  for (const baseUrl of ['', 'ftp://x', 'http://a:b@x/v1'])
    assert.throws(() => openaiCompatibleEmbedding({ baseUrl, model: 'm' }), { code: 'CONFIG_INVALID' })
})

test('an embedding model of the AI SDK gets as many texts at once as it takes', async () => {
  const asked: string[][] = []
  const fake = {
    ...{ specificationVersion: 'v4', provider: 'fake', modelId: 'small', maxEmbeddingsPerCall: Promise.resolve(2) },
    async doEmbed({ values }: { values: string[] }) {
      asked.push(values)
      if (values.includes('bad')) throw Object.assign(new Error('no'), { statusCode: 500, isRetryable: true })
      return { embeddings: values.map((value) => [value.length]), usage: { tokens: values.length } }
    },
  }
  const model = aiSdkEmbedding(fake)
  assert.equal(model.id, 'fake/small')
  assert.deepEqual(await model.embed(['a', 'bb', 'ccc'], signal), { vectors: [[1], [2], [3]], tokens: 3 })
  assert.deepEqual(asked, [['a', 'bb'], ['ccc']])
  await assert.rejects(model.embed(['bad'], signal), ModelCallError)
  assert.throws(() => aiSdkEmbedding('text-embedding-3-small' as never), { code: 'CONFIG_INVALID' })
})
