/** A runtime from a configuration: the options of its store reach the store, and a server that is away is named. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { freshSchema } from '../../../test/postgres/support/stores.ts'
import { loadConfig } from './config.ts'
import { parseConfig } from './config-schema.ts'
import { openRuntime, storeOf } from './open-runtime.ts'

const cwd = import.meta.dirname

test('a store on PostgreSQL is opened from the environment, in the schema of the configuration', async (context) => {
  const { url, schema } = await freshSchema(context)
  const config = await loadConfig({ cwd, env: { WITAN_STORE_URL: url } })
  const runtime = await openRuntime({ ...config, store: { ...config.store, schema, poolSize: 4 } }, () => {})
  try {
    assert.deepEqual((await runtime.agents.list()).items, [])
  } finally {
    await runtime.close()
  }
})

test('a server that cannot be reached is told of, and its password nowhere', async () => {
  const env = { WITAN_STORE_URL: 'postgres://me:opensesame-4711@127.0.0.1:1/app' }
  const config = await loadConfig({ cwd, env })
  const logged: unknown[] = []
  const opening = openRuntime(config, (...line) => logged.push(line))
  await assert.rejects(opening, (error: { code?: string }) => {
    assert.equal(error.code, 'STORE_UNREACHABLE')
    assert.equal(inspect([error, logged], { depth: 20, showHidden: true }).includes('opensesame'), false)
    return true
  })
})

test('a store in memory keeps as many conversations that rest as the configuration says', async () => {
  const settings = { store: { url: 'memory:', maxResting: 1, maxRestingMs: Number.POSITIVE_INFINITY } }
  const store = storeOf({ env: {}, ...parseConfig(settings) })
  const row = { database: 'default', agent: 'a', createdBy: 'u', createdAt: 1, lastMessageAt: 1, lastSeq: 0 }
  const given = { parameters: {}, maxModelIterationsPerCall: null, expiresAt: null }
  for (const id of ['chats/1', 'chats/2']) {
    const create = { ...row, ...given, id }
    assert.ok((await store.append({ database: 'default', conversation: id, create, entries: [] })).ok)
  }
  assert.equal(await store.getConversation('default', 'chats/1'), null)
  assert.notEqual(await store.getConversation('default', 'chats/2'), null)
})

test('databases are kept at the servers that the configuration names, and what cannot be is refused by its place', async (context) => {
  const { url, schema } = await freshSchema(context)
  const env = { WITAN_STORE_URL: url, US_URL: url }
  const open = async (store: object, more: object = {}) => {
    const settings = { store: { schema, ...store } }
    return openRuntime(
      { ...(await loadConfig({ cwd, env: { ...env, ...more } })), ...parseConfig(settings), env: { ...env, ...more } },
      () => {},
    )
  }
  const routed = { url, clusters: { us: { urlEnv: 'US_URL' } }, homes: { acme: 'us' } }
  const runtime = await open(routed)
  assert.deepEqual((await runtime.agents.list()).items, [])
  await runtime.close()
  const refused = { code: 'CONFIG_INVALID' }
  await assert.rejects(open({ ...routed, homes: { acme: 'eu' } }), refused)
  await assert.rejects(open({ ...routed, clusters: { main: { urlEnv: 'US_URL' } } }), {
    ...refused,
    path: 'store.clusters',
  })
  await assert.rejects(open({ ...routed, url: 'memory:' }), { ...refused, path: 'store.clusters' })
  await assert.rejects(open(routed, { US_URL: 'http://nowhere' }), { ...refused, path: 'store.clusters.us.urlEnv' })
})

test('a limit of a store in memory that is none is refused by its place', () => {
  for (const [key, value] of Object.entries({ maxResting: 0, maxRestingMs: 'a day' })) {
    assert.throws(() => parseConfig({ store: { url: 'memory:', [key]: value } }), {
      code: 'CONFIG_INVALID',
      path: `store.${key}`,
    })
  }
})

test('which variables saved agents may send depends on who reaches the server, unless the configuration says', async () => {
  const saved = async (mode: 'local' | 'none' | 'keys', bearerEnv?: '*' | Record<string, string[]>) => {
    const config = await loadConfig({ cwd, env: { WITAN_STORE_URL: 'memory:' } })
    const federation = { ...config.federation, ...(bearerEnv === undefined ? {} : { bearerEnv }) }
    const runtime = await openRuntime({ ...config, auth: { mode }, federation }, () => {})
    const travel = { name: 'travel', card: 'https://travel.example/card.json', bearerEnv: 'TRAVEL_TOKEN' }
    const desk = { id: 'desk', model: 'local/x', instructions: 'Ask.', remotes: [travel] }
    const report = await runtime.agents.check([desk])
    await runtime.close()
    return !report.errors.some(({ path }) => path === 'remotes.0.bearerEnv')
  }
  const named = { TRAVEL_TOKEN: ['https://travel.example'] }
  assert.deepEqual(await Promise.all([saved('local'), saved('none'), saved('keys')]), [true, true, false])
  const others = [saved('local', {}), saved('keys', '*'), saved('keys', named), saved('none', { TRAVEL_TOKEN: [] })]
  assert.deepEqual(await Promise.all(others), [false, true, true, false])
})
