/** Files of a prompt over HTTP: what the model's server gets, what a reader gets, and what is refused [Rb53]. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { assertProblem } from './support/claims.ts'
import { agent, createStage, type Stage, segment } from './support/stage.ts'

const png = Buffer.from('89504e470d0a1a0a', 'hex')
const digestOf = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`
const file = (bytes: Uint8Array | string, more: Record<string, unknown> = {}) => ({
  type: 'file',
  mediaType: 'image/png',
  data: Buffer.from(bytes).toString('base64'),
  ...more,
})
const text = (words: string) => ({ type: 'text', text: words })

describe('files of a prompt', () => {
  let stage: Stage
  before(async () => {
    stage = await createStage()
    await stage.save(agent('desk'))
    stage.model.on('desk', () => ({ text: 'seen' }))
  })
  after(() => stage?.close())

  const contentAt = (id: string, digest: string, headers: Record<string, string> = {}) =>
    fetch(`${stage.witan.url}/api/v1/conversations/${segment(id)}/files/${digest}`, { headers })

  test('the model’s server gets a picture, a sound, a document and a text, each in its form [Rb53]', async () => {
    const prompt = [
      text('Look.'),
      file(png, { name: 'a.png' }),
      file('RIFF', { mediaType: 'audio/wav' }),
      file('%PDF-', { mediaType: 'application/pdf', name: 'b.pdf' }),
      file('a,b', { mediaType: 'text/csv', name: 'c.csv' }),
    ]
    const started = await stage.begin('desk', { prompt })
    assert.equal(started.run?.text, 'seen')
    const { content } = stage.model.of('desk').at(-1)?.body.messages.at(-1) ?? {}
    const words = [
      'Look.\n[file "a.png", image/png, 8 bytes]\n[file audio/wav, 4 bytes]\n[file "b.pdf", application/pdf, 5 bytes]',
      '\n[file "c.csv", text/csv, 3 bytes]\n\n[content of "c.csv"]\na,b\n[end of "c.csv"]',
    ]
    assert.deepEqual(content, [
      { type: 'text', text: words.join('') },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png.toString('base64')}` } },
      { type: 'input_audio', input_audio: { data: btoa('RIFF'), format: 'wav' } },
      { type: 'file', file: { filename: 'b.pdf', file_data: `data:application/pdf;base64,${btoa('%PDF-')}` } },
    ])
    const { messages } = await stage.document(started.id)
    const parts = (messages[0] as unknown as { parts: Record<string, unknown>[] }).parts
    assert.deepEqual(parts[1], { type: 'file', digest: digestOf(png), mediaType: 'image/png', bytes: 8, name: 'a.png' })
    await stage.run(started.id, { prompt: 'And now?' })
    assert.deepEqual(stage.model.of('desk').at(-1)?.body.messages[1]?.content, content, 'as it was sent before')
  })

  test('a reader gets the bytes, and no browser shows or runs them [Rb53]', async () => {
    const page = '<script>alert(1)</script>'
    const name = 'x" ☔;.html'
    const { id } = await stage.begin('desk', { prompt: [file(page, { mediaType: 'text/html', name })] })
    const digest = digestOf(Buffer.from(page))
    const reply = await contentAt(id, digest)
    assert.deepEqual([reply.status, await reply.text()], [200, page])
    const shown = (header: string) => reply.headers.get(header)
    assert.equal(shown('content-type'), 'text/html')
    assert.equal(
      shown('content-disposition'),
      `attachment; filename="x_ __.html"; filename*=UTF-8''x%22%20%E2%98%94%3B.html`,
    )
    assert.equal(shown('x-content-type-options'), 'nosniff')
    assert.equal(shown('content-security-policy'), "sandbox; default-src 'none'")
    assert.equal(shown('etag'), `"${digest}"`)
    assert.equal((await contentAt(id, digest, { 'if-none-match': `"${digest}"` })).status, 304)
    const other = await stage.begin('desk')
    for (const path of [
      `${segment(other.id)}/files/${digest}`,
      `${segment(id)}/files/sha256:0`,
      `chats:none/files/${digest}`,
    ])
      assertProblem(await stage.witan.call('GET', `/api/v1/conversations/${path}`), { status: 404, code: 'NOT_FOUND' })
    assert.equal((await stage.witan.call('DELETE', `/api/v1/conversations/${segment(id)}`)).status, 204)
    assert.equal((await contentAt(id, digest)).status, 404)
  })

  test('a file of five MiB fits; more is refused with its limit, and so is long text [Rb53]', async () => {
    const largest = Buffer.alloc(5_242_880, 7)
    const { id } = await stage.begin('desk', { prompt: [file(largest)] })
    const reply = await contentAt(id, digestOf(largest))
    assert.equal(digestOf(new Uint8Array(await reply.arrayBuffer())), digestOf(largest))
    const refuse = async (prompt: unknown, code: string, says: RegExp) => {
      const answer = await stage.runAnswer(id, { prompt })
      assertProblem(answer, { status: 413, code })
      assert.match(answer.text, says)
    }
    await refuse([file(Buffer.alloc(5_242_881))], 'ATTACHMENT_TOO_LARGE', /5242881 bytes; the limit is 5242880/)
    const half = file(Buffer.alloc(4_000_000))
    await refuse([half, half, half], 'ATTACHMENT_TOO_LARGE', /12000000 bytes together; the limit is 10485760/)
    await refuse([half, half, half, half], 'BODY_TOO_LARGE', /the limit is 16777216 bytes/)
    await refuse('x'.repeat(1_100_000), 'BODY_TOO_LARGE', /beside its files; the limit is 1048576/)
    await refuse([text('x'.repeat(1_100_000)), file(png)], 'BODY_TOO_LARGE', /beside its files; the limit is 1048576/)
    const many = Array.from({ length: 400_000 }, () => ({}))
    await refuse(many, 'BODY_TOO_LARGE', /more than 100000 values/)
    const direct = await stage.witan.call('POST', '/api/v1/agents/batch', { body: { agents: [half] } })
    assertProblem(direct, { status: 413, code: 'BODY_TOO_LARGE' })
  })

  test('what is no file, or of a type that the model’s form cannot carry, is refused by its path [Rb53]', async () => {
    const { id } = await stage.begin('desk')
    const asked = stage.model.of('desk').length
    for (const [part, code, path] of [
      [file(png, { data: 'no base64!' }), 'BODY_INVALID', 'prompt.1.data'],
      [file(png, { mediaType: 'application/zip' }), 'MEDIA_TYPE_UNSUPPORTED', 'prompt.1.mediaType'],
      [file(png, { mediaType: 'text/html\r\nx: y' }), 'BODY_INVALID', 'prompt.1.mediaType'],
      [file(png, { name: '../../etc/passwd' }), 'BODY_INVALID', 'prompt.1.name'],
    ] as const) {
      const answer = await stage.runAnswer<{ path: string }>(id, { prompt: [text('Look.'), part] })
      assertProblem(answer as never, { status: 422, code })
      assert.equal((answer.body as unknown as { path: string }).path, path)
    }
    assert.deepEqual([(await stage.conversation(id)).lastSeq, stage.model.of('desk').length], [0, asked])
  })

  test('a repeat under the same key sends the files once [Rb53]', async () => {
    const { id } = await stage.begin('desk')
    const headers = { 'idempotency-key': 'with a file' }
    const body = { prompt: [file(png)] }
    const first = await stage.runAnswer(id, body, headers)
    const again = await stage.runAnswer(id, body, headers)
    assert.deepEqual([again.headers.get('idempotency-replayed'), again.body], ['true', first.body])
    assert.equal((await stage.conversation(id)).runCount, 1)
    assertProblem(await stage.runAnswer(id, { prompt: [file('x')] }, headers), {
      status: 422,
      code: 'IDEMPOTENCY_KEY_REUSED',
    })
  })
})
