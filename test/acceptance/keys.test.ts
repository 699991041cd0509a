/** Who asks: people with keys, keys that are no more, two databases with the same ids, and tokens of an issuer. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { AuditEntry } from '@witan/protocol/keys'
import { assertProblem } from './support/claims.ts'
import { createIssuer, type Issuer } from './support/issuer.ts'
import { commandLine } from './support/program.ts'
import { agent, createStage, segment, type Stage, until } from './support/stage.ts'
import type { Interruption, Page } from './support/wire.ts'
import type { Answer, CallOptions } from './support/witan.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

interface Principal {
  database: string
  id: string
  roles: string[]
  address: string | null
}
interface Key extends Omit<Principal, 'database'> {
  keyId: string
  key: string
  name: string | null
  createdAt: string
  expiresAt: string | null
  lastUsedAt?: string | null
}

let stage: Stage
let issuer: Issuer | null = null
afterEach(async () => {
  await stage?.close()
  await issuer?.close()
  issuer = null
})

/** The words of `witan` on the store of the stage, as an operator says them. */
async function onStore(folder: string, ...words: string[]): Promise<{ stdout: string; stderr: string }> {
  const env = { ...process.env, WITAN_STORE_URL: `file:${join(folder, 'witan.db')}` }
  return run(process.execPath, [...commandLine, ...words], { cwd: root, env })
}
const keysOnStore = (folder: string, ...words: string[]) => onStore(folder, 'keys', ...words)

type Call = <T>(method: string, path: string, options?: CallOptions) => Promise<Answer<T>>

/** The calls of somebody who shows this, whatever it is. */
const as =
  (shown: string): Call =>
  (method, path, options = {}) =>
    stage.witan.call(method, path, { ...options, headers: { authorization: `Bearer ${shown}`, ...options.headers } })

/** A server in mode `keys` with an admin of each database, made on the store before it starts. */
async function startWithAdmins<Name extends string>(...databases: Name[]): Promise<Record<Name, Call>> {
  stage = await createStage({ store: 'file', hosted: true, prepare: () => ({ auth: { mode: 'keys' } }) })
  await stage.witan.stop()
  const admins: [string, Call][] = []
  for (const database of databases) {
    const { stdout } = await keysOnStore(stage.witan.folder, 'create', '--db', database, '--role', 'admin')
    admins.push([database, as(stdout.trim())])
  }
  await stage.witan.start()
  return Object.fromEntries(admins) as Record<Name, Call>
}

async function createKey(admin: Call, body: object): Promise<Key> {
  const made = await admin<Key>('POST', '/api/v1/keys', { body })
  assert.equal(made.status, 201, made.text)
  return made.body
}

