/** Pages of other origins: listed ones call the API and read its answers, all others are left outside. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { base, createStage, readFrames, type Stage } from './testing/stage.ts'

const origin = 'https://app.example.com'
const asking = { origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'authorization' }
const others = [
  'https://app.example.com.evil.test',
  'http://app.example.com',
  'https://app.example.com:8443',
  'https://APP.example.com',
  'https://other.example.com',
  'null',
]

/** The headers of an answer that let a browser do something. */
function grants(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')))
}

describe('a server that lists an origin', () => {
  let stage: Stage
  let bearer: Record<string, string>
  before(async () => {
    stage = await createStage('local', ['http://localhost:3000', origin])
    bearer = { authorization: `Bearer ${stage.token}` }
  })
  after(() => stage.close())

  test('a browser may ask before it sends, without the token', async () => {
    const asked = await stage.call('OPTIONS', '/api/v1/agents/new', { headers: asking })
    assert.equal(asked.status, 204)
    assert.deepEqual(grants(asked.headers), {
      'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
      'access-control-allow-origin': origin,
      'access-control-expose-headers': 'ETag, Idempotency-Replayed, Retry-After, X-Request-Id',
      'access-control-max-age': '600',
    })
    assert.equal(asked.headers.get('vary'), 'Origin')
    const near = { ...asking, 'access-control-request-private-network': 'true' }
    const answered = await stage.call('OPTIONS', '/api/v1/agents/new', { headers: near })
    assert.equal(answered.headers.get('access-control-allow-private-network'), 'true')
  })

  test('its pages read answers, their headers, and errors', async () => {
    const read = await stage.call('GET', '/api/v1/agents/clerk', { headers: { ...bearer, origin } })
    assert.deepEqual([read.status, read.headers.get('etag')], [200, '"1"'])
    const wrong = await stage.call('GET', '/api/v1/agents/nobody', { headers: { ...bearer, origin } })
    const stranger = await stage.call('GET', '/api/v1/agents', { headers: { origin } })
    const nowhere = await stage.call('GET', '/api/v1/nothing', { headers: { ...bearer, origin } })
    const method = await stage.call('PATCH', '/api/v1/agents', { headers: { ...bearer, origin } })
    assert.deepEqual(
      [wrong, stranger, nowhere, method].map(({ status }) => status),
      [404, 401, 404, 405],
    )
    for (const one of [read, wrong, stranger, nowhere, method]) {
      assert.equal(one.headers.get('access-control-allow-origin'), origin, one.text)
      assert.equal(one.headers.get('access-control-allow-credentials'), null)
      assert.match(one.headers.get('access-control-expose-headers') ?? '', /ETag.*Idempotency-Replayed.*Retry-After/)
      assert.match(one.headers.get('vary') ?? '', /\bOrigin$/)
    }
  })

  test('its pages read streams', async () => {
    const body = { id: 'chats/1', agent: 'clerk', parameters: { country: 'France' } }
    await stage.call('POST', '/api/v1/conversations', { body, headers: bearer })
    const headers = { ...bearer, origin, accept: 'text/event-stream' }
    const response = await stage.fetch('POST', '/api/v1/conversations/chats:1/runs', {
      body: { prompt: 'Hi' },
      headers,
    })
    assert.equal(response.headers.get('access-control-allow-origin'), origin)
    const frames = await readFrames(response)
    assert.equal(frames.at(-1)?.event, 'result')
  })

  test('the cookie of the Studio is for the Studio alone: a page of another origin sends the token', async () => {
    const entered = await stage.fetch('GET', `/?token=${stage.token}`)
    const cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    assert.notEqual(cookie, '')
    assert.equal((await stage.call('GET', '/api/v1/agents', { headers: { cookie } })).status, 200)
    assert.equal((await stage.call('GET', '/api/v1/agents', { headers: { cookie, origin: base } })).status, 200)
    assert.equal((await stage.call('GET', '/api/v1/agents', { headers: { cookie, origin } })).status, 401)
    const both = { ...bearer, cookie, origin }
    assert.equal((await stage.call('GET', '/api/v1/agents', { headers: both })).status, 200)
  })

  for (const other of others) {
    test(`a page of ${other} gets nothing`, async () => {
      const asked = await stage.call('OPTIONS', '/api/v1/agents/new', { headers: { ...asking, origin: other } })
      const sent = await stage.call('GET', '/api/v1/agents', { headers: { ...bearer, origin: other } })
      assert.deepEqual([asked.status, sent.status, sent.body.code], [403, 403, 'HOST_NOT_ALLOWED'])
      assert.match(sent.body.hint ?? '', /server\.allowedOrigins/)
      assert.deepEqual([grants(asked.headers), grants(sent.headers)], [{}, {}])
    })
  }

  test('the pages of the Studio are for nobody else', async () => {
    const page = await stage.call('GET', `/?token=${stage.token}`, { headers: { origin } })
    assert.deepEqual(grants(page.headers), {})
  })
})

test('a server that lists none lets no other page in', async () => {
  const stage = await createStage('none')
  const asked = await stage.call('OPTIONS', '/api/v1/agents/new', { headers: asking })
  const sent = await stage.call('GET', '/api/v1/agents', { headers: { origin } })
  assert.deepEqual([asked.status, sent.status], [403, 403])
  assert.deepEqual([grants(asked.headers), grants(sent.headers)], [{}, {}])
  await stage.close()
})
