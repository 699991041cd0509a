/** Requests that wait for a run, while the caller's key is revoked or the caller leaves the conversation: they show no result. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { assertProblem } from './support/claims.ts'
import { a2aClient, message } from './support/a2a.ts'
import { createGate } from './support/model-server.ts'
import { commandLine } from './support/program.ts'
import { agent, createStage, segment, type Stage, until } from './support/stage.ts'
import type { Conversation, RunResult } from './support/wire.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const chat = `/api/v1/conversations/${segment('chats/1')}`
const secret = 'What came later.'
const prepare = () => ({
  auth: { mode: 'keys' },
  server: { domain: 'own.example', domains: { 'bots.example': 'shop' } },
})

describe('a request that waits for a run', () => {
  let stage: Stage
  let admin: Record<string, string>
  beforeEach(async () => {
    stage = await createStage({ store: 'file', hosted: true, prepare })
    await stage.witan.stop()
    const env = { ...process.env, WITAN_STORE_URL: `file:${join(stage.witan.folder, 'witan.db')}` }
    const words = ['keys', 'create', '--db', 'shop', '--role', 'admin']
    const { stdout } = await promisify(execFile)(process.execPath, [...commandLine, ...words], { cwd: root, env })
    admin = { authorization: `Bearer ${stdout.trim()}` }
    await stage.witan.start()
    const body = { ...agent('root'), users: 'participants' }
    assert.equal((await stage.witan.call('PUT', '/api/v1/agents/root', { body, headers: admin })).status, 201)
    const begun = { agent: 'root', id: 'chats/1', users: [{ id: 'anna', name: 'Anna' }] }
    await stage.witan.call('POST', '/api/v1/conversations', { body: begun, headers: admin })
  })
  afterEach(() => stage?.close())

  const anna = async () => {
    const body = { id: 'user:anna' }
    const made = await stage.witan.call<{ key: string; keyId: string }>('POST', '/api/v1/keys', {
      body,
      headers: admin,
    })
    return { headers: { authorization: `Bearer ${made.body.key}` }, keyId: made.body.keyId }
  }
  const say = (headers: Record<string, string>) =>
    stage.witan.call<RunResult>('POST', `${chat}/runs`, { body: { prompt: 'Go on.' }, headers })
  const isIdle = () =>
    until(
      () => stage.witan.call<Conversation>('GET', chat, { headers: admin }),
      ({ body }) => body.status === 'idle',
    )

  test('[D17] answers 401 if the key was revoked meanwhile; the run goes on', async () => {
    const hold = createGate()
    stage.model.script('root', { text: secret, hold })
    const { headers, keyId } = await anna()
    const waiting = say(headers)
    await hold.entered
    assert.equal((await stage.witan.call('DELETE', `/api/v1/keys/${keyId}`, { headers: admin })).status, 204)
    await until(
      () => stage.witan.call('GET', '/api/v1/principal', { headers }),
      ({ status }) => status === 401,
    )
    hold.open()
    const told = await waiting
    assertProblem(told, { status: 401, code: 'UNAUTHENTICATED' })
    assert.doesNotMatch(told.text, /later/)
    assert.equal((await isIdle()).body.runs[0]?.status, 'completed')
  })

  test('[D17] answers 401 over A2A, as soon as a stream ends', async () => {
    const hold = createGate()
    stage.model.on('root', () => ({ text: secret, hold }))
    const asAdmin = { headers: admin }
    const body = { ...agent('root'), address: 'root' }
    await stage.witan.call('PUT', '/api/v1/agents/root', { body, ...asAdmin })
    const made = await stage.witan.call<{ key: string; keyId: string }>('POST', '/api/v1/keys', {
      body: { roles: ['run'] },
      ...asAdmin,
    })
    const client = a2aClient(() => stage.witan, '/a2a/root@bots.example', made.body.key)
    const waiting = client.rpc('SendMessage', { message: message('Go on.') })
    await hold.entered
    const { frames } = await client.stream('SendStreamingMessage', { message: message('And this.') })
    const streamed = (async () => {
      let shown = ''
      for await (const { data } of frames) shown += data
      return shown
    })()
    await stage.witan.call('DELETE', `/api/v1/keys/${made.body.keyId}`, asAdmin)
    const late = delay(6_000, null, { ref: false }).then(() => assert.fail('it waits for the run'))
    const [{ status, text }, shown] = await Promise.race([Promise.all([waiting, streamed]), late])
    hold.open()
    assert.deepEqual([status, text.includes('later'), shown.includes('later')], [401, false, false])
    assert.equal((await client.rpc('ListTasks')).status, 401)
  })

  test('[D17] [R11] shows the run to nobody who has left meanwhile, as a reply or as a stream', async () => {
    const hold = createGate()
    stage.model.on('root', () => ({ text: secret, hold }))
    const { headers } = await anna()
    const waiting = say(headers)
    await hold.entered
    const stream = await stage.witan.stream('POST', `${chat}/runs`, { body: { prompt: 'And this.' }, headers })
    const left = await stage.witan.call('DELETE', `${chat}/participants/anna`, { headers: admin })
    assert.equal(left.status, 204)
    hold.open()
    const told = await waiting
    assertProblem(told, { status: 404, code: 'NOT_FOUND' })
    const shown: string[] = []
    for await (const { data } of stream.frames) shown.push(data)
    assert.doesNotMatch(told.text + shown.join(), /later/)
    assert.equal((await isIdle()).body.runs[0]?.status, 'completed')
    assert.doesNotMatch(stage.witan.output, /a stream failed/)
  })
})
