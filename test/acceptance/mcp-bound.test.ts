/** Values that agents bind for tools of MCP servers: they reach the server and nobody else; and what else a server's process gets to know. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assertProblem, notices } from './support/claims.ts'
import type { Doing, PlayedTool } from './support/mcp-script.ts'
import {
  callTools,
  createMcpStage,
  createPlayed,
  everything,
  namesOf,
  type Played,
  readBy,
  text,
  texts,
  toolsOf,
  user,
} from './support/mcp-stage.ts'
import { agent, segment, type Stage, sub } from './support/stage.ts'
import type { RunResult } from './support/wire.ts'

const userId = 'usr_mcp_k7r2m9x4q8w1z5t3'
const other = 'usr_mcp_b3n6v0c8l2j5h9g4'
const third = 'usr_mcp_w2e4r6t8y1u3i5o7'
const token = 'tok_mcp_f1d2s3a4p5o6i7u8'
const header = 'hdr_mcp_y9x8w7v6u5t4s3r2'
const hidden = { name: 'userId', type: 'string', sendToModel: false }
const trusted = { ...hidden, policy: 'forbidModelGeneration' }

const shop: PlayedTool[] = [
  text('orders', { inputSchema: texts(['user_id', 'month'], ['user_id', 'month']) }),
  text('typed', {
    inputSchema: {
      ...texts(['month'], ['month', 'account']),
      properties: { month: { type: 'string' }, account: { type: 'integer' } },
      additionalProperties: false,
    },
  }),
  text('plain', { inputSchema: texts(['month']) }),
  text('curious', { inputSchema: texts(['userId', 'month']) }),
  text('greedy', { inputSchema: texts(['userID', 'month'], ['userID']) }),
]

/** What a server that was given a value may do with it. */
const image = {
  type: 'resource',
  resource: { uri: `file:///${userId}.pdf`, mimeType: 'application/pdf', blob: 'AAAA' },
}
const back: Record<string, Doing> = {
  text: { text: `You are ${userId}.` },
  error: { result: { isError: true, content: [{ type: 'text', text: `No such person: ${userId}` }] } },
  failure: { raw: [`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"unknown ${userId}"}}`] },
  json: { result: { content: [], structuredContent: { who: userId, [userId]: true } } },
  odd: { result: { content: [{ type: 'text', text: 'odd' }], structuredContent: { count: 1, [userId]: true } } },
  link: { result: { content: [{ type: 'resource_link', uri: `https://x.example/${userId}`, name: userId }] } },
  blob: { result: { content: [image] } },
  long: { text: `${userId} `.repeat(3000) },
  late: { text: `${'x'.repeat(40_000)} ${userId}` },
  log: { writes: `asked for $ARGUMENTS by ${userId}`, text: 'fine' },
}
const counted = { type: 'object', properties: { count: { type: 'number' } }, additionalProperties: false }
const gossip: PlayedTool[] = Object.keys(back).map((name) =>
  text(name, { inputSchema: texts(['user_id'], ['user_id']), ...(name === 'odd' ? { outputSchema: counted } : {}) }),
)

let stage: Stage
let played: Played
before(async () => {
  process.env['MCP_TEST_TOKEN'] = token
  process.env['MCP_TEST_HEADER'] = header
  process.env['MCP_TEST_OTHER'] = 'not for servers'
  played = await createPlayed()
  const env = { TOKEN: `\${MCP_TEST_TOKEN}`, LEVEL: 'info' }
  stage = await createMcpStage({
    shop: played.stdio('shop', { tools: shop }, { env }),
    gossip: played.stdio('gossip', { tools: gossip, calls: back }),
    inside: played.stdio('inside', { tools: [text('look')], calls: { look: { say: 'environment' } } }, { env }),
    web: await played.http('web', { tools: shop }, { headers: { 'X-Key': `\${MCP_TEST_HEADER}` } }),
  })
})
after(async () => {
  await stage?.close()
  await played?.close()
})

/** A run of an agent with a value for its parameter, whose model makes one call. */
async function runAs(value: string, one: ReturnType<typeof agent>, [name, args]: [string, object]): Promise<RunResult> {
  await stage.save(one)
  stage.model.on(one.id, ({ body }) =>
    body.messages.at(-1)?.role === 'tool' ? { text: 'done' } : { calls: [{ name, args }] },
  )
  const run = await stage.ask(one.id, 'go', { parameters: { userId: value } })
  assert.equal(run.status, 'completed', JSON.stringify(run.error))
  return run
}

/** A value stands nowhere that a person, a model or an operator reads. */
async function assertHidden(value: string, run: RunResult): Promise<void> {
  assert.equal((await everything(stage, run)).includes(value), false, 'in events, documents or requests of models')
  assert.equal(stage.witan.output.includes(value), false, 'in the log of the process')
  const servers = await stage.witan.call('GET', '/api/v1/mcp/servers')
  assert.equal(servers.text.includes(value), false, 'in what is told of servers')
}