/** The audit that somebody reads, the latest first, and who made the current revision of an agent or a protocol. */
async function auditOf(call: Call, query = ''): Promise<string[]> {
  const answer = await call<Page<AuditEntry>>('GET', `/api/v1/audit${query}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.body.items.map(({ by, via, action, kind, name, before, after }) =>
    [by, via, action, kind, name, before ?? '-', after ?? '-'].join(' '),
  )
}
async function savedBy(call: Call, path: string): Promise<readonly unknown[]> {
  const { by, via, at } = (await call<Record<'by' | 'via' | 'at', string>>('GET', `/api/v1/${path}`)).body
  assert.ok(Math.abs(Date.parse(at) - Date.now()) < 600_000, at)
  return [by, via]
}

const whoIs = (call: Call) => call<Principal>('GET', '/api/v1/principal')
const chat = `/api/v1/conversations/${segment('chats/1')}`
const refused = { status: 401, code: 'UNAUTHENTICATED' }
/** A problem without what differs between any two. */
const bare = ({ text }: Answer<unknown>) => text.replace(/"requestId":"[^"]+"/, '')

describe('people with keys', () => {
  test('[D17] each acts as whom the key names; unknown, expired and revoked keys are 401, a late one joins', async () => {
    const { shop: admin } = await startWithAdmins('shop')
    const anna = await createKey(admin, { id: 'user:anna', roles: ['run', 'buyer'], name: "Anna's phone" })
    const bob = await createKey(admin, { id: 'user:bob', roles: ['run', 'answer'], address: '@bob@shop.example' })
    const brief = await createKey(admin, { id: 'user:dora', roles: ['admin'], expiresInSeconds: 1 })
    const taken = await createKey(admin, { roles: ['admin'] })
    assert.match(anna.key, /^wtn_/)
    assert.equal(taken.id, `key:${taken.keyId}`)
    const { key: _, ...about } = anna
    const listed = (await admin<Page<Key>>('GET', '/api/v1/keys')).body.items
    assert.deepEqual(
      listed.find(({ keyId }) => keyId === anna.keyId),
      { ...about, lastUsedAt: null },
    )
    assert.doesNotMatch(JSON.stringify(listed), /wtn_/)
    assert.deepEqual((await whoIs(as(bob.key))).body, {
      ...{ database: 'shop', id: 'user:bob', roles: ['run', 'answer'], address: '@bob@shop.example' },
    })

    const desk = agent('desk', { users: 'participants' })
    assert.equal((await admin('PUT', '/api/v1/agents/desk', { body: desk })).status, 201)
    stage.model.script(
      'desk',
      { calls: [{ name: 'ask_user', args: { user: 'bob', message: 'Ten?' } }] },
      { text: 'Bob agrees.' },
      { text: 'Hello, Finn.' },
    )
    const begun = { agent: 'desk', id: 'chats/1', users: [{ id: 'anna' }, { id: 'bob' }], prompt: 'Order ten.' }
    const started = await as(anna.key)<{ run: { status: string } }>('POST', '/api/v1/conversations', { body: begun })
    assert.equal(started.status, 201, started.text)
    assert.equal(started.body.run.status, 'waiting')
    const mine = await as(bob.key)<Page<Interruption>>('GET', '/api/v1/interruptions?addressee=me')
    const [asked] = mine.body.items
    const answered = await as(bob.key)('POST', `/api/v1/interruptions/${asked?.id}/answer`, {
      body: { answer: 'Yes, ten.' },
    })
    assert.equal(answered.status, 200, answered.text)
    const events = await until(
      async () =>
        (
          await as(anna.key)<{ events: { type: string; content: { by?: string } }[] }>(
            'GET',
            `${chat}/events?verbose=true`,
            { headers: { accept: 'application/json' } },
          )
        ).body.events,
      (found) => found.at(-1)?.type === 'end',
    )
    assert.equal(events.find(({ type }) => type === 'resolved')?.content.by, 'user:bob')

    // One who joins late: nothing before, then without any role what a participant may.
    const finn = as((await createKey(admin, { id: 'user:finn' })).key)
    const before = await finn('GET', chat)
    assertProblem(before, { status: 404, code: 'NOT_FOUND' })
    const missing = await finn('GET', chat.replace('chats%2F1', 'chats%2F2'))
    assert.equal(bare(before), bare(missing).replaceAll('chats/2', 'chats/1'))
    const joins = await as(anna.key)('POST', `${chat}/participants`, { body: { id: 'finn', name: 'Finn' } })
    assert.equal(joins.status, 201, joins.text)
    assert.equal((await finn('GET', chat)).status, 200)
    const said = await finn<{ text: string }>('POST', `${chat}/runs`, { body: { prompt: 'I am new.' } })
    assert.deepEqual([said.status, said.body.text], [200, 'Hello, Finn.'], said.text)
    const { messages } = (await as(anna.key)<{ messages: { author: string }[] }>('GET', '/api/v1/documents/chats/1'))
      .body
    assert.deepEqual([...new Set(messages.map(({ author }) => author))], ['anna', 'desk', 'finn'])
    assertProblem(await finn('GET', '/api/v1/keys'), { status: 404, code: 'NOT_FOUND' })

    // Those who are let in no more; the server has just seen the key.
    assert.equal((await whoIs(as(taken.key))).status, 200)
    assert.equal((await admin('DELETE', `/api/v1/keys/${taken.keyId}`)).status, 204)
    const from = Date.now()
    const gone = await until(
      () => whoIs(as(taken.key)),
      ({ status }) => status !== 200,
    )
    assert.ok(Date.now() - from < 5_000)
    assertProblem(gone, { ...refused, never: [taken.key] })
    const over = await until(
      () => whoIs(as(brief.key)),
      ({ status }) => status !== 200,
    )
    assertProblem(over, { ...refused, names: ['expired'] })
    for (const shown of [`wtn_${'x'.repeat(43)}`, anna.keyId, `${anna.key}0`, 'eyJhbGciOiJub25lIn0.e30.'])
      assertProblem(await whoIs(as(shown)), { ...refused, never: [shown] })
    assertProblem(await stage.witan.call('GET', '/api/v1/principal'), refused)
    assert.doesNotMatch(stage.witan.output, /wtn_/)
  })

  test('[R11] [D17] two databases with the same ids know nothing of each other', async () => {
    const admins = await startWithAdmins('shop', 'lab')
    for (const [database, admin] of Object.entries(admins)) {
      const body = agent('desk', { model: `play/${database}`, instructions: `You serve the ${database}.` })
      assert.equal((await admin('PUT', '/api/v1/agents/desk', { body })).status, 201)
      stage.model.script(database, { text: `An answer of the ${database}.` })
      const begun = { agent: 'desk', id: 'chats/1', prompt: `A question of the ${database}.` }
      assert.equal((await admin('POST', '/api/v1/conversations', { body: begun })).status, 201)
    }
    for (const [database, other] of [
      ['shop', 'lab'],
      ['lab', 'shop'],
    ] as const) {
      const admin = admins[database]
      for (const path of [
        '/api/v1/agents',
        '/api/v1/agents/desk',
        '/api/v1/conversations',
        chat,
        '/api/v1/documents/chats/1',
        `${chat}/events?verbose=true`,
        `${chat}/runs`,
        '/api/v1/keys',
      ]) {
        const { status, text } = await admin('GET', path, { headers: { accept: 'application/json' } })
        assert.equal(status, 200, path)
        assert.equal(text.includes(`the ${other}`), false, `${path}: ${text}`)
      }
      const { keyId } = await createKey(admins[other], { roles: ['read'] })
      const { body } = await admins[other]<{ runs: { runId: string }[] }>('GET', chat)
      const [foreign] = body.runs
      for (const path of [`/api/v1/runs/${foreign?.runId}`, `/api/v1/tasks/${foreign?.runId}`])
        assertProblem(await admin('GET', path), { status: 404 })
      assertProblem(await admin('DELETE', `/api/v1/keys/${keyId}`), { status: 404, code: 'NOT_FOUND' })
    }
    assert.equal((await admins.shop('DELETE', chat)).status, 204)
    assert.equal((await admins.lab('GET', chat)).status, 200)
  })

  test('[R11] the audit names the key of each change, and an import once for each database', async () => {
    const admins = await startWithAdmins('shop', 'lab')
    const anna = await createKey(admins.shop, { id: 'user:anna', roles: ['admin'] })
    const bob = await createKey(admins.shop, { id: 'user:bob', roles: ['run', 'read'] })
    const changes = [
      ['PUT', 'agents/desk', agent('desk'), 201],
      ['PUT', 'agents/desk', agent('desk', { instructions: 'Other.' }), 200],
      ['PUT', 'protocols/trade', { messages: [{ name: 'ask', from: 'initiator' }] }, 201],
      ['DELETE', `keys/${bob.keyId}`, undefined, 204],
    ] as const
    for (const [method, path, body, status] of changes) {
      const answer = await as(anna.key)(method, `/api/v1/${path}`, body === undefined ? {} : { body })
      assert.equal(answer.status, status, answer.text)
    }
    assertProblem(await as(bob.key)('GET', '/api/v1/audit'), refused)
    const reader = await createKey(admins.lab, { id: 'user:anna', roles: ['run', 'answer', 'read'] })
    assertProblem(await as(reader.key)('GET', '/api/v1/audit'), { status: 404, code: 'NOT_FOUND' })
    assert.deepEqual(await auditOf(admins.shop, '?by=user%3Aanna'), [
      `user:anna key revoke key ${bob.keyId} - -`,
      'user:anna key create protocol trade - 1',
      'user:anna key change agent desk 1 2',
      'user:anna key create agent desk - 1',
    ])
    for (const path of ['agents/desk', 'protocols/trade'])
      assert.deepEqual(await savedBy(admins.shop, path), ['user:anna', 'key'], path)
    const own = (await whoIs(admins.lab)).body.id
    assert.deepEqual(await auditOf(admins.lab), [
      `${own} key create key ${reader.keyId} - -`,
      `user:local local create key ${own.slice('key:'.length)} - -`,
    ])

    const { folder } = stage.witan
    await stage.witan.stop()
    await onStore(folder, 'export', join(folder, 'all.jsonl'))
    for (const name of globSync('witan.db*', { cwd: folder })) await rm(join(folder, name))
    for (let time = 1; time <= 2; time += 1) await onStore(folder, 'import', join(folder, 'all.jsonl'))
    await stage.witan.start()
    for (const [database, admin] of Object.entries(admins))
      assert.deepEqual(await auditOf(admin), [`user:local import import database ${database} - -`])
    for (const path of ['agents/desk', 'protocols/trade'])
      assert.deepEqual(await savedBy(admins.shop, path), ['user:local', 'import'], path)
    const next = await as(anna.key)('PUT', '/api/v1/agents/desk', { body: agent('desk') })
    assert.equal(next.status, 200, next.text)
    assert.deepEqual(await savedBy(admins.shop, 'agents/desk'), ['user:anna', 'key'])
    assert.deepEqual(await auditOf(admins.shop, '?kind=agent'), ['user:anna key change agent desk 2 3'])
  })

  test('a server without a key lets nobody in and says what to do; one that is made on the store opens it', async () => {
    stage = await createStage({ store: 'file', prepare: () => ({ auth: { mode: 'keys' } }) })
    assert.match(stage.witan.output, /no API key yet.*witan keys create --db default --role admin/)
    assertProblem(await whoIs(as(`wtn_${'x'.repeat(43)}`)), refused)
    const beside = await keysOnStore(stage.witan.folder, 'create', '--role', 'admin').catch((error) => error)
    assert.match(beside.stderr, /UNAUTHENTICATED/, 'the server holds the store')
    await stage.witan.stop()
    const made = await keysOnStore(stage.witan.folder, 'create', '--role', 'admin')
    await stage.witan.start()
    assert.doesNotMatch(stage.witan.output, /no API key yet/)
    const key = made.stdout.trim()
    assert.equal((await whoIs(as(key))).body.database, 'default')
    const words = ['list', '--url', stage.witan.url, '--token', key]
    assert.match((await keysOnStore(stage.witan.folder, ...words)).stdout, /key:\w+ +admin/)
  })
})

describe('tokens of an issuer', () => {
  const anna = { db: 'shop', sub: 'anna', roles: ['run', 'read'], email: 'anna@example.com' }
  const begin = async (claims?: object) => {
    const started = await createIssuer()
    issuer = started
    const auth = { mode: 'jwt', issuer: started.url, audience: 'witan', ...(claims === undefined ? {} : { claims }) }
    stage = await createStage({ hosted: true, prepare: () => ({ auth }) })
    return started
  }

  test('[D17] a token says who asks and of which database; every other one is 401', async () => {
    const { token, unsigned, confused } = await begin()
    const principal = { database: 'shop', id: 'user:anna', roles: ['run', 'read'], address: 'anna@example.com' }
    assert.deepEqual((await whoIs(as(await token(anna)))).body, principal)
    const other = await createIssuer()
    const now = Date.now() / 1000
    const wrong = {
      'another audience': await token({ ...anna, aud: 'another' }),
      'no audience': await token({ ...anna, aud: undefined }),
      'another issuer': await token({ ...anna, iss: other.url }),
      'signed by another': await other.token({ ...anna, iss: issuer?.url }),
      'of another issuer': await other.token(anna),
      'no signature': unsigned(anna),
      'the public key as a secret': await confused(anna),
      expired: await token({ ...anna, exp: now - 60 }),
      endless: await token({ ...anna, exp: undefined }),
      'not yet': await token({ ...anna, nbf: now + 60 }),
      'no database': await token({ ...anna, db: undefined }),
      'a database of another form': await token({ ...anna, db: '../default' }),
      'nobody in particular': await token({ ...anna, sub: undefined }),
      'roles as a text': await token({ ...anna, roles: 'admin' }),
      'no roles': await token({ ...anna, roles: undefined }),
      nonsense: 'a.b.c',
      'a key': `wtn_${'x'.repeat(43)}`,
    }
    for (const [name, shown] of Object.entries(wrong)) {
      const answer = await whoIs(as(shown))
      assert.equal(answer.status, 401, name)
      assertProblem(answer, { ...refused, never: [shown] })
    }
    await other.close()
    assertProblem(await stage.witan.call('GET', '/api/v1/principal'), refused)
  })

  test('claims have the names that the configuration gives; databases of tokens are apart', async () => {
    const names = { database: 'org', id: 'preferred_username', roles: 'https://x.example/roles', address: null }
    const { token } = await begin(names)
    const claims = (org: string) => ({ org, preferred_username: 'anna', 'https://x.example/roles': ['admin'] })
    const [shop, lab] = [as(await token(claims('shop'))), as(await token(claims('lab')))]
    assert.deepEqual((await whoIs(lab)).body, { database: 'lab', id: 'user:anna', roles: ['admin'], address: null })
    assert.equal((await shop('PUT', '/api/v1/agents/desk', { body: agent('desk') })).status, 201)
    assert.equal((await shop('GET', '/api/v1/agents/desk')).status, 200)
    assertProblem(await lab('GET', '/api/v1/agents/desk'), { status: 404, code: 'NOT_FOUND' })
  })

  test('the audit names who a token is for', async () => {
    const { token } = await begin()
    const admin = as(await token({ ...anna, roles: ['admin'] }))
    assert.equal((await admin('PUT', '/api/v1/agents/desk', { body: agent('desk') })).status, 201)
    const { keyId } = await createKey(admin, { roles: ['read'] })
    assert.equal((await admin('DELETE', '/api/v1/agents/desk')).status, 204)
    assert.deepEqual(await auditOf(admin), [
      'user:anna token delete agent desk 1 -',
      `user:anna token create key ${keyId} - -`,
      'user:anna token create agent desk - 1',
    ])
  })

  test('a new key of the issuer counts within seconds, and the old one no more', async () => {
    const { token, rotate, asked } = await begin()
    const old = await token(anna)
    assert.equal((await whoIs(as(old))).status, 200)
    await rotate()
    const next = await token(anna)
    const from = Date.now()
    await until(
      () => whoIs(as(next)),
      ({ status }) => status === 200,
    )
    assert.ok(Date.now() - from < 10_000)
    assertProblem(await whoIs(as(old)), refused)
    for (let at = 0; at < 20; at += 1)
      assertProblem(await whoIs(as(await token(anna, { kid: `made-up-${at}` }))), refused)
    assert.ok(asked() <= 4, `${asked()} requests for keys`)
  })

  test('an issuer that hangs or fails is 503 in time, and lets nobody in', async () => {
    const well = await begin()
    for (const state of ['hangs', 'fails'] as const) {
      well.state = state
      const shown = await well.token(anna)
      const from = Date.now()
      const answers = await Promise.all(Array.from({ length: 5 }, () => whoIs(as(shown))))
      assert.ok(Date.now() - from < 5_000, `${Date.now() - from} ms`)
      for (const answer of answers) assertProblem(answer, { status: 503, code: 'ISSUER_UNAVAILABLE', never: [shown] })
      assert.equal((await stage.witan.call('GET', '/healthz')).status, 200)
    }
    well.state = 'well'
    const shown = await well.token(anna)
    await until(
      () => whoIs(as(shown)),
      ({ status }) => status === 200,
    )
  })
})
