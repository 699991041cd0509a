/** A process whose listener was ended and finds no connection any more: its readers get every stored event, and /readyz reports it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, postgresStore, type Runtime } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import type { AnyEvent } from '@witan/protocol'
import { createApp, createAuth, createLog } from '@witan/server'
import { asAdmin, freshSchema } from '../postgres/support/stores.ts'
import { closers, type Later } from '../support/closers.ts'
import { watchNoise } from '../support/noise.ts'
import { agent, settle } from '../support/stage.ts'

const timeout = 120_000
/** By then a reader has what is stored, whatever becomes of notifications. */
const withinMs = 3_000

interface Place {
  readonly url: string
  readonly schema: string
}

/** A login that may act as the roles of the store; `allow` limits its connections. */
async function makeLogin(later: Later, { url, schema }: Place) {
  const name = `${schema}_login`
  const allow = (connections: number) =>
    asAdmin(url, (client) => client.query(`alter role "${name}" connection limit ${connections}`))
  await asAdmin(url, async (client) => {
    await client.query(`create role "${name}" login`)
    await client.query(`grant "${schema}_app", "${schema}_worker" to "${name}"`)
  })
  later(() => asAdmin(url, (client) => client.query(`drop role "${name}"`)))
  const at = new URL(url)
  at.username = name
  return {
    url: at.href,
    allow,
    /** Ends the session that listens. */
    async cut() {
      const sql = `select pg_terminate_backend(pid) from pg_stat_activity
        where usename = $1 and application_name = 'witan listener'`
      await asAdmin(url, async (client) => {
        while ((await client.query(sql, [name])).rowCount === 0);
      })
    },
  }
}

interface Process {
  readonly runtime: Runtime
  readonly reports: string[]
  /** The next report. */
  reported(): Promise<void>
  ready(): Promise<readonly [status: number, body: Record<string, unknown>]>
}

async function startProcess(later: Later, options: Parameters<typeof postgresStore>[0]): Promise<Process> {
  const reports: string[] = []
  let wake = () => {}
  const runtime = createRuntime({
    store: postgresStore(options),
    models: { 'play/model': scriptedModel(() => 'Noted.') },
    agents: [agent('clerk')],
    report(error) {
      reports.push(String(error))
      wake()
    },
  })
  later(() => runtime.close())
  await runtime.ready
  const never = new AbortController().signal
  const app = createApp({
    runtime,
    auth: createAuth('none', () => 4747),
    hosts: { port: () => 4747, allowed: [] },
    log: createLog('silent'),
    stop: { streams: never, waits: never },
    studio: new URL('file:///nowhere/'),
  })
  return {
    runtime,
    reports,
    reported: () =>
      new Promise<void>((resolve) => {
        wake = resolve
      }),
    async ready() {
      const reply = await app.request('/readyz', { headers: { host: '127.0.0.1:4747' } })
      return [reply.status, (await reply.json()) as Record<string, unknown>]
    },
  }
}

/** Reads a conversation; `until` resolves with the time at which the stream had what was wanted, or at which it ended. */
function follow(later: Later, { runtime }: Process, id: string) {
  const stop = new AbortController()
  later(() => stop.abort())
  const seen: AnyEvent[] = []
  const state = { isOver: false, wake: () => {} }
  void (async () => {
    for await (const event of runtime.followEvents(id, { verbose: true, signal: stop.signal })) {
      seen.push(event)
      state.wake()
    }
    state.isOver = true
    state.wake()
  })()
  const until = async (wanted: () => boolean) => {
    while (!wanted())
      await new Promise<void>((resolve) => {
        state.wake = resolve
      })
    return performance.now()
  }
  return {
    seen,
    ended: () => until(() => state.isOver),
    /** Resolves once the stream has had `count` ends of the root agent. */
    ends: (count: number) =>
      until(() => seen.filter(({ type, kind }) => type === 'end' && kind === 'agent').length >= count),
  }
}

test('a process that cannot listen gives its readers every stored event within three seconds, and is not ready', {
  timeout,
}, async (context) => {
  const later = closers(context)
  const place = await freshSchema(context)
  const noise = watchNoise()
  later(() => noise.stop())
  const working = await startProcess(later, place)
  const login = await makeLogin(later, place)
  const deaf = await startProcess(later, { ...place, url: login.url, poolSize: 2 })
  await working.runtime.start({ agent: 'clerk', id: 'chats/1' })
  assert.deepEqual(await deaf.ready(), [200, { status: 'ready' }]) // which has opened both of its connections
  await deaf.runtime.getConversation('chats/1')

  const reported = deaf.reported()
  await login.allow(2)
  await login.cut()
  await reported
  assert.match(deaf.reports.join(), /cannot listen on PostgreSQL .*too many connections/)
  const [status, problem] = await deaf.ready()
  assert.deepEqual(
    [status, problem['code'], problem['detail']],
    [503, 'STORE_UNAVAILABLE', 'This process cannot receive notifications of other processes.'],
  )
  assert.ok(!JSON.stringify(problem).includes(place.schema), 'it names nobody')

  const reader = follow(later, deaf, 'chats/1')
  for (let round = 1; round <= 4; round += 1) {
    const run = await working.runtime.run('chats/1', { prompt: `Message ${round}` })
    await run.result
    const storedAt = performance.now()
    const lateMs = (await reader.ends(round)) - storedAt
    assert.ok(lateMs < withinMs + noise.worst(), `round ${round}: ${Math.round(lateMs)} ms`)
  }
  const seqs = reader.seen.map(({ seq }) => seq)
  assert.deepEqual(
    seqs,
    seqs.map((_, index) => index + 1),
  )
  assert.equal(deaf.reports.length, 1, deaf.reports.join('\n'))

  await login.allow(-1)
  while ((await deaf.ready())[0] !== 200) await settle()
  await working.runtime.deleteConversation('chats/1')
  await reader.ended()
})

test('the end of a conversation, and another one in its place, reach a reader whose process cannot listen', {
  timeout,
}, async (context) => {
  const later = closers(context)
  const place = await freshSchema(context)
  const working = await startProcess(later, place)
  const login = await makeLogin(later, place)
  const deaf = await startProcess(later, { ...place, url: login.url, poolSize: 2 })
  const ids = ['chats/deleted', 'chats/replaced']
  for (const id of ids) await (await working.runtime.start({ agent: 'clerk', id, prompt: 'Hello' })).run?.result
  await deaf.ready()
  await deaf.runtime.getConversation('chats/deleted')
  const reported = deaf.reported()
  await login.allow(2)
  await login.cut()
  await reported
  const readers = ids.map((id) => follow(later, deaf, id))
  await Promise.all(readers.map((reader) => reader.ends(1)))
  for (const id of ids) await working.runtime.deleteConversation(id)
  await working.runtime.start({ agent: 'clerk', id: 'chats/replaced' })
  await Promise.all(readers.map((reader) => reader.ended()))
})