describe('an argument that is bound', () => {
  const bound = (id: string, more: object = {}) =>
    user(id, 'shop', { use: { tools: ['orders'], bind: { user_id: 'userId' } }, parameters: [trusted], ...more })

  test('is no argument that the model reads, and has the value of the parameter at the call', async () => {
    const run = await runAs(userId, bound('clerk'), ['shop_orders', { month: 'May' }])
    const [tool] = toolsOf(stage.model.of('clerk')[0])
    assert.deepEqual(
      [Object.keys(tool?.parameters['properties'] ?? {}), tool?.parameters['required']],
      [['month'], ['month']],
    )
    assert.deepEqual(played.calls('shop').at(-1)?.args, { month: 'May', user_id: userId })
    const start = (await stage.events(run.conversationId)).find(({ type, kind }) => type === 'start' && kind === 'tool')
    assert.deepEqual([start?.content['arguments'], start?.content['bound']], [{ month: 'May' }, ['user_id']])
    await assertHidden(userId, run)
  })

  test('has the type of its parameter, also where a schema takes nothing else', async () => {
    const account = { ...trusted, name: 'account', type: 'number' }
    const use = { tools: ['typed'], bind: { account: 'account' } }
    await stage.save(user('accountant', 'shop', { use, parameters: [account] }))
    stage.model.script('accountant', { calls: [{ name: 'shop_typed', args: { month: 'May' } }] }, { text: 'done' })
    const run = await stage.ask('accountant', 'go', { parameters: { account: 918273645 } })
    assert.equal(run.status, 'completed', JSON.stringify(run.error))
    assert.deepEqual(played.calls('shop').at(-1)?.args, { month: 'May', account: 918273645 })
    await assertHidden('918273645', run)
  })

  test('is not what a model writes for it', async () => {
    const run = await runAs(userId, bound('liar'), ['shop_orders', { month: 'May', user_id: other }])
    assert.deepEqual(played.calls('shop').at(-1)?.args, { month: 'May', user_id: userId })
    assert.equal(notices(await stage.events(run.conversationId), 'ARGUMENT_OVERRIDE_IGNORED').length, 1)
    await assertHidden(userId, run)
  })

  test('has the value that an agent got from its parent', async () => {
    await stage.save(agent('boss', { parameters: [trusted], subAgents: [sub('helper')] }), bound('helper'))
    stage.model.script('boss', { calls: [{ name: 'helper', args: { message: 'May?' } }] }, { text: 'done' })
    stage.model.script('helper', { calls: [{ name: 'shop_orders', args: { month: 'May' } }] }, { text: 'done' })
    const run = await stage.ask('boss', 'go', { parameters: { userId } })
    assert.equal(run.status, 'completed', JSON.stringify(run.error))
    assert.deepEqual(played.calls('shop').at(-1)?.args, { month: 'May', user_id: userId })
    await assertHidden(userId, run)
  })

  test('has no value: the tool is not offered, and the run goes on', async () => {
    const id = 'valueless'
    const use = { tools: ['orders', 'plain'], bind: { user_id: 'userId' } }
    const run = await callTools(stage, user(id, 'shop', { use, parameters: [hidden] }), [])
    assert.equal(run.status, 'completed', JSON.stringify(run.error))
    assert.deepEqual(namesOf(stage.model.of(id)[0]), ['shop_plain'])
    assert.equal(notices(await stage.events(run.conversationId), 'TOOL_UNAVAILABLE').length, 1)
  })
})

describe('a value that a server was given and sends back', () => {
  for (const name of Object.keys(back))
    test(`stands nowhere: ${name}`, async () => {
      const use = { bind: { user_id: 'userId' } }
      const one = user(`told-${name}`, 'gossip', { use, parameters: [trusted] })
      const run = await runAs(userId, one, [`gossip_${name}`, {}])
      assert.deepEqual(played.calls('gossip').at(-1)?.args, { user_id: userId })
      await assertHidden(userId, run)
      const path = `/api/v1/conversations/${segment(run.conversationId)}/artifacts`
      const saved = await stage.witan.call<{ items: { id: string }[] }>('GET', path)
      assert.equal(saved.text.includes(userId), false, 'in what is told of artifacts')
      for (const { id } of saved.body.items) {
        const content = await stage.witan.call('GET', `/api/v1/artifacts/${id}/content`)
        assert.equal(content.text.includes(userId), false, 'in an artifact')
      }
    })
})

