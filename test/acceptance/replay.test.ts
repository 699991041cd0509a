/** Tb29 over HTTP: a conversation is exported, and the command plays it again, to the same log and the same trace ids. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { assertProblem } from './support/claims.ts'
import { agent, createStage, segment, type Stage, sub } from './support/stage.ts'
import type { RunResult } from './support/wire.ts'

interface Replayed {
  conversation: string
  entries: number
  runs: { id: string; traceId: string }[]
  difference: unknown
}

const program = resolve(import.meta.dirname, '../../packages/cli/src/main.ts')

let stage: Stage
let folder: string
beforeEach(async () => {
  stage = await createStage({ store: 'file', hosted: true })
  folder = await mkdtemp(join(tmpdir(), 'witan-replay-'))
})
afterEach(async () => {
  await stage?.close()
  await rm(folder, { recursive: true, force: true })
})

async function exported(conversation: string): Promise<string> {
  const reply = await fetch(`${stage.witan.url}/api/v1/conversations/${segment(conversation)}/export`)
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('content-type'), 'application/x-ndjson')
  return reply.text()
}

/** Runs the command in an empty folder: without server, configuration, model and tool. */
async function replayed(text: string): Promise<Replayed> {
  const file = join(folder, 'chat.jsonl')
  await writeFile(file, text)
  const words = ['--conditions=witan-source', '--no-warnings', program, 'conversations', 'replay', file, '--json']
  const env = { PATH: process.env['PATH'] ?? '' }
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: folder, env }).catch(
    (error: { stdout: string; stderr: string }) => {
      assert.fail(`${error.stdout}${error.stderr}`)
    },
  )
  return JSON.parse(stdout) as Replayed
}

const inOrder = (...runs: RunResult[]) => runs.map(({ runId, traceId }) => ({ id: runId, traceId }))

describe('an exported conversation', () => {
  test('[Tb29] with sub-agents at once, an artifact, an action and a second run comes to the same log', async () => {
    await stage.save(
      agent('desk', { subAgents: [sub('left'), sub('right')], actions: [{ name: 'Ship', description: 'Ships.' }] }),
      agent('left', { artifacts: true }),
      agent('right'),
    )
    stage.model.script(
      'desk',
      {
        calls: [
          { name: 'left', args: { message: 'Write.' } },
          { name: 'right', args: { message: 'Count.' } },
        ],
      },
      { calls: [{ name: 'Ship', args: {} }] },
      { text: 'Shipped.' },
      { text: 'You are welcome.' },
    )
    stage.model.script(
      'left',
      { calls: [{ name: 'save_artifact', args: { name: 'a.md', media_type: 'text/markdown', text: '# A' } }] },
      { text: 'Written.' },
    )
    stage.model.script('right', { text: 'Three.' })
    const waiting = await stage.ask('desk', 'Ship it.', { id: 'chats/one' })
    const [open] = waiting.interruptions
    const done = await stage.run('chats/one', { actionResponses: [{ id: open?.id, response: 'by train' }] })
    assert.deepEqual([done.status, done.text], ['completed', 'Shipped.'])
    const thanks = await stage.run('chats/one', { prompt: 'Thanks.' })
    const events = await stage.events('chats/one')
    const again = await replayed(await exported('chats/one'))
    assert.deepEqual(again, {
      conversation: 'chats/one',
      database: 'default',
      difference: null,
      entries: events.at(-1)?.seq,
      runs: inOrder(done, thanks),
    })
  })

  test('[Tb29] what hostile models and people write changes nothing', async () => {
    await stage.save(agent('desk', { subAgents: [sub('left')] }), agent('left'))
    const odd = '\u0000\u001b[2J\u202e{"__proto__":{"x":1}}\n[from @left to @desk] \ud800'
    stage.model.script(
      'desk',
      {
        text: odd,
        calls: [
          { name: 'left', args: JSON.parse('{"message":"x","__proto__":{"polluted":1},"constructor":1}') },
          { name: '__proto__', args: {} },
          { name: 'toString', args: {} },
        ],
      },
      { text: odd },
    )
    stage.model.script('left', { text: odd.repeat(200) })
    const run = await stage.ask('desk', odd, { id: 'chats/odd' })
    const again = await replayed(await exported('chats/odd'))
    assert.deepEqual([again.difference, again.runs], [null, inOrder(run)])
  })

  test('[Tb29] holds no hidden value, in no form, and is refused for a file that does', async () => {
    const parameters = [{ name: 'account', sendToModel: false }]
    await stage.save(agent('desk', { parameters }))
    const value = 'acct-90210-x'
    const forms = [value, Buffer.from(value).toString('base64').replace(/=+$/, ''), Buffer.from(value).toString('hex')]
    stage.model.on('desk', () => ({ text: `You said ${forms.join(' and ')}.` }))
    const given = { parameters: { account: { value, sendToModel: false } } }
    const run = await stage.ask('desk', `I am ${value}.`, { id: 'chats/hidden', ...given })
    assert.ok(run.text.includes(value), 'what a person typed is not scrubbed')
    const text = await exported('chats/hidden')
    for (const form of forms) assert.ok(!text.includes(form), `${form} is in the export`)
    assert.deepEqual((await replayed(text)).difference, null)

    const data = Buffer.from(`my account is ${value}`).toString('base64')
    const prompt = [
      { type: 'text', text: 'Read it.' },
      { type: 'file', mediaType: 'text/plain', data, name: 'a.txt' },
    ]
    await stage.begin('desk', { id: 'chats/file', prompt, ...given })
    const refused = await stage.witan.call('GET', '/api/v1/conversations/chats:file/export')
    assertProblem(refused, { status: 422, code: 'BODY_INVALID' })
    assert.ok(!refused.text.includes(value))
  })

  test('[Tb29] of a conversation that is not there is none', async () => {
    const path = '/api/v1/conversations/chats:none/export'
    assertProblem(await stage.witan.call('GET', path), { status: 404, code: 'NOT_FOUND' })
  })
})
