/** The token, its cookie, and where a server may listen. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localPrincipal } from '@witan/core'
import { isWitanError } from '@witan/protocol'
import { checkBinding, createAuth } from './auth.ts'

const base = 'http://127.0.0.1:4747'
const auth = createAuth('local', () => 4747)
const token = auth.token ?? ''

function request(headers: Record<string, string>): Request {
  return new Request(`${base}/api/v1/agents`, { headers })
}

async function isUnauthenticated(act: () => unknown): Promise<void> {
  await assert.rejects(
    async () => act(),
    (error) => isWitanError(error) && error.code === 'UNAUTHENTICATED' && !error.message.includes(token),
  )
}

test('a token can be given to an option of a command: none begins with `-`', () => {
  for (let start = 0; start < 1000; start += 1) assert.match(createAuth('local', () => 1).token ?? '', /^\w[\w-]{42}$/)
})

test('each start has a token of its own, long enough', () => {
  assert.match(token, /^[\w-]{43}$/)
  assert.notEqual(createAuth('local', () => 1).token, token)
})

test('the token opens, anything else does not', async () => {
  assert.equal(await auth.check(request({ authorization: `Bearer ${token}` })), localPrincipal)
  assert.equal(await auth.check(request({ authorization: `bearer  ${token}` })), localPrincipal)
  const wrong = [
    '',
    'Bearer',
    'Bearer ',
    `Basic ${token}`,
    token,
    `Bearer ${token}x`,
    `Bearer ${token.slice(1)}`,
    'Bearer null',
  ]
  for (const authorization of wrong) await isUnauthenticated(() => auth.check(request({ authorization })))
  await isUnauthenticated(() => auth.check(request({})))
})

test('a page with the token is sent on without it and gets a cookie that opens', async () => {
  const response = auth.exchange(new URL(`${base}/conversations/x?a=1&token=${token}&b=2`))
  assert.equal(response?.status, 303)
  assert.equal(response?.headers.get('location'), '/conversations/x?a=1&b=2')
  const cookie = response?.headers.get('set-cookie') ?? ''
  assert.match(cookie, /^witan_4747=[\w-]+; Path=\/; HttpOnly; SameSite=Strict$/)
  assert.equal(cookie.includes(token), false, 'other servers of this machine see the cookie')
  const [pair = ''] = cookie.split(';')
  assert.equal(await auth.check(request({ cookie: `other=1; ${pair}; more=2` })), localPrincipal)
  await isUnauthenticated(() => auth.check(request({ cookie: `${pair}x` })))
  await isUnauthenticated(() => auth.check(request({ cookie: pair.replace('4747', '4748') })))
  await isUnauthenticated(() => auth.check(request({ cookie: pair, authorization: 'Bearer wrong' })))
  await isUnauthenticated(() => createAuth('local', () => 4747).check(request({ cookie: pair })))
})

test('a redirect never leaves the server', () => {
  for (const path of ['//evil.test/', '/\\evil.test/', '///evil.test']) {
    const url = new URL(base)
    url.pathname = path
    url.search = `?token=${token}`
    assert.match(auth.exchange(url)?.headers.get('location') ?? '', /^\/[^/\\]/)
  }
})

test('a wrong token in a page address is refused; none is no matter', async () => {
  await isUnauthenticated(() => auth.exchange(new URL(`${base}/?token=wrong`)))
  assert.equal(auth.exchange(new URL(`${base}/?a=1`)), null)
})

test('mode none asks for nothing', async () => {
  const open = createAuth('none', () => 4747)
  assert.equal(await open.check(request({})), localPrincipal)
  assert.equal(open.token, null)
  assert.equal(open.exchange(new URL(`${base}/?token=x`)), null)
})

test('no mode of one principal binds an address that others reach; keys and tokens may [D18]', () => {
  for (const mode of ['keys', 'jwt'] as const) checkBinding('0.0.0.0', mode)
  for (const mode of ['none', 'local'] as const) {
    checkBinding('127.0.0.1', mode)
    checkBinding('localhost', mode)
    for (const host of ['0.0.0.0', '::', '192.168.0.7', 'bots.example.com']) {
      assert.throws(
        () => checkBinding(host, mode),
        (error) => isWitanError(error) && error.code === 'CONFIG_INVALID' && error.message.includes(host),
      )
    }
  }
})
