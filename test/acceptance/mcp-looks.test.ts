/** Conversations and agents with tools of MCP servers as people look at them: replays without any server, lists of tools, previews, and drawings. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { Doing } from './support/mcp-script.ts'
import {
  callTools,
  createMcpStage,
  createPlayed,
  namesOf,
  type Played,
  readBy,
  text,
  texts,
  user,
} from './support/mcp-stage.ts'
import { commandLine } from './support/program.ts'
import { agent, segment, type Stage, sub, until } from './support/stage.ts'
import type { RunResult } from './support/wire.ts'

const userId = 'usr_look_m1n2b3v4c5x6z7l8'
const hidden = { name: 'userId', type: 'string', sendToModel: false, policy: 'forbidModelGeneration' }
const picture = Buffer.from('a picture, as it were').toString('base64')
const calls: Record<string, Doing | Doing[]> = {
  picture: { result: { content: [{ type: 'image', data: picture, mimeType: 'image/png' }] } },
  broken: { result: { isError: true, content: [{ type: 'text', text: 'Closed.' }] } },
  dies: [{ dies: true }, { text: 'again' }],
  long: { text: 'long '.repeat(2000) },
}
const tools = ['buy', ...Object.keys(calls)].map((name) => text(name, { inputSchema: texts(['user_id', 'what']) }))

let stage: Stage
let played: Played
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'witan-mcp-looks-'))
  played = await createPlayed()
  const settings = { maxResultCharacters: 1000, effects: { dies: 'keyed' } }
  stage = await createMcpStage(
    {
      shop: played.stdio('shop', { tools, calls }, settings),
      trips: played.modern('trips'),
      down: played.stdio('down', { starts: 'fails' }),
      quiet: played.stdio('quiet', { tools }),
    },
    { store: 'file' },
  )
})
after(async () => {
  await stage?.close()
  await played?.close()
  await rm(folder, { recursive: true, force: true })
})

const bound = (id: string, more: Record<string, unknown> = {}) =>
  user(id, 'shop', { use: { bind: { user_id: 'userId' } }, parameters: [hidden], ...more })

describe('an exported conversation', () => {
  /** Replays it in an empty folder, without server, configuration, model and MCP servers. */
  const replayed = async ({ conversationId }: RunResult) => {
    const reply = await fetch(`${stage.witan.url}/api/v1/conversations/${segment(conversationId)}/export`)
    const exported = await reply.text()
    const file = join(folder, 'chat.jsonl')
    await writeFile(file, exported)
    const words = [...commandLine, 'conversations', 'replay', file, '--json']
    const { stdout } = await promisify(execFile)(process.execPath, words, {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '' },
    }).catch((error: { stdout: string; stderr: string }) => assert.fail(`${error.stdout}${error.stderr}`))
    return { exported, difference: (JSON.parse(stdout) as { difference: unknown }).difference }
  }

  test('with calls of every end comes to the same log without any server, in all of its runs', async () => {
    await stage.save(
      agent('boss', {
        subAgents: [sub('clerk')],
        mcp: [{ server: 'down' }, { server: 'shop', approval: 'none' }],
        parameters: [hidden],
      }),
      bound('clerk'),
    )
    stage.model.script(
      'boss',
      { calls: [{ name: 'clerk', args: { message: 'Buy.' } }, { name: 'shop_long' }] },
      { text: 'done' },
      { calls: [{ name: 'shop_buy', args: { what: 'tea' } }] },
      { text: 'again' },
    )
    const all = ['picture', 'broken', 'dies', 'buy', 'nothing'].map((name) => ({
      name: `shop_${name}`,
      args: { what: 'milk' },
    }))
    stage.model.script('clerk', { calls: all }, { text: 'bought' })
    const run = await stage.ask('boss', 'go', { parameters: { userId } })
    assert.deepEqual([run.status, run.text], ['completed', 'done'], JSON.stringify(run.error))
    await stage.run(run.conversationId, { prompt: 'again' })
    const { exported, difference } = await replayed(run)
    assert.equal(difference, null)
    assert.equal(exported.includes(userId), false)
  })

  test('in which people approved and answered comes to the same log', async () => {
    const mcp = [{ server: 'shop' }, { server: 'trips', approval: 'none' }]
    await stage.save(agent('asker', { mcp }))
    stage.model.script(
      'asker',
      { calls: [{ name: 'shop_buy', args: { what: 'milk' } }, { name: 'trips_book' }] },
      { text: 'done' },
    )
    const run = await stage.ask('asker', 'go')
    assert.deepEqual(run.interruptions.map(({ kind }) => kind).sort(), ['approval', 'question'])
    for (const { id, kind } of run.interruptions) {
      const given =
        kind === 'approval' ? { decision: 'approved' } : { seat: { options: ['aisle'] }, meal: { options: ['true'] } }
      assert.equal(
        (await stage.witan.call('POST', `/api/v1/interruptions/${id}/answer`, { body: { answer: given } })).status,
        200,
      )
    }
    await until(
      () => stage.conversation(run.conversationId),
      ({ status }) => status === 'idle',
    )
    assert.equal(readBy(stage, 'asker').length, 2)
    assert.equal((await replayed(run)).difference, null)
  })
})

