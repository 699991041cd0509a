/** MCP servers that are away, die, hang, change or mean harm: the run goes on, other runs are not held up, and no process is left. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { assertEvents, notices } from './support/claims.ts'
import type { Doing, PlayedTool, Script } from './support/mcp-script.ts'
import {
  callTools,
  createMcpStage,
  createPlayed,
  isThere,
  namesOf,
  type Played,
  readBy,
  text,
  toolErrors,
  user,
} from './support/mcp-stage.ts'
import { agent, segment, type Stage, until } from './support/stage.ts'
import { undisturbed } from './support/undisturbed.ts'

const nested = `{"type":"object","properties":{"a":{"type":"string","pattern":"^(a+)+$"}}}`
const exponential = text('slow', { inputSchema: JSON.parse(nested) as Record<string, unknown> })
const go: PlayedTool[] = [text('go')]
const died: Doing[] = [{ dies: true }, { text: 'the second time' }]
const hostile: Record<string, Doing> = {
  line: { lineOf: 17 * 1024 * 1024 },
  endless: { endless: true },
  deep: { depth: 10_000 },
  other: { raw: ['{"jsonrpc":"2.0","id":99999,"result":{"content":[]}}', '{"jsonrpc":"2.0","id":null,"result":{}}'] },
  twice: {
    raw: ['first', 'second'].map(
      (said) => `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"${said}"}]}}`,
    ),
  },
  noise: {
    raw: ['this is no JSON', '[1,2', '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"ok"}]}}'],
  },
  odd: { raw: ['{"jsonrpc":"2.0","id":$ID,"result":{"content":"none"}}'] },
  samples: { ask: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 5 } } },
}
const hostileScript: Script = { tools: Object.keys(hostile).map((name) => text(name)), calls: hostile }
const soon = { connectTimeoutMs: 700 }

let stage: Stage
let played: Played
before(async () => {
  played = await createPlayed()
  const dying = (effects: object) => [{ tools: go, calls: { go: died } }, { effects }] as const
  stage = await createMcpStage({
    gone: { command: '/nowhere/mcp-server' },
    failing: played.stdio('failing', { starts: 'fails' }),
    hanging: played.stdio('hanging', { starts: 'never' }, soon),
    needed: played.stdio('needed', { starts: 'never' }, { ...soon, required: true }),
    closed: { url: 'http://127.0.0.1:9/mcp' },
    well: played.stdio('well', { tools: go }),
    none: played.stdio('none', ...dying({ go: 'none' })),
    keyed: played.stdio('keyed', ...dying({ go: 'keyed' })),
    once: played.stdio('once', ...dying({})),
    reading: played.stdio('reading', { tools: go, calls: { go: died } }, { readOnly: ['go'] }),
    sleepy: played.stdio('sleepy', { tools: go, calls: { go: { hangs: true } } }, { timeoutMs: 300 }),
    held: played.stdio('held', { tools: go, calls: { go: { hangs: true } } }),
    web: await played.http('web', { tools: go }),
    pages: played.stdio('pages', { tools: go, lists: 'forever' }),
    mute: played.stdio('mute', { tools: go, lists: 'never' }, soon),
    bottomless: played.stdio('bottomless', { tools: go, lists: 'deep' }),
    heavy: played.stdio('heavy', { lists: 'large' }),
    hostile: played.stdio('hostile', hostileScript),
    pattern: played.stdio('pattern', { tools: [exponential, text('fine')] }),
    moving: played.stdio('moving', { tools: [text('a'), text('b')] }),
  })
})
after(async () => {
  await stage?.close()
  await played?.close()
})

const eventsOf = ({ conversationId }: { conversationId: string }) => stage.events(conversationId)

describe('a server that is away', () => {
  test('leaves its tools out with one notice, and those of others stay', async () => {
    const away = ['gone', 'failing', 'hanging', 'closed']
    const mcp = [...away, 'well'].map((server) => ({ server, approval: 'none' }))
    const run = await callTools(stage, agent('patient', { mcp }), [['well_go', { a: 1 }]])
    assert.deepEqual([run.status, run.text], ['completed', 'done'], JSON.stringify(run.error))
    assert.deepEqual(namesOf(stage.model.of('patient')[0]), ['well_go'])
    assert.deepEqual(readBy(stage, 'patient'), ['{"a":1}'])
    const said = notices(await eventsOf(run), 'MCP_SERVER_UNAVAILABLE').map(({ content }) => String(content['detail']))
    assert.equal(said.length, away.length, JSON.stringify(said))
    for (const name of away) assert.equal(said.filter((one) => one.replace('`', '').startsWith(name)).length, 1, name)
    assertEvents(await eventsOf(run))
  })

  test('and is required fails the agent, and nothing else', async () => {
    const one = user('demanding', 'needed')
    await stage.save(one)
    const run = await stage.ask('demanding', 'go')
    assert.deepEqual([run.status, run.error?.code], ['failed', 'MCP_SERVER_UNAVAILABLE'])
    assert.deepEqual(stage.model.of('demanding'), [])
    assert.equal((await stage.witan.call('GET', '/readyz')).status, 200)
  })

  test('is not waited for again at once', async () => {
    await callTools(stage, user('first-try', 'hanging'), [])
    const started = () => played.heard('hanging').filter(({ message }) => message.method === 'started').length
    const before = started()
    const run = await callTools(stage, user('next-try', 'hanging'), [])
    assert.equal(started(), before)
    assert.equal(notices(await eventsOf(run), 'MCP_SERVER_UNAVAILABLE').length, 1)
  })
})

describe('a process that is killed in the middle of a call', () => {
  const rows: [server: string, what: string][] = [
    ['none', 'whose effect is none'],
    ['keyed', 'whose effect is keyed'],
    ['reading', 'that only reads'],
  ]
  for (const [server, what] of rows)
    test(`is called once more by one ${what}`, async () => {
      await callTools(stage, user(`of-${server}`, server), [[`${server}_go`]])
      assert.deepEqual(readBy(stage, `of-${server}`), ['the second time'])
      assert.equal(played.calls(server).length, 2)
      const ids = played
        .calls(server)
        .map(({ message }) => (message.params?.['_meta'] as { 'io.witan/callId'?: string })?.['io.witan/callId'])
      assert.equal(ids[0], ids[1], 'by the same id')
    })

  test('leaves an unknown outcome if it may happen once only, and the next call reaches a new process', async () => {
    const run = await callTools(stage, user('of-once', 'once'), [['once_go'], ['once_go']])
    assert.deepEqual(toolErrors(await eventsOf(run)), ['OUTCOME_UNKNOWN'])
    assert.equal(played.calls('once').length, 2)
    assert.equal(readBy(stage, 'of-once')[1], 'the second time')
  })
})

describe('a call that takes too long', () => {
  test('ends at its limit, and the server is told', async () => {
    const run = await callTools(stage, user('hasty', 'sleepy'), [['sleepy_go']])
    assert.deepEqual(toolErrors(await eventsOf(run)), ['TOOL_TIMEOUT'])
    const told = await played.untilHeard('sleepy', 'notifications/cancelled')
    assert.equal(told.message.params?.['requestId'], played.calls('sleepy')[0]?.message.id)
  })

  test('is cancelled with its run, and the server is told within a second', async () => {
    await stage.save(user('holder', 'held'))
    stage.model.script('holder', { calls: [{ name: 'held_go' }] })
    const { id } = await stage.begin('holder')
    const { body } = await stage.runAnswer<{ runId: string }>(id, { prompt: 'go', wait: false })
    await played.untilHeard('held', 'tools/call')
    const from = Date.now()
    assert.equal((await stage.witan.call('POST', `/api/v1/runs/${body.runId}/cancel`, { body: {} })).status, 202)
    const told = await played.untilHeard('held', 'notifications/cancelled')
    assert.ok(told.at - from < 1000, `${told.at - from} ms`)
    const { runs } = await until(
      () => stage.conversation(id),
      (now) => now.status === 'idle',
    )
    assert.deepEqual(
      runs.map(({ status }) => status),
      ['cancelled'],
    )
  })
})

describe('a session that a server has forgotten', () => {
  test('is made anew, and the call reaches it without a word to the model', async () => {
    await callTools(stage, user('early', 'web'), [['web_go', { a: 1 }]])
    played.play('web', { tools: go, forgets: true })
    const run = await callTools(stage, user('later', 'web'), [['web_go', { a: 2 }]])
    assert.deepEqual(readBy(stage, 'later'), ['{"a":2}'])
    assert.deepEqual(toolErrors(await eventsOf(run)), [])
    assert.equal(played.heard('web').filter(({ message }) => message.method === 'initialize').length, 2)
  })
})

describe('tools that change', () => {
  test('take effect in the next run, and one that is gone is an error of the call', async () => {
    const unknown = '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"Unknown tool: b"}}'
    const calls = { a: { text: 'changed', change: [text('a'), text('c')] }, b: { raw: [unknown] } }
    played.play('moving', { tools: [text('a'), text('b')], calls })
    const run = await callTools(stage, user('mover', 'moving'), [['moving_a'], ['moving_b']])
    assert.equal(run.status, 'completed')
    const offers = () => stage.model.of('mover').map(namesOf)
    assert.deepEqual(
      offers(),
      Array.from({ length: 3 }, () => ['moving_a', 'moving_b']),
    )
    assert.equal(toolErrors(await eventsOf(run)).length, 1)
    stage.model.on('mover', () => ({ text: 'again' }))
    await stage.run(run.conversationId, { prompt: 'again' })
    assert.deepEqual(offers().at(-1), ['moving_a', 'moving_c'])
  })
})

describe('a server that means harm', () => {
  const pid = () => stage.witan.pid
  const lists: [server: string, what: string][] = [
    ['pages', 'lists for ever'],
    ['mute', 'never lists'],
    ['bottomless', 'lists 10,000 levels'],
    ['heavy', 'lists more than it may'],
  ]
  for (const [server, what] of lists)
    test(`and ${what} is away, and the run goes on`, async () => {
      const process = pid()
      const run = await undisturbed(stage, server, () => callTools(stage, user(`met-${server}`, server), []))
      assert.equal(run.status, 'completed', JSON.stringify(run.error))
      assert.deepEqual(namesOf(stage.model.of(`met-${server}`)[0]), [])
      assert.equal(notices(await eventsOf(run), 'MCP_SERVER_UNAVAILABLE').length, 1)
      assert.ok(isThere(process))
    })

  const answers: [tool: string, what: string, code: string][] = [
    ['line', 'sends a line of 17 MiB', 'MCP_PROTOCOL_ERROR'],
    ['endless', 'sends a line without end', 'MCP_PROTOCOL_ERROR'],
    ['deep', 'nests 10,000 levels', 'MCP_PROTOCOL_ERROR'],
    ['odd', 'sends no content', 'MCP_PROTOCOL_ERROR'],
  ]
  for (const [tool, what, code] of answers)
    test(`and ${what} has failed, and the run goes on`, async () => {
      const name = `got-${tool}`
      const run = await undisturbed(stage, tool, () =>
        callTools(stage, user(name, 'hostile', { use: { tools: [tool] } }), [[`hostile_${tool}`]]),
      )
      assert.equal(run.status, 'completed', JSON.stringify(run.error))
      assert.deepEqual(toolErrors(await eventsOf(run)), [code], readBy(stage, name)[0]?.slice(0, 300))
      assert.ok(isThere(pid()))
    })

  test('and answers for others, twice, or with noise, is heard for its own call once', async () => {
    const run = await callTools(stage, user('listener', 'hostile'), [
      ['hostile_twice'],
      ['hostile_noise'],
      ['hostile_twice'],
    ])
    assert.equal(run.status, 'completed', JSON.stringify(run.error))
    assert.deepEqual(readBy(stage, 'listener'), ['first', 'ok', 'first'])
    assertEvents(await eventsOf(run))
  })

  test('and answers only for another id is waited for until its run is cancelled', async () => {
    await stage.save(user('waiter', 'hostile'))
    stage.model.script('waiter', { calls: [{ name: 'hostile_other' }] })
    const { id } = await stage.begin('waiter')
    const { body } = await stage.runAnswer<{ runId: string }>(id, { prompt: 'go', wait: false })
    await until(
      async () => played.calls('hostile'),
      (calls) => calls.some(({ tool }) => tool === 'other'),
    )
    await delay(100)
    assert.equal(
      (await stage.witan.call<{ status: string }>('GET', `/api/v1/runs/${body.runId}`)).body.status,
      'running',
    )
    await stage.witan.call('POST', `/api/v1/runs/${body.runId}/cancel`, { body: {} })
    await until(
      () => stage.conversation(segment(id).replace('%2F', '/')),
      ({ status }) => status === 'idle',
    )
  })

  test('and asks for a model gets none', async () => {
    await callTools(stage, user('sampler', 'hostile'), [['hostile_samples']])
    assert.match(readBy(stage, 'sampler')[0] ?? '', /-32601/)
    assert.equal(stage.model.of('sampler').length, 2)
  })

  test('and sends a pattern that takes for ever holds nobody up', async () => {
    const run = await undisturbed(stage, 'pattern', () =>
      callTools(stage, user('matcher', 'pattern'), [
        ['pattern_slow', { a: `${'a'.repeat(5000)}!` }],
        ['pattern_fine', { b: 1 }],
      ]),
    )
    assert.equal(run.status, 'completed', JSON.stringify(run.error))
    assert.equal(readBy(stage, 'matcher')[1], '{"b":1}')
    assert.equal(toolErrors(await eventsOf(run)).length, 1, 'refused as a tool, or its arguments do not fit')
  })
})

describe('processes of servers', { concurrency: true }, () => {
  const stubborn = { tools: go, stays: true }
  const startedBy = (name: string) =>
    played
      .heard(name)
      .filter(({ message }) => message.method === 'started')
      .map(({ pid }) => pid)
  const begun = async (name: string) => {
    const settings = { mild: played.stdio(`${name}-mild`, { tools: go }), rude: played.stdio(`${name}-rude`, stubborn) }
    const own = await createMcpStage(settings)
    const mcp = Object.keys(settings).map((server) => ({ server, approval: 'none' }))
    own.model.on('worker', () => ({ text: 'done' }))
    const use = async () => {
      await own.save(agent('worker', { mcp }))
      return own.ask('worker', 'go')
    }
    await use()
    const pids = [...startedBy(`${name}-mild`), ...startedBy(`${name}-rude`)]
    assert.ok(pids.length >= 2 && pids.some(isThere))
    return { own, use, pids }
  }
  const gone = (pids: number[]) =>
    until(
      async () => pids.filter(isThere),
      (left) => left.length === 0,
    )

  test('end with the process that started them, also one that wants to stay', async () => {
    const { own, pids } = await begun('orderly')
    const from = performance.now()
    await own.witan.stop()
    assert.deepEqual(pids.filter(isThere), [])
    assert.ok(performance.now() - from < 8000, `${performance.now() - from} ms`)
    await own.close()
  })

  test('that a killed process left are ended at the next start', async () => {
    const { own, use, pids } = await begun('killed')
    await own.witan.kill()
    assert.ok(pids.some(isThere), 'one has stayed')
    await own.witan.start()
    await use()
    await gone(pids)
    await own.close()
    await gone(startedBy('killed-rude'))
  })
})
