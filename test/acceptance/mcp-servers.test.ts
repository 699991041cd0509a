/** MCP servers of a configuration: what it may hold, what the API and a check say of them, and pins. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { assertProblem, notices } from './support/claims.ts'
import type { PlayedTool, Script } from './support/mcp-script.ts'
import {
  callTools,
  createMcpStage,
  createPlayed,
  listedIn,
  namesOf,
  type Played,
  readBy,
  text,
  toolErrors,
  user,
} from './support/mcp-stage.ts'
import { commandLine } from './support/program.ts'
import type { Stage } from './support/stage.ts'
import type { Finding } from './support/wire.ts'
import { createWitan } from './support/witan.ts'

interface ServerView {
  name: string
  transport: string
  state: string
  protocolVersion: string | null
  serverInfo: { name: string; version: string } | null
  error: string | null
  tools: { name: string; offeredAs: string; description: string; pin: string; readOnly: boolean; tokens: number }[]
  tokens: number
}

const root = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

describe('a configuration that cannot be used', () => {
  const cases: [what: string, servers: object, words: string[]][] = [
    ['a variable that is not set', { a: { command: 'x', env: { T: `\${MCP_TEST_NOT_SET}` } } }, ['mcpServers.a.env.T']],
    [
      'one of a header',
      { b: { url: 'http://x.test/', headers: { A: `\${MCP_TEST_NOT_SET}` } } },
      ['mcpServers.b.headers.A'],
    ],
    ['one of an argument', { c: { command: 'x', args: ['a', `\${MCP_TEST_NOT_SET}`] } }, ['mcpServers.c.args.1']],
    ['events of old', { d: { type: 'sse', url: 'http://x.test/' } }, ['mcpServers.d.type', 'sse']],
    ['a process and an address', { e: { command: 'x', url: 'http://x.test/' } }, ['mcpServers.e', 'command', 'url']],
    ['neither', { f: { trusted: true } }, ['mcpServers.f']],
    ['a name that is none', { 'My Server': { command: 'x' } }, ['mcpServers']],
  ]
  test('keeps the server from starting with 78, and names the place', async () => {
    await Promise.all(
      cases.map(async ([what, mcpServers, words]) => {
        const started = createWitan({ modelUrl: 'http://127.0.0.1:9/v1', prepare: () => ({ mcpServers }) })
        const error = await started.then(
          async (witan) => {
            await witan.close()
            return null
          },
          (failed: Error) => failed,
        )
        assert.ok(error !== null, `${what}: it started`)
        assert.ok(error.message.includes('ended with 78'), `${what}: ${error.message.slice(0, 500)}`)
        for (const word of words) assert.ok(error.message.includes(word), `${what}: ${word} in ${error.message}`)
      }),
    )
  })
})

describe('what the API says of servers', () => {
  let stage: Stage
  let played: Played
  const shop: Script = { tools: [text('buy'), text('look', { annotations: { readOnlyHint: true } })] }
  before(async () => {
    played = await createPlayed()
    stage = await createMcpStage({
      shop: played.stdio('shop', shop, { trusted: true }),
      web: await played.http('web', shop),
      down: { command: '/nowhere/mcp-server' },
    })
  })
  after(async () => {
    await stage?.close()
    await played?.close()
  })
  const servers = async () => {
    const answer = await stage.witan.call<{ items: ServerView[] }>('GET', '/api/v1/mcp/servers')
    assert.equal(answer.status, 200, answer.text)
    return answer.body.items
  }
  const refresh = (name: string) => stage.witan.call<ServerView>('POST', `/api/v1/mcp/servers/${name}/refresh`)
  const find = async (name: string) => (await servers()).find((one) => one.name === name)

  test('lists them before one is used, and starts none', async () => {
    assert.deepEqual(
      (await servers()).map(({ name, transport, state, error, tools, tokens }) => ({
        name,
        transport,
        state,
        error,
        tools,
        tokens,
      })),
      [
        { name: 'down', transport: 'stdio', state: 'idle', error: null, tools: [], tokens: 0 },
        { name: 'shop', transport: 'stdio', state: 'idle', error: null, tools: [], tokens: 0 },
        { name: 'web', transport: 'http', state: 'idle', error: null, tools: [], tokens: 0 },
      ],
    )
    assert.deepEqual(played.heard('shop'), [])
  })

  test('says what a server offers once it was used', async () => {
    await callTools(stage, user('buyer', 'shop'), [['shop_buy']])
    const view = await find('shop')
    assert.deepEqual(
      [view?.state, view?.protocolVersion, view?.serverInfo],
      ['ready', '2025-11-25', { name: 'played', version: '7.0.0' }],
    )
    assert.deepEqual(
      view?.tools.map(({ tokens: _, ...tool }) => tool),
      [
        { name: 'buy', offeredAs: 'shop_buy', description: 'Does buy.', pin: 'none', readOnly: false },
        { name: 'look', offeredAs: 'shop_look', description: 'Does look.', pin: 'none', readOnly: true },
      ],
    )
    assert.ok(view && view.tokens > 0 && view.tokens === view.tools.reduce((sum, { tokens }) => sum + tokens, 0))
  })

  test('asks a server anew, and the next run has what it says', async () => {
    const first = await refresh('web')
    assert.deepEqual([first.status, first.body.state, first.body.tools.length], [200, 'ready', 2], first.text)
    played.play('web', { tools: [text('ask'), ...(shop.tools ?? [])] })
    const second = await refresh('web')
    assert.deepEqual(second.body.tools.map(({ name }) => name).sort(), ['ask', 'buy', 'look'])
    await callTools(stage, user('asker', 'web'), [])
    assert.deepEqual(namesOf(stage.model.of('asker')[0]), ['web_ask', 'web_buy', 'web_look'])
  })

  test('says of a refresh what went wrong', async () => {
    assertProblem(await refresh('nobody'), { status: 404, code: 'NOT_FOUND', names: ['nobody'] })
    assertProblem(await refresh('down'), { status: 503, code: 'MCP_SERVER_UNAVAILABLE', names: ['down'] })
    const view = await find('down')
    assert.equal(view?.state, 'failed')
    assert.ok(view?.error, 'an error is said')
  })

  test('checks agents before they are saved', async () => {
    const check = async (body: object) => {
      const answer = await stage.witan.call<{ errors: Finding[]; warnings: Finding[] }>('POST', '/api/v1/check', {
        body: { agents: [body] },
      })
      assert.equal(answer.status, 200, answer.text)
      return answer.body
    }
    const codes = (findings: Finding[]) => findings.map(({ code }) => code).filter((code) => code.startsWith('MCP_'))
    assert.deepEqual(codes((await check(user('lost', 'shopp'))).errors), ['MCP_SERVER_UNKNOWN'])
    const binding = await check(user('unbound', 'shop', { use: { bind: { user: 'nobody' } } }))
    assert.deepEqual(codes(binding.errors), ['MCP_PARAM_UNKNOWN'])
    const fine = await check(user('fine', 'shop'))
    assert.deepEqual([codes(fine.errors), codes(fine.warnings)], [[], ['MCP_UNPINNED']])
    const saved = await stage.witan.call('PUT', '/api/v1/agents/lost', { body: user('lost', 'shopp') })
    assertProblem(saved, { status: 422, code: 'MCP_SERVER_UNKNOWN', names: ['shopp'] })
  })
})

describe('servers whose tools were pinned', () => {
  let stage: Stage
  let played: Played
  const tools: PlayedTool[] = [text('buy'), text('look')]
  const changed: PlayedTool[] = [text('buy', { description: 'Does something else.' }), text('look'), text('new')]
  before(async () => {
    played = await createPlayed()
    const strict = played.stdio('strict', { tools })
    const lax = played.stdio('lax', { tools }, { onChange: 'warn' })
    stage = await createMcpStage({ strict, lax, loose: played.stdio('loose', { tools }) })
    await witan('pin', 'strict', 'lax')
    await stage.witan.stop()
    await stage.witan.start()
  })
  after(async () => {
    await stage?.close()
    await played?.close()
  })
  const witan = async (...words: string[]) => {
    const config = ['--config', join(stage.witan.folder, 'witan.config.json')]
    return run(process.execPath, [...commandLine, 'mcp', ...words, ...config], { cwd: root }).then(
      ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
      (error: { code: number; stdout: string; stderr: string }) => ({
        code: error.code,
        said: error.stdout + error.stderr,
      }),
    )
  }
  const refresh = (name: string) => stage.witan.call<ServerView>('POST', `/api/v1/mcp/servers/${name}/refresh`)

  test('stand in a file beside the configuration, with the digest of each tool', async () => {
    const file = join(stage.witan.folder, 'witan.mcp.lock.json')
    assert.ok(existsSync(file), 'the command has written it')
    const lock = await readFile(file, 'utf8')
    for (const word of ['strict', 'lax', 'buy', 'look', 'Does buy.']) assert.ok(lock.includes(word), word)
    assert.equal(lock.includes('loose'), false)
    assert.equal((lock.match(/[0-9a-f]{64}/g) ?? []).length, 4)
  })

  test('that somebody has edited keep the server from starting', async () => {
    const file = join(stage.witan.folder, 'witan.mcp.lock.json')
    const lock = await readFile(file, 'utf8')
    await writeFile(file, lock.replace('Does buy.', 'Does buy it all.'))
    const { code, output } = await stage.witan.second()
    await writeFile(file, lock)
    assert.equal(code, 78, output)
    for (const word of ['witan.mcp.lock.json', 'buy']) assert.ok(output.includes(word), output)
  })

  test('stay as they were if a server is away when it is pinned', async () => {
    const file = join(stage.witan.folder, 'witan.mcp.lock.json')
    const lock = await readFile(file, 'utf8')
    played.play('strict', { starts: 'fails' })
    const { code, said } = await witan('pin', 'strict')
    played.play('strict', { tools })
    assert.notEqual(code, 0, said)
    assert.ok(said.includes('strict'), said)
    assert.equal(await readFile(file, 'utf8'), lock)
  })

  test('are started by a call, and the first run says in its start what it has', async () => {
    const heard = played.heard('strict').length
    const idle = await callTools(stage, user('idler', 'strict'), [])
    assert.deepEqual(namesOf(stage.model.of('idler')[0]), ['strict_buy', 'strict_look'])
    const listed = listedIn(await stage.events(idle.conversationId), idle.runId)
    assert.deepEqual([listed.type, listed.mcp[0]?.server, listed.mcp[0]?.tools.length], ['start', 'strict', 2])
    assert.equal(played.heard('strict').length, heard, 'nothing was started')
    await callTools(stage, user('busy', 'strict'), [['strict_buy', { a: 1 }]])
    assert.deepEqual(readBy(stage, 'busy'), ['{"a":1}'])
  })

  test('are not among the warnings of a check', async () => {
    const answer = await stage.witan.call<{ warnings: Finding[] }>('POST', '/api/v1/check', {
      body: { agents: [user('pinned', 'strict', { use: { tools: ['buy', 'gone'] } })] },
    })
    const codes = answer.body.warnings.map(({ code }) => code).filter((code) => code.startsWith('MCP_'))
    assert.deepEqual(codes, ['MCP_TOOL_UNKNOWN'])
  })

  test('that change are blocked, and the view and the command say so', async () => {
    played.play('strict', { tools: changed })
    const { body, text: said } = await refresh('strict')
    assert.deepEqual(
      body.tools?.map(({ name, pin }) => [name, pin]),
      [
        ['buy', 'changed'],
        ['look', 'same'],
        ['new', 'new'],
      ],
      said,
    )
    const blocked = await callTools(stage, user('blocked', 'strict'), [])
    assert.deepEqual(namesOf(stage.model.of('blocked')[0]), ['strict_look'])
    const found = notices(await stage.events(blocked.conversationId), 'MCP_TOOL_CHANGED')
    assert.equal(found.length, 2)
    assert.ok(found.every(({ content }) => /strict/.test(String(content['detail']))))
    const diff = await witan('diff', 'strict')
    for (const word of ['buy', 'new', 'Does something else.'])
      assert.ok(diff.said.includes(word), `${word}: ${diff.said}`)
  })

  test('that change are offered with a notice if a warning is enough', async () => {
    played.play('lax', { tools: changed })
    await refresh('lax')
    const warned = await callTools(stage, user('warned', 'lax'), [['lax_new', { a: 1 }]])
    assert.deepEqual(namesOf(stage.model.of('warned')[0]), ['lax_buy', 'lax_look', 'lax_new'])
    assert.equal(notices(await stage.events(warned.conversationId), 'MCP_TOOL_CHANGED').length, 2)
    assert.deepEqual(readBy(stage, 'warned'), ['{"a":1}'])
  })

  test('are not called if they are others by the time of the call', async () => {
    await stage.witan.stop()
    await stage.witan.start()
    const heard = played.calls('strict').length
    const late = await callTools(stage, user('late', 'strict'), [['strict_buy', { a: 2 }]])
    assert.equal(late.status, 'completed', JSON.stringify(late.error))
    assert.equal(toolErrors(await stage.events(late.conversationId)).length, 1)
    assert.equal(played.calls('strict').length, heard)
  })
})