describe('the tools of an agent', () => {
  const listed = async (id: string) => {
    const answer = await stage.witan.call<{ items: { name: string }[] }>('GET', `/api/v1/agents/${id}/tools`)
    assert.equal(answer.status, 200, answer.text)
    return answer.body.items.map(({ name }) => name).filter((name) => /^(shop|quiet)_/.test(name))
  }

  test('are listed and previewed as a model would read them, and no server is started for it', async () => {
    await callTools(stage, user('known', 'shop', { use: { tools: ['buy', 'long'] } }), [])
    assert.deepEqual(await listed('known'), ['shop_buy', 'shop_long'])
    const preview = await stage.witan.call('POST', '/api/v1/agents/known/preview', { body: {} })
    assert.equal(preview.status, 200, preview.text)
    for (const name of namesOf(stage.model.of('known')[0])) assert.ok(preview.text.includes(name), name)
    await stage.save(user('unknown', 'quiet'))
    await listed('unknown')
    assert.equal((await stage.witan.call('POST', '/api/v1/agents/unknown/preview', { body: {} })).status, 200)
    assert.deepEqual(played.heard('quiet'), [])
  })

  test('are tried alone by nobody: a person would call a server past its approvals', async () => {
    await stage.save(user('tried', 'shop'))
    const before = played.calls('shop').length
    const answer = await stage.witan.call('POST', '/api/v1/agents/tried/tools/shop_buy/try', {
      body: { arguments: {} },
    })
    assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status} ${answer.text}`)
    assert.equal(played.calls('shop').length, before)
  })
})

describe('a run with calls of MCP tools', () => {
  test('is counted like any other, and shows no value where it is drawn', async () => {
    await stage.save(bound('drawn'))
    stage.model.script('drawn', { calls: [{ name: 'shop_buy', args: { what: 'milk' } }] }, { text: 'done' })
    const run = await stage.ask('drawn', 'go', { parameters: { userId } })
    assert.equal(run.usage.toolCalls, 1)
    const state = await stage.witan.call<{ tree: { children: { name: string; status: string }[] } }>(
      'GET',
      `/api/v1/runs/${run.runId}`,
    )
    assert.deepEqual(
      state.body.tree.children.map(({ name, status }) => [name, status]),
      [['shop_buy', 'completed']],
    )
    const diagram = await stage.witan.call('GET', `/api/v1/runs/${run.runId}/diagram`)
    assert.equal(diagram.status, 200, diagram.text)
    for (const { text: said } of [state, diagram]) assert.equal(said.includes(userId), false)
  })
})
