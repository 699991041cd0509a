/** An agent elsewhere that is known by its card: whoever writes the card may name any server, and only that of `card` gets the credential. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { call } from '@witan/core/testing'
import { createStage } from '../support/stage.ts'

const variable = 'WITAN_TEST_TRAVEL'
const secret = 'cny_travel'

describe('a credential from the environment', () => {
  let endpoint = ''
  let isRedirected = false
  let asked: { readonly host: string; readonly method: string; readonly authorization: string | undefined }[] = []
  const server = createServer((request, response) => {
    const { host = '', authorization } = request.headers
    asked.push({ host, method: request.method ?? '', authorization })
    response.setHeader('content-type', 'application/json')
    if (isRedirected && host === 'travel.test' && request.method === 'GET')
      return response.writeHead(302, { location: 'https://other.test/card' }).end()
    const offered = [{ url: endpoint, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]
    const task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } }
    const reply =
      request.method === 'GET'
        ? { name: 'Travel', supportedInterfaces: offered, capabilities: {} }
        : { jsonrpc: '2.0', id: 1, result: { task } }
    return response.end(JSON.stringify(reply))
  })
  before(async () => {
    process.env[variable] = secret
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  after(() => {
    delete process.env[variable]
    server.close()
  })

  /** What the call ends with, and what the servers were asked. */
  async function called(more: object) {
    asked = []
    const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const names = ['travel.test', 'other.test', 'api.travel.test', 'travel.test.other.test']
    const { ask, events, runtime } = createStage({
      agents: [{ id: 'desk', remotes: [{ name: 'travel', card: 'https://travel.test/card', ...more }] }],
      plays: { desk: (_, turn) => (turn === 0 ? call('travel', { message: 'When?' }) : 'done') },
      options: {
        domains: { 'a.test': 'default' },
        federation: { resolve: Object.fromEntries(names.map((name) => [name, at])) },
      },
    })
    const { status } = await ask('desk', 'go', { id: 'chats/1' })
    assert.equal(status, 'completed')
    const failed = (await events('chats/1')).find(
      ({ document, type }) => document === 'chats/1/travel' && type === 'error',
    )
    await runtime.close()
    return failed?.content ?? null
  }

  const others: Readonly<Record<string, string>> = {
    'another host': 'https://other.test/a2a',
    'a host below it': 'https://api.travel.test/a2a',
    'a host that begins with its name': 'https://travel.test.other.test/a2a',
    'another port': 'https://travel.test:8443/a2a',
    'the same host without TLS': 'http://travel.test/a2a',
    'its name as a user': 'https://travel.test@other.test/a2a',
  }
  for (const [what, url] of Object.entries(others))
    test(`is not sent where the card names ${what}`, async () => {
      endpoint = url
      for (isRedirected of [false, true]) {
        const failed = await called({ bearerEnv: variable })
        assert.equal(failed?.['code'], 'REMOTE_CARD_INVALID')
        assert.match(String(failed?.['detail']), /`bearerEnv`/)
        assert.deepEqual(
          asked.filter(({ method, authorization }) => method !== 'GET' || authorization !== undefined),
          [],
        )
      }
      isRedirected = false
    })

  test('is sent to the server of the card, also where the card itself is found elsewhere', async () => {
    endpoint = 'https://travel.test/a2a'
    for (isRedirected of [false, true]) {
      assert.equal(await called({ bearerEnv: variable }), null)
      const credentials = asked.map(({ host, method, authorization }) => [host, method, authorization])
      assert.deepEqual(credentials.at(-1), ['travel.test', 'POST', `Bearer ${secret}`])
      assert.ok(credentials.slice(0, -1).every(([, method, sent]) => method === 'GET' && sent === undefined))
    }
    isRedirected = false
  })

  test('is what the rule is about: without one the card may name any server', async () => {
    endpoint = 'https://other.test/a2a'
    assert.equal(await called({}), null)
    assert.deepEqual(asked.at(-1), { host: 'other.test', method: 'POST', authorization: undefined })
  })
})
