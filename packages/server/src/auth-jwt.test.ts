/** Mode `jwt`: which tokens of which issuer let in, as whom, and what a bad issuer can do. */
import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { exportJWK, exportSPKI, generateKeyPair, type JWK, SignJWT, UnsecuredJWT } from 'jose'
import { createJwtAuth, type JwtAuthOptions } from './auth-jwt.ts'
import { type IssuerKeys, issuerKeys } from './issuer-keys.ts'

type Pair = Awaited<ReturnType<typeof generateKeyPair>>
const claims = { database: 'db', id: 'sub', roles: 'roles', address: 'email' }
const anna = { db: 'shop', sub: 'anna', roles: ['run', 'buyer'], email: 'anna@example.com' }
const refused = (message: RegExp) => (error: { code: string; message: string; hint: string }) => {
  assert.equal(error.code, 'UNAUTHENTICATED')
  assert.match(error.message, message)
  return true
}

/** A server that publishes keys, and counts how often it was asked. */
async function serveKeys(answer: RequestListener) {
  let asked = 0
  const server = createServer((request, response) => {
    asked += 1
    answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

describe('tokens of an issuer', () => {
  let issuer: Awaited<ReturnType<typeof serveKeys>>
  let pair: Pair
  let other: Pair
  let published: JWK[]
  const clock = { now: Date.UTC(2026, 0, 1), mono: 0 }
  const times = { fetchMs: 300, freshMs: 60_000, staleMs: 120_000, pauseMs: 5_000 }
  before(async () => {
    pair = await generateKeyPair('ES256', { extractable: true })
    other = await generateKeyPair('RS256', { extractable: true })
    published = [{ ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }]
    issuer = await serveKeys((_, response) => void response.end(JSON.stringify({ keys: published })))
  })
  after(() => issuer.close())

  const create = (over: Partial<JwtAuthOptions> = {}) =>
    createJwtAuth({
      ...{ issuer: issuer.url, audience: 'witan', jwksUrl: null, claims },
      ...{ now: () => clock.now, port: () => 4747 },
      keys: issuerKeys(`${issuer.url}/.well-known/jwks.json`, { times, now: () => clock.mono }),
      ...over,
    })
  const sign = (body: Record<string, unknown> = anna, header: object = {}, key: Pair = pair) =>
    new SignJWT({ iss: issuer.url, aud: 'witan', exp: clock.now / 1000 + 600, ...body })
      .setProtectedHeader({ alg: 'ES256', kid: 'one', ...header })
      .sign(key.privateKey)
  const bearer = (token: string) =>
    new Request('http://127.0.0.1:4747/api/v1/agents', { headers: { authorization: `Bearer ${token}` } })

  test('[D17] a token says database, person, roles and address', async () => {
    const auth = create()
    const principal = {
      database: 'shop',
      id: 'user:anna',
      roles: ['run', 'buyer'],
      address: 'anna@example.com',
      via: 'token',
    }
    const token = await sign()
    assert.deepEqual(await auth.check(bearer(token)), principal)
    const known = await auth.check(bearer(token))
    assert.equal(await auth.check(bearer(token)), known, 'not verified again')
    const { email: _, ...rest } = anna
    assert.equal((await auth.check(bearer(await sign(rest)))).address, null)
    assert.equal((await auth.check(bearer(await sign({ ...anna, aud: ['x', 'witan'], roles: [] })))).roles.length, 0)
    const named = create({ claims: { database: 'org', id: 'who', roles: 'https://x/roles', address: null } })
    const body = { org: 'a-1', who: 'bob', 'https://x/roles': ['read'], email: 5 }
    assert.deepEqual(await named.check(bearer(await sign(body))), {
      ...{ database: 'a-1', id: 'user:bob', roles: ['read'], address: null, via: 'token' },
    })
  })

  test('a token for others, of others, out of its time or without a claim is refused by name', async () => {
    const auth = create()
    const wrong: readonly (readonly [body: Record<string, unknown>, said: RegExp])[] = [
      [{ aud: 'other' }, /`aud`/],
      [{ aud: undefined }, /`aud`/],
      [{ iss: `${issuer.url}/` }, /`iss`/],
      [{ iss: undefined }, /`iss`/],
      [{ exp: clock.now / 1000 - 6 }, /has expired/],
      [{ exp: undefined }, /`exp`/],
      [{ exp: 'never' }, /`exp`/],
      [{ nbf: clock.now / 1000 + 60 }, /`nbf`/],
      [{ db: undefined }, /`db`/],
      [{ db: 'Shop' }, /`db`/],
      [{ db: '../x' }, /`db`/],
      [{ db: ['shop'] }, /`db`/],
      [{ sub: undefined }, /`sub`/],
      [{ sub: 7 }, /`sub`/],
      [{ sub: 'a:b' }, /`sub`/],
      [{ sub: 'an na' }, /`sub`/],
      [{ sub: 'x'.repeat(101) }, /`sub`/],
      [{ roles: undefined }, /`roles`/],
      [{ roles: 'admin' }, /`roles`/],
      [{ roles: { 0: 'admin', length: 1 } }, /`roles`/],
      [{ roles: ['run', 1] }, /`roles`/],
      [{ roles: ['a b'] }, /`roles`/],
      [{ roles: Array.from({ length: 101 }, (_, at) => `r${at}`) }, /`roles`/],
      [{ email: 7 }, /`email`/],
      [{ email: 'a b' }, /`email`/],
    ]
    for (const [body, said] of wrong)
      await assert.rejects(auth.check(bearer(await sign({ ...anna, ...body }))), refused(said), JSON.stringify(body))
  })

  test('only the published public keys count, by the algorithms of public keys', async () => {
    const auth = create()
    const body = { iss: issuer.url, aud: 'witan', exp: clock.now / 1000 + 600, ...anna }
    const none = new UnsecuredJWT(body).encode()
    const spki = new TextEncoder().encode(await exportSPKI(pair.publicKey))
    const jwk = await exportJWK(pair.publicKey)
    const shared = (secret: Uint8Array, alg = 'HS256') =>
      new SignJWT(body).setProtectedHeader({ alg, kid: 'one' }).sign(secret)
    const good = await sign()
    const [head = '', middle = '', end = ''] = good.split('.')
    const admin = Buffer.from(JSON.stringify({ ...body, roles: ['admin'] })).toString('base64url')
    const noneHead = Buffer.from('{"alg":"none"}').toString('base64url')
    const wrong = [
      none,
      `${none}x`,
      `${noneHead}.${middle}.${end}`,
      await shared(spki),
      await shared(new TextEncoder().encode(JSON.stringify(jwk))),
      await shared(new Uint8Array(64), 'HS512'),
      await sign(anna, {}, await generateKeyPair('ES256')),
      await sign(anna, { alg: 'RS256' }, other),
      await sign(anna, { jwk: await exportJWK(other.publicKey), alg: 'RS256', jku: `${issuer.url}/x` }, other),
      await sign(anna, { crit: ['exp'], exp: 1 }).catch(() => `${head}.${middle}.AA`),
      `${head}.${admin}.${end}`,
      `${head}.${middle}.`,
      `${head}.${middle}`,
      `${good}.a.b`,
      '..',
      'wtn_x',
      'a'.repeat(10_000),
    ]
    for (const token of wrong) await assert.rejects(auth.check(bearer(token)), refused(/token/), token.slice(0, 90))
    await assert.rejects(
      auth.check(new Request('http://x/', { headers: { cookie: `witan_4747=${none}` } })),
      refused(/ /),
    )
    assert.equal((await auth.check(bearer(good))).id, 'user:anna')
    // Whatever key the issuer gives: a shared secret proves nothing.
    const secret = new Uint8Array(64)
    const given = create({ keys: { keyOf: async () => secret, generation: () => 1 } })
    await assert.rejects(given.check(bearer(await shared(secret))), refused(/algorithm/))
  })

  test('a verified token counts no longer than it says, and no longer than the keys it was checked with', async () => {
    const auth = create()
    const token = await sign()
    await auth.check(bearer(token))
    const start = clock.now
    clock.now += 604_999
    await auth.check(bearer(token))
    clock.now += 1
    await assert.rejects(auth.check(bearer(token)), refused(/has expired/))
    clock.now = start
    const again = await sign()
    await auth.check(bearer(again))
    published = [{ ...(await exportJWK(other.publicKey)), kid: 'two' }]
    clock.mono += times.pauseMs
    await auth.check(bearer(await sign(anna, { alg: 'RS256', kid: 'two' }, other)))
    await assert.rejects(auth.check(bearer(again)), refused(/no key/), 'a key that was taken back')
    published = [{ ...(await exportJWK(pair.publicKey)), kid: 'one' }]
  })

  test('a new key is found at once, but unknown keys do not make the issuer be asked again and again', async () => {
    const auth = create()
    await auth.check(bearer(await sign()))
    const asked = issuer.asked()
    const rotated = await generateKeyPair('ES256', { extractable: true })
    published = [{ ...(await exportJWK(rotated.publicKey)), kid: 'next' }, ...published]
    const next = await sign(anna, { kid: 'next' }, rotated)
    await assert.rejects(auth.check(bearer(next)), refused(/no key/))
    for (let at = 0; at < 20; at += 1) await assert.rejects(auth.check(bearer(await sign(anna, { kid: `k${at}` }))))
    assert.equal(issuer.asked(), asked)
    clock.mono += times.pauseMs
    assert.equal((await auth.check(bearer(next))).id, 'user:anna')
    assert.equal(issuer.asked(), asked + 1)
    // Without a name every key that fits is tried.
    assert.equal((await auth.check(bearer(await sign(anna, { kid: undefined }, rotated)))).id, 'user:anna')
    assert.equal((await auth.check(bearer(await sign(anna, { kid: undefined })))).id, 'user:anna')
    await assert.rejects(
      auth.check(bearer(await sign(anna, { kid: undefined }, await generateKeyPair('ES256')))),
      refused(/signature/),
    )
  })

  test('a browser gets the token as its cookie, if it is short enough', async () => {
    const auth = create()
    const token = await sign()
    const [cookie = ''] = ((await auth.signIn(bearer(token))) ?? '').split(';')
    const asking = new Request('http://127.0.0.1:4747/', { headers: { cookie } })
    assert.equal((await auth.check(asking)).id, 'user:anna')
    await assert.rejects(auth.check(asking, 'listed'), refused(/ /))
    await assert.rejects(auth.signIn(bearer(await sign({ ...anna, more: 'x'.repeat(4_000) }))), refused(/at most 3500/))
    await assert.rejects(auth.signIn(asking), refused(/ /))
  })
})

describe('an issuer that misbehaves', () => {
  const unavailable = { code: 'ISSUER_UNAVAILABLE' }
  const header = { alg: 'ES256', kid: 'one' }
  const token = { header, payload: '', signature: '' } as never
  const found = async ({ keyOf }: IssuerKeys): Promise<unknown> => keyOf(header, token)
  const quick = { fetchMs: 100, freshMs: 1_000, staleMs: 2_000, pauseMs: 500 }

  test('one that hangs, in its head or its body, is given up after a time; for a while all are refused at once', async () => {
    for (const answer of [
      () => undefined,
      (_: unknown, response: Parameters<RequestListener>[1]) => void response.write('{"keys":['),
    ]) {
      const server = await serveKeys(answer)
      const keys = issuerKeys(server.url, { times: quick, now: () => 0 })
      const from = performance.now()
      await Promise.all(Array.from({ length: 20 }, () => assert.rejects(found(keys), unavailable)))
      assert.ok(performance.now() - from < 2_000)
      assert.equal(server.asked(), 1)
      await assert.rejects(found(keys), unavailable)
      assert.equal(server.asked(), 1)
      await server.close()
    }
  })

  test('one that answers nonsense gives no keys', async () => {
    const big = JSON.stringify({ keys: [], pad: 'x'.repeat(600_000) })
    const many = JSON.stringify({ keys: Array.from({ length: 101 }, () => ({ kty: 'EC' })) })
    for (const text of ['', 'null', '[]', '{}', '{"keys":{}}', '<html>', big, many]) {
      const server = await serveKeys((_, response) => void response.end(text))
      await assert.rejects(found(issuerKeys(server.url, { times: quick })), unavailable, text.slice(0, 20))
      await server.close()
    }
    for (const status of [302, 404, 500]) {
      const server = await serveKeys((_, response) => {
        response.writeHead(status, { location: 'http://127.0.0.1:1/' })
        response.end('{"keys":[]}')
      })
      await assert.rejects(found(issuerKeys(server.url, { times: quick })), unavailable, `${status}`)
      await server.close()
    }
  })

  test('one that goes away is missed only when its keys are old', async () => {
    const pair = await generateKeyPair('ES256', { extractable: true })
    const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'one' }
    let isAway = false
    const server = await serveKeys((_, response) => {
      response.statusCode = isAway ? 503 : 200
      response.end(JSON.stringify({ keys: [jwk, { kty: 'oct', k: 'AAAA', kid: 'one' }, null, 7] }))
    })
    let now = 0
    const keys = issuerKeys(server.url, { times: quick, now: () => now })
    await found(keys)
    isAway = true
    now = quick.freshMs
    await found(keys)
    now = quick.staleMs
    await assert.rejects(found(keys), unavailable)
    isAway = false
    now += quick.pauseMs * 3
    await found(keys)
    await server.close()
  })
})
