/** MCP servers that send much of what they may send, have odd names, or repeat secrets: nobody else waits, and nobody reads them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { assertEvents, notices } from './support/claims.ts'
import type { Doing, Script } from './support/mcp-script.ts'
import {
  callTools,
  createMcpStage,
  createPlayed,
  everything,
  namesOf,
  type Played,
  readBy,
  text,
  toolErrors,
  user,
} from './support/mcp-stage.ts'
import { agent, type Stage, until } from './support/stage.ts'
import { undisturbed } from './support/undisturbed.ts'
import type { RunResult } from './support/wire.ts'

const token = 'tok_host_q9w8e7r6t5y4u3i2'
const note = (method: string, params = {}) => JSON.stringify({ jsonrpc: '2.0', method, params })
const many: Record<string, Doing> = {
  parts: { parts: { count: 150_000, part: { type: 'text', text: 'x' } } },
  images: { parts: { count: 100_000, part: { type: 'image', data: '', mimeType: 'image/png' } } },
  links: { parts: { count: 50_000, part: { type: 'resource_link', uri: 'https://x.example/a', name: 'a' } } },
  keys: { keys: 300_000 },
  logs: {
    flood: { count: 100_000, line: note('notifications/message', { level: 'info', data: 'x'.repeat(100) }) },
    text: 'ok',
  },
  changes: { flood: { count: 100_000, line: note('notifications/tools/list_changed') }, text: 'ok' },
  pings: { flood: { count: 50_000, line: JSON.stringify({ jsonrpc: '2.0', id: 'p', method: 'ping' }) }, text: 'ok' },
  blank: { flood: { count: 100_000, line: '' }, text: 'ok' },
  text: { lineOf: 15 * 1024 * 1024 },
}
const odd = ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'x'.repeat(1000), 'line\nbreak', ' ', '🦊']
const script: Script = { tools: Object.keys(many).map((name) => text(name)), calls: many }

let stage: Stage
let played: Played
before(async () => {
  process.env['MCP_TEST_SECRET'] = token
  played = await createPlayed()
  const secret = `\${MCP_TEST_SECRET}`
  stage = await createMcpStage({
    many: played.stdio('many', script),
    crowd: played.stdio('crowd', { crowd: { count: 490, properties: 30 } }),
    over: played.stdio('over', { crowd: { count: 501, properties: 1 } }),
    odd: played.stdio('odd', { tools: odd.map((name) => text(name)) }),
    failing: played.stdio('failing', { starts: 'fails' }, { env: { TOKEN: secret } }),
    denied: await played.http('denied', { refuses: 401 }, { headers: { Authorization: `Bearer ${secret}` } }),
    broken: await played.http('broken', { refuses: 500 }, { headers: { 'X-Key': secret } }),
    slow: played.stdio('slow', { tools: [text('go')], starts: 'never' }, { connectTimeoutMs: 400 }),
    web: await played.http('web', { tools: [text('go')], calls: { go: [{ dies: true }, { text: 'again' }] } }),
    wide: await played.http('wide', { tools: [text('go')], calls: { go: { hangs: true } } }, { readOnly: ['go'] }),
    safe: await played.http(
      'safe',
      { tools: [text('go')], calls: { go: [{ dies: true }, { text: 'again' }] } },
      { readOnly: ['*'] },
    ),
  })
})
after(async () => {
  await stage?.close()
  await played?.close()
})

const eventsOf = ({ conversationId }: RunResult) => stage.events(conversationId)

describe('much of what a server may send', () => {
  for (const name of Object.keys(many))
    test(`holds nobody up: ${name}`, async () => {
      const one = user(`gets-${name}`, 'many', { use: { tools: [name] } })
      const run = await undisturbed(stage, name, () => callTools(stage, one, [[`many_${name}`]]))
      assert.equal(run.status, 'completed', JSON.stringify(run.error))
      const [read = ''] = readBy(stage, one.id)
      assert.ok(read.length > 0 && read.length < 40_000, `${read.length} characters`)
      if (many[name]?.text === 'ok') assert.equal(read, 'ok')
      assertEvents(await eventsOf(run))
    })

  test('holds nobody up: almost too many large tools', async () => {
    const run = await undisturbed(stage, 'crowd', () =>
      callTools(stage, user('in-a-crowd', 'crowd'), [['crowd_t0', {}]]),
    )
    assert.equal(run.status, 'completed', JSON.stringify(run.error))
    assert.equal(namesOf(stage.model.of('in-a-crowd')[0]).length, 64)
    assert.equal(notices(await eventsOf(run), 'MCP_TOOLS_LEFT_OUT').length, 1)
  })

  test('is no more than 500 tools', async () => {
    const run = await callTools(stage, user('overrun', 'over'), [])
    assert.deepEqual(namesOf(stage.model.of('overrun')[0]), [])
    assert.equal(notices(await eventsOf(run), 'MCP_SERVER_UNAVAILABLE').length, 1)
  })
})

describe('tools with odd names', () => {
  test('are offered under names that every provider takes, or refused, and are no less guarded than others', async () => {
    const run = await callTools(stage, agent('odd-one', { mcp: [{ server: 'odd' }] }), [])
    assert.equal(run.status, 'completed', JSON.stringify(run.error))
    const names = namesOf(stage.model.of('odd-one')[0])
    for (const name of names) assert.match(name, /^odd_[A-Za-z0-9_-]{1,60}$/)
    assert.ok(names.includes('odd_constructor') && names.includes('odd_toString'), names.join())
    stage.model.script('odd-two', { calls: [{ name: 'odd_constructor' }] }, { text: 'done' })
    await stage.save(agent('odd-two', { mcp: [{ server: 'odd' }] }))
    const waiting = await stage.ask('odd-two', 'go')
    assert.deepEqual([waiting.status, waiting.interruptions[0]?.tool], ['waiting', 'odd_constructor'])
    assert.deepEqual(played.calls('odd'), [])
  })
})

describe('a secret of the configuration', () => {
  for (const server of ['failing', 'denied', 'broken'])
    test(`that a server repeats stands nowhere: ${server}`, async () => {
      const run = await callTools(stage, user(`told-by-${server}`, server), [])
      assert.equal(notices(await eventsOf(run), 'MCP_SERVER_UNAVAILABLE').length, 1)
      const refreshed = await stage.witan.call('POST', `/api/v1/mcp/servers/${server}/refresh`)
      const views = await stage.witan.call('GET', '/api/v1/mcp/servers')
      await delay(100)
      const all = (await everything(stage, run)) + refreshed.text + views.text + stage.witan.output
      assert.equal(all.includes(token), false)
    })
})

describe('a server that is slow to start', () => {
  test('is started once for all who wait for it', async () => {
    const ids = ['a', 'b', 'c'].map((one) => `waits-${one}`)
    for (const id of ids) {
      await stage.save(user(id, 'slow'))
      stage.model.script(id, { text: 'done' })
    }
    const runs = await Promise.all(ids.map((id) => stage.ask(id, 'go')))
    for (const run of runs) assert.equal(notices(await eventsOf(run), 'MCP_SERVER_UNAVAILABLE').length, 1)
    const started = played.heard('slow').filter(({ message }) => message.method === 'started')
    assert.ok(started.length <= 2, `started ${started.length} times`)
  })
})

describe('a connection over HTTP that is lost in the middle of a call', () => {
  test('leaves an unknown outcome', async () => {
    const run = await callTools(stage, user('lost', 'web'), [['web_go'], ['web_go']])
    assert.deepEqual(toolErrors(await eventsOf(run)), ['OUTCOME_UNKNOWN'])
    assert.equal(readBy(stage, 'lost')[1], 'again')
    assert.equal(played.calls('web').length, 2)
  })

  test('is made again for a tool that only reads', async () => {
    const run = await callTools(stage, user('found', 'safe'), [['safe_go']])
    assert.deepEqual([toolErrors(await eventsOf(run)), readBy(stage, 'found')], [[], ['again']])
  })

  test('is told to the server when its run is cancelled', async () => {
    await stage.save(user('leaving', 'wide'))
    stage.model.script('leaving', { calls: [{ name: 'wide_go' }] })
    const { id } = await stage.begin('leaving')
    const { body } = await stage.runAnswer<{ runId: string }>(id, { prompt: 'go', wait: false })
    await played.untilHeard('wide', 'tools/call')
    const from = Date.now()
    await stage.witan.call('POST', `/api/v1/runs/${body.runId}/cancel`, { body: {} })
    const told = await played.untilHeard('wide', 'notifications/cancelled')
    assert.ok(told.at - from < 1000, `${told.at - from} ms`)
    await until(
      () => stage.conversation(id),
      ({ status }) => status === 'idle',
    )
  })
})
