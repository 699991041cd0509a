/** How calls of tools of MCP servers travel: at once, with progress, by conversation, and beside other tools of an agent. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { notices } from './support/claims.ts'
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
  toolsOf,
  user,
} from './support/mcp-stage.ts'
import { segment, type Stage } from './support/stage.ts'
import { toolContents } from './support/transcript.ts'

const go = [text('go')]
const elsewhere = { heard: 0 }
const moved = createServer((request, response) => {
  if (request.url === '/mcp') response.writeHead(307, { location: `http://localhost:${portOf(other)}/mcp` }).end()
})
const other = createServer((_, response) => {
  elsewhere.heard += 1
  response.writeHead(404).end()
})
const portOf = (server: ReturnType<typeof createServer>) => (server.address() as AddressInfo).port

const clientSecret = 'cs_calls_l2k3j4h5g6f7d8s9'
let stage: Stage
let played: Played
before(async () => {
  for (const server of [moved, other]) await once(server.listen(0, '127.0.0.1'), 'listening')
  process.env['MCP_TEST_CLIENT'] = clientSecret
  played = await createPlayed()
  const guarded = await played.http('guarded', { tools: go, needs: 'Bearer access-2-of-many' })
  const tokenUrl = String(guarded['url']).replace('/mcp', '/token')
  const credentials = {
    kind: 'clientCredentials',
    tokenUrl,
    clientId: 'witan-1',
    clientSecretEnv: 'MCP_TEST_CLIENT',
    scope: 'tools',
  }
  const slow = { calls: { slow: { delayMs: 400, text: 'slow' }, quick: { text: 'quick' } } }
  const working = { progress: { count: 4, everyMs: 400 }, text: 'worked' }
  const asks = { ask: { method: 'roots/list', params: {} } }
  stage = await createMcpStage({
    both: played.stdio('both', { tools: [text('slow'), text('quick')], ...slow }),
    working: played.stdio('working', { tools: go, calls: { go: working } }, { timeoutMs: 1200 }),
    endless: played.stdio(
      'endless',
      { tools: go, calls: { go: { ...working, progress: { count: 99, everyMs: 50 } } } },
      { timeoutMs: 400, maxTotalMs: 800 },
    ),
    mine: played.stdio('mine', { tools: go }, { scope: 'conversation' }),
    ours: played.stdio('ours', { tools: go }),
    rooted: played.stdio('rooted', { tools: go, calls: { go: asks } }, { roots: ['/srv/data'] }),
    late: played.stdio('late', { tools: go, starts: 'fails' }),
    // Their names with these of their tools are those of other tools.
    save: played.stdio('save', { tools: [text('artifact'), text('other')] }),
    update: played.stdio('update', { tools: [text('plan'), text('other')] }),
    shop: played.stdio('shop', { tools: [text('buy'), text('look')] }),
    guarded: { ...guarded, auth: credentials },
    redirected: { url: `http://127.0.0.1:${portOf(moved)}/mcp`, headers: { Authorization: 'Bearer of-this-origin' } },
  })
})
after(async () => {
  await stage?.close()
  await played?.close()
  for (const server of [moved, other]) server.close().closeAllConnections()
})

describe('calls of one turn', () => {
  test('go out together, and their results stand in the order of the calls', async () => {
    await stage.save(user('hurried', 'both'))
    const calls = ['both_slow', 'both_quick', 'both_slow'].map((name) => ({ name }))
    stage.model.script('hurried', { calls }, { text: 'done' })
    const run = await stage.ask('hurried', 'go')
    const heard = played.heard('both').filter(({ message }) => message.method === 'tools/call')
    const [first, , last] = heard.map(({ at }) => at)
    assert.ok((last ?? 0) - (first ?? 0) < 400, 'the last went out before the first was answered')
    assert.deepEqual(readBy(stage, 'hurried'), ['slow', 'quick', 'slow'])
    assert.equal(run.usage.toolCalls, 3)
  })
})

describe('progress of a call', () => {
  test('is streamed to who listens, and makes the call last longer', async () => {
    await stage.save(user('watched', 'working'))
    stage.model.script('watched', { calls: [{ name: 'working_go' }] }, { text: 'done' })
    const { id } = await stage.begin('watched')
    const path = `/api/v1/conversations/${segment(id)}/runs`
    const { frames } = await stage.witan.stream('POST', path, { body: { prompt: 'go', verbose: true } })
    const seen: { kind?: string; content?: Record<string, unknown> }[] = []
    for await (const { event, data } of frames)
      if (event === 'delta') seen.push(JSON.parse(data) as { kind?: string; content?: Record<string, unknown> })
    assert.deepEqual(toolContents(stage.model.of('watched')[1]), ['worked'])
    const told = JSON.stringify(seen.filter((one) => one.kind === 'tool'))
    for (const part of ['"progress":', '"total":4', '"message":"step '])
      assert.ok(told.includes(part), `${part} in ${told}`)
  })

  test('does not make it last for ever', async () => {
    const run = await callTools(stage, user('bounded', 'endless'), [['endless_go']])
    assert.deepEqual(toolErrors(await stage.events(run.conversationId)), ['TOOL_TIMEOUT'])
    await played.untilHeard('endless', 'notifications/cancelled')
  })
})

describe('a process', () => {
  const pids = (server: string) => new Set(played.calls(server).map((_, at) => callOf(server, at)))
  const callOf = (server: string, at: number) =>
    played.heard(server).filter(({ message }) => message.method === 'tools/call')[at]?.pid
  const twice = async (id: string, server: string) => {
    await stage.save(user(id, server))
    stage.model.on(id, ({ body }) =>
      body.messages.at(-1)?.role === 'tool' ? { text: 'done' } : { calls: [{ name: `${server}_go` }] },
    )
    const first = await stage.ask(id, 'go')
    await stage.run(first.conversationId, { prompt: 'again' })
    await stage.ask(id, 'go')
  }

  test('serves all conversations', async () => {
    await twice('sharer', 'ours')
    assert.deepEqual([played.calls('ours').length, pids('ours').size], [3, 1])
  })

  test('serves one conversation, if the configuration says so', async () => {
    await twice('owner', 'mine')
    assert.deepEqual([played.calls('mine').length, pids('mine').size], [3, 2])
    assert.equal(callOf('mine', 0), callOf('mine', 1))
  })

  test('is asked which folders it may use', async () => {
    await callTools(stage, user('rooter', 'rooted'), [['rooted_go']])
    assert.deepEqual(JSON.parse(readBy(stage, 'rooter')[0] ?? ''), {
      result: { roots: [{ uri: 'file:///srv/data' }] },
      error: null,
    })
  })

  test('that failed to start is tried again after a second', async () => {
    const first = await callTools(stage, user('too-early', 'late'), [])
    assert.equal(notices(await stage.events(first.conversationId), 'MCP_SERVER_UNAVAILABLE').length, 1)
    played.play('late', { tools: go })
    await delay(1200)
    await callTools(stage, user('in-time', 'late'), [['late_go', { a: 1 }]])
    assert.deepEqual(readBy(stage, 'in-time'), ['{"a":1}'])
  })
})

describe('a tool named like another', () => {
  const unique = (id: string) => {
    const names = namesOf(stage.model.of(id)[0])
    assert.equal(new Set(names).size, names.length, names.join())
    return names
  }

  test('of Witan itself is not offered in its place, nor where that is not offered', async () => {
    for (const [server, name, more] of [
      ['save', 'save_artifact', { artifacts: true }],
      ['update', 'update_plan', {}],
    ] as const) {
      const run = await callTools(stage, user(`with-${server}`, server, more), [])
      assert.equal(run.status, 'completed', JSON.stringify(run.error))
      const own = toolsOf(stage.model.of(`with-${server}`)[0]).filter((tool) => tool.name === name)
      assert.equal(
        own.some(({ description }) => description.startsWith('Does ')),
        false,
        `${name} is that of the server`,
      )
      assert.ok(unique(`with-${server}`).includes(`${server}_other`))
      const codes = (await stage.events(run.conversationId))
        .filter(({ type }) => type === 'notice')
        .map(({ content }) => content['code'])
      assert.equal(codes.length, 1, JSON.stringify(codes))
    }
  })

  test('of the agent is offered once, and a call reaches what the agent means', async () => {
    const one = user('owner-of-one', 'shop', { actions: [{ name: 'shop_buy', description: 'Its own.' }] })
    const saved = await stage.witan.call('POST', '/api/v1/agents/batch', { body: { agents: [one] } })
    if (saved.status >= 400) return
    stage.model.script('owner-of-one', { calls: [{ name: 'shop_buy' }] }, { text: 'done' })
    const run = await stage.ask('owner-of-one', 'go')
    assert.deepEqual(unique('owner-of-one'), ['shop_buy', 'shop_look'])
    assert.equal(toolsOf(stage.model.of('owner-of-one')[0])[0]?.description, 'Its own.')
    assert.deepEqual([run.status, run.interruptions[0]?.kind], ['waiting', 'action'])
    assert.deepEqual(played.calls('shop'), [])
  })
})

describe('an address', () => {
  test('that sends to another origin is not followed', async () => {
    const run = await callTools(stage, user('followed', 'redirected'), [])
    assert.equal(run.status, 'completed')
    assert.equal(notices(await stage.events(run.conversationId), 'MCP_SERVER_UNAVAILABLE').length, 1)
    assert.equal(elsewhere.heard, 0)
  })
})

describe('a server that wants tokens', () => {
  test('gets one, and another once it refuses the first; neither stands anywhere', async () => {
    const run = await callTools(stage, user('bearer', 'guarded'), [['guarded_go', { a: 1 }]])
    assert.deepEqual(readBy(stage, 'bearer'), ['{"a":1}'])
    const asked = played.heard('guarded').filter(({ message }) => message.method === 'token')
    assert.equal(asked.length, 2)
    const said = JSON.stringify(asked[0])
    const basic = Buffer.from(`witan-1:${clientSecret}`).toString('base64')
    assert.ok(said.includes(clientSecret) || said.includes(basic), 'the secret is sent')
    for (const word of ['grant_type=client_credentials', 'scope=tools']) assert.ok(said.includes(word), said)
    const views = await stage.witan.call('GET', '/api/v1/mcp/servers')
    const all = (await everything(stage, run)) + views.text + stage.witan.output
    for (const secret of ['-of-many', clientSecret, basic]) assert.equal(all.includes(secret), false, secret)
  })
})

describe('a tool that an agent lets only some use', () => {
  test('is not offered to others, and a call all the same is refused, by the name that models read', async () => {
    const access = { tools: { shop_buy: ['role:nobody'] } }
    const one = user('guarding', 'shop', { access })
    const run = await callTools(stage, one, [['shop_buy'], ['shop_look', { a: 1 }]])
    assert.equal(run.status, 'completed', JSON.stringify(run.error))
    assert.deepEqual(namesOf(stage.model.of('guarding')[0]), ['shop_look'])
    assert.deepEqual(toolErrors(await stage.events(run.conversationId)), ['NOT_ALLOWED'])
    assert.deepEqual(
      played.calls('shop').map(({ tool }) => tool),
      ['look'],
    )
  })
})

describe('what a server writes for people', () => {
  test('stands in the log of the process, with the name of the server, and not without end', async () => {
    const { calls } = { calls: { go: { writes: `first line of it\n${'more of it\n'.repeat(5000)}`, text: 'fine' } } }
    played.play('ours', { tools: go, calls })
    const before = stage.witan.output.length
    await callTools(stage, user('writer', 'ours'), [['ours_go']])
    await delay(1000)
    const said = stage.witan.output.slice(before)
    const [line] = said.split('\n').filter((one) => one.includes('first line of it'))
    assert.ok(line?.includes('ours'), line)
    assert.ok(stage.witan.output.length - before < 100_000, `${stage.witan.output.length - before} characters`)
  })
})