describe('an argument that a server names like a parameter', () => {
  test('is not offered and never sent, whatever the model writes', async () => {
    const one = user('naive', 'shop', { use: { tools: ['curious'] }, parameters: [trusted] })
    const run = await runAs(userId, one, ['shop_curious', { month: 'May', userId: other }])
    assert.deepEqual(Object.keys(toolsOf(stage.model.of('naive')[0])[0]?.parameters['properties'] ?? {}), ['month'])
    assert.deepEqual(played.calls('shop').at(-1)?.args, { month: 'May' })
    await assertHidden(userId, run)
  })

  test('and requires takes its tool from the offer, with a notice', async () => {
    const one = user('guarded', 'shop', { use: { tools: ['greedy', 'plain'] }, parameters: [trusted] })
    const run = await runAs(userId, one, ['shop_plain', { month: 'May' }])
    assert.deepEqual(namesOf(stage.model.of('guarded')[0]), ['shop_plain'])
    const said = notices(await stage.events(run.conversationId), 'MCP_PARAM_NOT_BOUND')
    assert.equal(said.length, 1)
    assert.ok(String(said[0]?.content['detail']).includes('greedy'), JSON.stringify(said))
  })

  test('gets the value if it is bound by its own name', async () => {
    const use = { tools: ['curious', 'greedy'], bind: { userId: 'userId', userID: 'userId' } }
    await runAs(userId, user('bound-by-name', 'shop', { use, parameters: [trusted] }), [
      'shop_greedy',
      { month: 'May' },
    ])
    assert.deepEqual(played.calls('shop').at(-1)?.args, { month: 'May', userID: userId })
  })
})

describe('a header that is bound', () => {
  const caller = (id: string) =>
    user(id, 'web', { use: { tools: ['plain'], bindHeaders: { 'X-User': 'userId' } }, parameters: [trusted] })

  test('goes with each request, and two people never share a session', async () => {
    const runs = [
      await runAs(userId, caller('first'), ['web_plain', { month: 'May' }]),
      await runAs(third, caller('second'), ['web_plain', { month: 'June' }]),
    ]
    await runAs(userId, caller('first'), ['web_plain', { month: 'July' }])
    const sessions = new Map<string, Set<unknown>>()
    for (const { headers = {} } of played.heard('web')) {
      const [who, session, key] = [headers['x-user'], headers['mcp-session-id'], headers['x-key']]
      assert.ok(who === userId || who === third, `a request without a user: ${JSON.stringify(headers)}`)
      assert.equal(key, header)
      if (session !== undefined) sessions.set(String(session), (sessions.get(String(session)) ?? new Set()).add(who))
    }
    assert.equal(sessions.size, 2, 'a session for each, and the first is used again')
    for (const people of sessions.values()) assert.equal(people.size, 1)
    const lists = played.heard('web').filter(({ message }) => message.method === 'tools/list')
    assert.deepEqual(new Set(lists.map(({ headers }) => headers?.['x-user'])), new Set([userId, third]))
    for (const run of runs) for (const value of [userId, third, header]) await assertHidden(value, run)
  })

  test('without a value leaves the tools out, and nothing is sent', async () => {
    const heard = played.heard('web').length
    const use = { bindHeaders: { 'X-User': 'userId' } }
    const run = await callTools(stage, user('nameless', 'web', { use, parameters: [hidden] }), [])
    assert.equal(run.status, 'completed', JSON.stringify(run.error))
    assert.deepEqual(namesOf(stage.model.of('nameless')[0]), [])
    assert.equal(notices(await stage.events(run.conversationId), 'TOOL_UNAVAILABLE').length, 1)
    assert.equal(played.heard('web').length, heard)
  })
})

describe('the process of a server', () => {
  test('gets a few variables and its own, with what the environment holds for them', async () => {
    const run = await callTools(stage, user('inspector', 'inside'), [['inside_look']])
    const seen = JSON.parse(readBy(stage, 'inspector')[0] ?? '{}') as Record<string, string>
    const allowed = ['PATH', 'HOME', 'USER', 'SHELL', 'LANG', 'TERM', 'TMPDIR', 'TOKEN', 'LEVEL']
    assert.deepEqual(
      Object.keys(seen).filter((name) => !allowed.includes(name)),
      [],
    )
    assert.equal(seen['LEVEL'], 'info')
    assert.equal(seen['PATH'], process.env['PATH'])
    assert.equal(run.status, 'completed')
  })

  test('has a secret that stands in no view of it', async () => {
    const servers = await stage.witan.call('GET', '/api/v1/mcp/servers')
    for (const value of [token, header]) {
      assert.equal(servers.text.includes(value), false)
      assert.equal(stage.witan.output.includes(value), false)
    }
  })
})

describe('an agent that binds', () => {
  test('what it does not declare is not saved', async () => {
    const body = user('wrong', 'shop', { use: { bind: { user_id: 'userID' } }, parameters: [trusted] })
    const saved = await stage.witan.call('PUT', '/api/v1/agents/wrong', { body })
    assertProblem(saved, { status: 422, code: 'MCP_PARAM_UNKNOWN', names: ['userID'] })
    const headers = user('wrong', 'web', { use: { bindHeaders: { 'X-User': 'nobody' } } })
    const again = await stage.witan.call('PUT', '/api/v1/agents/wrong', { body: headers })
    assertProblem(again, { status: 422, code: 'MCP_PARAM_UNKNOWN', names: ['nobody'] })
  })
})
