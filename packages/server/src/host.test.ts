/** Which hosts and origins reach the server. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWitanError } from '@witan/protocol'
import { checkHost, checkOrigin, type HostPolicy, isLoopback } from './host.ts'

const policy: HostPolicy = { port: () => 4747, allowed: ['bots.example.com', 'proxy.example.com:8443'] }

function isRefused(act: () => void, name: string): void {
  assert.throws(act, (error) => {
    assert.ok(isWitanError(error), String(error))
    assert.equal(error.code, 'HOST_NOT_ALLOWED')
    assert.ok(error.message.includes(name), error.message)
    assert.match(error.hint ?? '', /server\.allowedHosts/)
    return true
  })
}

const hosts = [
  '127.0.0.1:4747',
  'localhost:4747',
  'LOCALHOST:4747',
  '[::1]:4747',
  'bots.example.com',
  'bots.example.com:99',
  'proxy.example.com:8443',
]
const foreignHosts = [
  'evil.test',
  'evil.test:4747',
  '127.0.0.1',
  '127.0.0.1:80',
  'localhost.evil.test:4747',
  'proxy.example.com',
  '127.0.0.1:4747.evil.test',
  '',
  '0.0.0.0:4747',
]

for (const host of hosts) test(`Host ${host} reaches it`, () => checkHost(host, policy))
for (const host of foreignHosts) test(`Host \`${host}\` does not`, () => isRefused(() => checkHost(host, policy), host))

test('the default port is not written', () => {
  checkHost('localhost', { port: () => 80, allowed: [] })
  isRefused(() => checkHost('localhost:80x', { port: () => 80, allowed: [] }), 'localhost')
})

function from(headers: Record<string, string>): Request {
  return new Request('http://127.0.0.1:4747/api/v1/agents', { method: 'POST', headers })
}

test('no origin, an own one and a listed one may write', () => {
  checkOrigin(from({}), policy)
  checkOrigin(from({ 'sec-fetch-site': 'same-origin' }), policy)
  for (const host of hosts) checkOrigin(from({ origin: `http://${host}` }), policy)
  checkOrigin(from({ origin: 'https://bots.example.com' }), policy)
})

const foreignOrigins = [
  'http://evil.test',
  'null',
  'http://localhost:3000',
  'https://bots.example.com.evil.test',
  'file://',
  'chrome-extension://abc',
  'http://a@127.0.0.1:4747',
]
for (const origin of foreignOrigins) {
  test(`Origin ${origin} may not`, () => isRefused(() => checkOrigin(from({ origin }), policy), 'Origin'))
}

test('a cross-site request without an origin may not', () => {
  isRefused(() => checkOrigin(from({ 'sec-fetch-site': 'cross-site' }), policy), 'another site')
})

test('what is this machine', () => {
  for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', '::1', '[::1]']) assert.equal(isLoopback(host), true, host)
  for (const host of ['0.0.0.0', '::', '192.168.1.1', '127.0.0.1.evil.test', 'example.com', ''])
    assert.equal(isLoopback(host), false, host)
})
