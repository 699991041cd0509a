/** Who may save an agent is not always who runs the server: a variable of the environment goes to the servers that the operator names for it alone. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { memoryStore, type RuntimeOptions } from '@witan/core'
import { call } from '@witan/core/testing'
import type { WitanError } from '@witan/protocol'
import { agent, createStage } from '../support/stage.ts'

type Terms = NonNullable<RuntimeOptions['federation']>['bearerEnv']

const [travel, other] = ['WITAN_TEST_TRAVEL', 'WITAN_TEST_OTHER']
const values = { [travel]: 'cny_travel', [other]: 'cny_other' }
const edge = (card: string, bearerEnv = travel) => ({ name: 'travel', card, bearerEnv })
const [own, evil] = ['https://travel.test/card', 'https://evil.test/card']

describe('a variable of the environment', () => {
  let asked: { readonly host: string; readonly method: string; readonly authorization: string | undefined }[] = []
  const server = createServer((request, response) => {
    const { host = '', authorization } = request.headers
    asked.push({ host, method: request.method ?? '', authorization })
    const offered = [{ url: `https://${host}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]
    const task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } }
    const reply =
      request.method === 'GET'
        ? { name: 'Travel', supportedInterfaces: offered, capabilities: {} }
        : { jsonrpc: '2.0', id: 1, result: { task } }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(reply))
  })
  before(async () => {
    Object.assign(process.env, values)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  after(() => {
    for (const name of Object.keys(values)) delete process.env[name]
    server.close()
  })

  function opened(bearerEnv: Terms, more: Partial<RuntimeOptions> = {}) {
    asked = []
    const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const resolve = { 'travel.test': at, 'evil.test': at }
    return createStage({
      agents: [],
      plays: { desk: (_, turn) => (turn === 0 ? call('travel', { message: 'When?' }) : 'done') },
      options: {
        domains: { 'a.test': 'default' },
        federation: { resolve, ...(bearerEnv === undefined ? {} : { bearerEnv }) },
        ...more,
      },
    })
  }
  const sent = () => asked.flatMap(({ host, authorization }) => (authorization ? [`${host} ${authorization}`] : []))

  const named = { [travel]: ['https://travel.test'] }
  const rows: readonly (readonly [words: string, Terms, object, boolean])[] = [
    ['nobody names it', undefined, edge(own), false],
    ['it is named for the server', named, edge(own), true],
    ['it is named for another server', named, edge(evil), false],
    ['another one is named', named, edge(own, other), false],
    ['it is named for another port', { [travel]: ['https://travel.test:8443'] }, edge(own), false],
    ['it is named for nobody', { [travel]: [] }, edge(own), false],
    ['its name is one of every object', {}, edge(own, 'constructor'), false],
    ['the name has other letters', named, edge(own, travel.toLowerCase()), false],
    ['every one may go anywhere', '*', edge(evil), true],
  ]
  for (const [words, bearerEnv, remote, isTaken] of rows)
    test(`where ${words} an agent that names it is ${isTaken ? 'saved, and sends it' : 'refused'}`, async () => {
      const { runtime, ask } = opened(bearerEnv)
      const saving = runtime.agents.save(agent('desk', { remotes: [remote as ReturnType<typeof edge>] }))
      const { card, bearerEnv: name } = remote as ReturnType<typeof edge>
      const { origin, host } = new URL(card)
      if (isTaken) {
        await saving
        await ask('desk', 'go')
        assert.deepEqual(sent(), [`${host} Bearer ${values[travel]}`])
      } else {
        const refused = await saving.then(
          () => null,
          (error: WitanError) => error,
        )
        assert.deepEqual([refused?.code, refused?.path], ['AGENT_INVALID', 'remotes.0.bearerEnv'])
        assert.match(refused?.message ?? '', new RegExp(`\`${name}\`.*${origin}`))
        assert.match(refused?.hint ?? '', /`federation\.bearerEnv`/)
        assert.ok(refused?.hint?.includes(JSON.stringify({ [name]: [origin] })))
      }
      assert.equal(JSON.stringify(await runtime.agents.list()).includes('cny_'), false)
      await runtime.close()
    })

  test('what the code of the program names it may send, and so may other agents to that server alone', async () => {
    const { runtime, ask } = opened(undefined, { agents: [agent('desk', { remotes: [edge(own)] })] })
    await ask('desk', 'go')
    await runtime.agents.save(agent('other', { remotes: [edge(own)] }))
    for (const remote of [edge(evil), edge(own, other)])
      await assert.rejects(runtime.agents.save(agent('third', { remotes: [remote] })), { code: 'AGENT_INVALID' })
    assert.deepEqual(sent(), [`travel.test Bearer ${values[travel]}`])
    await runtime.close()
  })

  test('an agent that was saved while it might is not called once it may not: nothing is asked, nor sent', async () => {
    const store = memoryStore()
    const open = { store: { ...store, close: async () => undefined } as typeof store }
    const before = opened('*', open)
    await before.runtime.agents.save(agent('desk', { remotes: [edge(evil)] }))
    await before.runtime.close()
    const { runtime, ask, events } = opened(named, open)
    const { status } = await ask('desk', 'go', { id: 'chats/1' })
    assert.equal(status, 'completed')
    const failed = (await events('chats/1')).find(
      ({ type, document }) => type === 'error' && document === 'chats/1/travel',
    )
    assert.equal(failed?.content?.['code'], 'REMOTE_CARD_INVALID')
    assert.match(String(failed?.content?.['detail']), /`federation\.bearerEnv`/)
    assert.deepEqual(asked, [])
    await runtime.close()
  })
})
