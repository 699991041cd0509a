/** Signing in and out over HTTP, and what becomes of an open stream whose key is revoked. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createKeyAuth } from './auth-keys.ts'
import { createStage, readFrames, type Stage } from './testing/stage.ts'

describe('signing in with a key', () => {
  let stage: Stage
  let key: string
  let keyId: string
  before(async () => {
    stage = await createStage(
      ({ keyLookup }) => createKeyAuth({ lookup: keyLookup, port: () => 4747, log: () => undefined }),
      ['https://app.example.com'],
    )
    ;({ key, keyId } = await stage.runtime.keys.create({ id: 'user:anna', roles: ['admin'] }))
  })
  after(() => stage.close())
  const bearer = () => ({ authorization: `Bearer ${key}` })

  test('a page gets a cookie for the header, and the cookie opens until it signs out', async () => {
    const refused = await stage.call('GET', '/api/v1/principal')
    assert.deepEqual([refused.status, refused.headers.get('www-authenticate')], [401, 'Bearer realm="keys"'])
    const signedIn = await stage.fetch('POST', '/sign-in', { headers: bearer() })
    assert.deepEqual([signedIn.status, await signedIn.text()], [204, ''])
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
    const { body } = await stage.call('GET', '/api/v1/principal', { headers: { cookie } })
    assert.equal(body['id'], 'user:anna')
    const out = await stage.fetch('POST', '/sign-out', { headers: { cookie } })
    assert.match(out.headers.get('set-cookie') ?? '', /^witan_4747=; .*Max-Age=0/)
  })

  test('pages of other sites sign nobody in or out [D18]', async () => {
    for (const path of ['/sign-in', '/sign-out'])
      for (const origin of ['https://evil.test', 'https://app.example.com', 'null', 'http://127.0.0.1:4748']) {
        const refused = await stage.call('POST', path, { headers: { ...bearer(), origin } })
        assert.deepEqual([refused.status, refused.headers.get('set-cookie')], [403, null], `${path} ${origin}`)
      }
    const site = { 'sec-fetch-site': 'cross-site' }
    assert.equal((await stage.call('POST', '/sign-out', { headers: site })).status, 403)
    for (const headers of [{}, { authorization: 'Bearer wtn_wrong' }, { authorization: `Basic ${key}` }]) {
      const refused = await stage.call('POST', '/sign-in', { headers })
      assert.deepEqual([refused.status, refused.headers.get('set-cookie')], [401, null])
    }
  })

  test('an open stream ends within five seconds after its key is revoked, and other streams go on', async () => {
    const headers = { ...bearer(), accept: 'text/event-stream' }
    const begun = { id: 'chats/1', agent: 'clerk', prompt: 'Hello', parameters: { userId: '1', country: 'x' } }
    await stage.call('POST', '/api/v1/conversations', { body: begun, headers: bearer() })
    const second = await stage.runtime.keys.create({ roles: ['admin'] })
    const path = '/api/v1/conversations/chats:1/events'
    const open = await stage.fetch('GET', path, { headers })
    const other = await stage.fetch('GET', path, { headers: { ...headers, authorization: `Bearer ${second.key}` } })
    assert.deepEqual([open.status, other.status], [200, 200])
    let isOtherOver = false
    const reading = readFrames(other).finally(() => {
      isOtherOver = true
    })
    await stage.runtime.keys.revoke(keyId)
    const from = performance.now()
    await readFrames(open)
    assert.ok(performance.now() - from < 5_000)
    assert.equal((await stage.call('GET', path, { headers })).status, 401)
    assert.equal(isOtherOver, false)
    stage.streams.abort()
    await reading
    assert.equal(JSON.stringify(stage.log).includes('wtn_'), false)
  })
})

test('only a stream that is read has its caller checked again, until it ends', async () => {
  let checks = 0
  const stage = await createStage(({ keyLookup }) => {
    const auth = createKeyAuth({ lookup: keyLookup, port: () => 4747, log: () => undefined })
    const check: typeof auth.check = (request, requestOrigin) => {
      checks += 1
      return auth.check(request, requestOrigin)
    }
    return { ...auth, check, recheckMs: 5 }
  })
  const { key } = await stage.runtime.keys.create({ roles: ['admin'] })
  const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' }
  await stage.call('POST', '/api/v1/conversations', { body: { agent: 'boss', id: 'chats/1' }, headers })
  const path = '/api/v1/conversations/chats:1/events'
  const seen = async () => {
    const before = checks
    await new Promise((resolve) => setTimeout(resolve, 60))
    return checks - before
  }
  assert.equal((await stage.fetch('HEAD', path, { headers })).status, 200)
  assert.equal(await seen(), 0)
  const open = await stage.fetch('GET', path, { headers })
  const reader = open.body?.getReader()
  const read = reader?.read()
  assert.ok((await seen()) > 0)
  await reader?.cancel()
  await read
  assert.equal(await seen(), 0)
  await stage.close()
})

describe('signing in where there is one token, or none', () => {
  test('the token works as a key does', async () => {
    const stage = await createStage('local')
    const signedIn = await stage.fetch('POST', '/sign-in', { headers: { authorization: `Bearer ${stage.token}` } })
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
    assert.equal((await stage.call('GET', '/api/v1/principal', { headers: { cookie } })).status, 200)
    const refused = await stage.call('POST', '/sign-in', { headers: { authorization: 'Bearer x' } })
    assert.deepEqual([refused.status, refused.headers.get('www-authenticate')], [401, 'Bearer'])
    await stage.close()
  })

  test('mode none needs no cookie', async () => {
    const stage = await createStage('none')
    const signedIn = await stage.fetch('POST', '/sign-in')
    assert.deepEqual([signedIn.status, signedIn.headers.get('set-cookie')], [204, null])
    await stage.close()
  })
})
