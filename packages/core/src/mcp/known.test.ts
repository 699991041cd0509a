/** What no message about a server may show, however long it is used. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { systemClock } from '../identity/clock.ts'
import { closePools, createPools } from './http-request.ts'
import { knownOf } from './known.ts'
import { httpServer, settingsOf } from './testing/settings.ts'

test('the values of the configuration are hidden however many tokens came, and the last 64 tokens', async () => {
  let count = 0
  const http = createServer((_, response) => {
    count += 1
    response.end(JSON.stringify({ access_token: `token-${String(count).padStart(3, '0')}` }))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const pools = createPools()
  try {
    const auth = {
      kind: 'clientCredentials' as const,
      tokenUrl: `http://127.0.0.1:${(http.address() as AddressInfo).port}/token`,
      ...{ clientId: 'me', clientSecret: 'quiet-word', scope: null },
    }
    const headers = { 'x-key': 'key-of-the-configuration' }
    const { tokens, hide } = knownOf(settingsOf('s', httpServer('https://crm.example/mcp', { headers, auth })), {
      ...{ clock: systemClock, pools, log: () => {} },
    })
    for (let at = 1; at <= 70; at++) {
      const token = await tokens?.get()
      assert.equal(hide(`${token} quiet-word key-of-the-configuration`), '[hidden] [hidden] [hidden]', `token ${at}`)
      tokens?.refused(token ?? '')
    }
    assert.equal(hide('token-007'), '[hidden]')
    assert.equal(hide('token-006'), 'token-006')
  } finally {
    closePools(pools)
    http.closeAllConnections()
    http.close()
  }
})
