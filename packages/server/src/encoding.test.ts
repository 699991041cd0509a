/** Content codings over HTTP: what is negotiated, what is compressed, and what never is. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { acceptedCoding, encoded as encodedReply, type WholeReply } from './encoding.ts'
import { createStage, type Stage } from './testing/stage.ts'
import { assertCheap } from '../../../test/support/cpu.ts'

const encoded = async (request: Request, reply: WholeReply): Promise<Response> => {
  const { body, ...head } = await encodedReply(request, reply)
  return new Response(body, head)
}
const coding = (header: string | null) =>
  acceptedCoding(new Headers(header === null ? {} : { 'accept-encoding': header }))

test('the coding of the highest weight is used, brotli before gzip', () => {
  const rows: readonly (readonly [string | null, string | null, boolean])[] = [
    [null, null, false],
    ['', null, false],
    ['identity', null, false],
    ['gzip, deflate, br, zstd', 'br', false],
    ['gzip', 'gzip', false],
    ['X-GZIP', 'gzip', false],
    ['BR;Q=0.5', 'br', false],
    ['br;q=0.5, gzip;q=0.8', 'gzip', false],
    ['br;q=0, gzip', 'gzip', false],
    ['br;q=0.000, gzip;q=0', null, false],
    ['gzip;q=0.5, identity', null, false],
    ['gzip;q=0.5, identity;q=0.5', 'gzip', false],
    ['*', 'br', false],
    ['*;q=0', null, true],
    ['br;q=0, *', 'gzip', false],
    ['identity;q=0', null, true],
    ['gzip, identity;q=0', 'gzip', true],
    ['gzip, *;q=0', 'gzip', true],
    ['zstd, deflate', null, false],
    [' br ; q=1.0 ', 'br', false],
    ['br;q=2, gzip;q=-1, ;;, ,', null, false],
    [`${'a,'.repeat(500_000)}br`, null, false],
  ]
  for (const [header, expected, refuses] of rows)
    assert.deepEqual(coding(header), { coding: expected, refusesIdentity: refuses }, String(header).slice(0, 40))
})

const text = JSON.stringify({ items: Array.from({ length: 400 }, (_, index) => ({ index, says: 'the same words' })) })
const json = { 'content-type': 'application/json' }
const asking = (accept: string, more: Record<string, string> = {}, method = 'GET') =>
  new Request('http://127.0.0.1/', { method, headers: { 'accept-encoding': accept, ...more } })
const unpack = { br: brotliDecompressSync, gzip: gunzipSync }

test('a reply that is compressed says so, and is the same afterwards', async () => {
  for (const one of ['br', 'gzip'] as const) {
    for (const body of [text, new TextEncoder().encode(text)]) {
      const reply = await encoded(asking(one), { status: 200, headers: { ...json, etag: '"3"' }, body })
      const bytes = Buffer.from(await reply.arrayBuffer())
      assert.ok(bytes.length < text.length / 5)
      assert.equal(unpack[one](bytes).toString(), text)
      const { headers } = reply
      assert.deepEqual(
        [headers.get('content-encoding'), headers.get('vary'), headers.get('etag')],
        [one, 'Accept-Encoding', `"3-${one}"`],
      )
    }
  }
})

test('what is small, packed, not to be changed, or not wanted stays as it is', async () => {
  const rows: readonly (readonly [string, string, Record<string, string>, string])[] = [
    ['a small reply', 'br', json, '{"a":1}'],
    ['a stream of events', 'br', { 'content-type': 'text/event-stream' }, text],
    ['a picture', 'br', { 'content-type': 'image/png' }, text],
    ['a packed file', 'br', { 'content-type': 'application/zip' }, text],
    ['a secret', 'br', { ...json, 'cache-control': 'no-store, no-transform' }, text],
    ['a client that takes none', 'identity', json, text],
    ['a client that refuses', 'br;q=0, gzip;q=0', json, text],
    ['a client that refuses everything', '*;q=0', json, text],
  ]
  for (const [name, accept, headers, body] of rows) {
    const reply = await encoded(asking(accept), { status: 200, headers, body })
    assert.equal(reply.headers.get('content-encoding'), null, name)
    assert.equal(await reply.text(), body, name)
  }
  const refused = await encoded(asking('gzip, identity;q=0'), { status: 200, headers: json, body: '{"a":1}' })
  assert.equal(refused.headers.get('content-encoding'), 'gzip', 'a client that refuses the plain form')
})

test('a range is answered whole, and a HEAD with the headers alone', async () => {
  const whole = await encoded(asking('gzip', { range: 'bytes=0-9' }), { status: 200, headers: json, body: text })
  assert.equal(whole.status, 200)
  assert.equal(unpack.gzip(Buffer.from(await whole.arrayBuffer())).toString(), text)
  const head = await encoded(asking('br', {}, 'HEAD'), { status: 200, headers: json, body: text })
  assert.deepEqual([head.headers.get('content-encoding'), await head.text()], ['br', ''])
})

test('of many large replies at once eight are compressed, and none holds the event loop', async () => {
  const large = `[${`${text},`.repeat(450)}1]`
  assert.ok(large.length > 4_000_000)
  const reply = () => encoded(asking('br'), { status: 200, headers: json, body: large })
  const codings = (await Promise.all(Array.from({ length: 12 }, reply))).map(({ headers }) =>
    headers.get('content-encoding'),
  )
  assert.equal(codings.filter((one) => one === 'br').length, 8)
  assert.equal((await reply()).headers.get('content-encoding'), 'br', 'the places are free again')
  const packed: unknown[] = []
  const begin = () => void packed.push(reply())
  await assertCheap({ total: 20 }, begin, 'beginning one')
  await Promise.all(packed)
})

describe('codings over HTTP', () => {
  let stage: Stage
  before(async () => {
    stage = await createStage()
  })
  after(() => stage.close())
  const accept = { 'accept-encoding': 'br, gzip' }

  test('an agent that was read in a coding is changed over the ETag that came with it', async () => {
    const body = { id: 'writer', model: 'play/model', instructions: 'Write. '.repeat(400) }
    assert.equal((await stage.call('POST', '/api/v1/agents', { body })).status, 201)
    const read = await stage.fetch('GET', '/api/v1/agents/writer', { headers: accept })
    const packed = Buffer.from(await read.arrayBuffer())
    assert.equal(JSON.parse(brotliDecompressSync(packed).toString()).id, 'writer')
    const tag = read.headers.get('etag') ?? ''
    assert.match(tag, /^"1-br"$/)
    const put = (ifMatch: string) =>
      stage.call('PUT', '/api/v1/agents/writer', { body: { ...body, name: ifMatch }, headers: { 'if-match': ifMatch } })
    assert.equal((await put(tag)).status, 200)
    assert.equal((await put(tag)).body.code, 'REVISION_MISMATCH', 'it is another revision by now')
    for (const [sent, code] of [
      ['"2-gzip"', 200],
      ['"3"', 200],
      ['"4-deflate"', 412],
      ['4-br', 412],
    ] as const)
      assert.equal((await put(sent)).status, code, sent)
  })

  test('events never are, nor is the reply that shows a new key', async () => {
    const made = await stage.call('POST', '/api/v1/keys', {
      body: { name: 'Phone' },
      headers: { 'accept-encoding': 'br, identity;q=0' },
    })
    assert.equal(made.headers.get('content-encoding'), null)
    assert.match(made.headers.get('cache-control') ?? '', /no-store.*no-transform/)
    const begin = { id: 'chats/coded', agent: 'clerk', parameters: { userId: 'u', country: 'F' } }
    assert.equal((await stage.call('POST', '/api/v1/conversations', { body: begin })).status, 201)
    const run = await stage.fetch('POST', '/api/v1/conversations/chats:coded/runs', {
      body: { prompt: 'long words '.repeat(1000) },
      headers: { ...accept, accept: 'text/event-stream' },
    })
    assert.equal(run.headers.get('content-encoding'), null)
    assert.match(await run.text(), /event:|data:/)
  })

  test('pages of a listed origin vary by both', async () => {
    const listed = await createStage('none', ['https://shop.example'])
    const reply = await listed.fetch('GET', '/api/v1/agents', {
      headers: { ...accept, origin: 'https://shop.example' },
    })
    assert.match(reply.headers.get('vary') ?? '', /Accept-Encoding.*Origin/)
    await listed.close()
  })
})
