/** The configuration: found, checked, overridden. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { isWitanError } from '@witan/protocol'
import { jwtOf } from './auth-config.ts'
import { apiKeyOf, defineConfig, loadConfig, sourceUrlOf, storeFile } from './config.ts'
import { parseConfig } from './config-schema.ts'

describe('a configuration', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'witan-config-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  async function place(name: string, files: Record<string, string>): Promise<string> {
    const at = join(folder, name)
    await mkdir(join(at, 'deep', 'deeper'), { recursive: true })
    for (const [file, text] of Object.entries(files)) await writeFile(join(at, file), text)
    return at
  }

  test('without a file there are defaults, relative to the working directory', async () => {
    const cwd = await place('empty', {})
    const config = await loadConfig({ cwd, env: {} })
    assert.equal(config.file, null)
    assert.deepEqual(config.server, { host: '127.0.0.1', port: 4747, allowedHosts: [], allowedOrigins: [] })
    assert.equal(storeFile(config), join(cwd, '.witan', 'witan.db'))
    assert.equal(config.auth.mode, 'local')
    assert.equal(config.logLevel, 'info')
  })

  test('a file is found upwards; its paths are relative to it; TypeScript goes before JSON', async () => {
    const text = JSON.stringify({
      store: { url: 'file:data/x.db' },
      sources: { shop: { kind: 'sqlite', file: './shop.db' } },
    })
    const at = await place('upwards', { 'witan.config.json': text })
    const config = await loadConfig({ cwd: join(at, 'deep', 'deeper'), env: {} })
    assert.equal(config.file, join(at, 'witan.config.json'))
    assert.equal(storeFile(config), join(at, 'data', 'x.db'))
    assert.equal(config.sources['shop']?.kind === 'sqlite' && config.sources['shop'].file, join(at, 'shop.db'))
    await writeFile(
      join(at, 'witan.config.ts'),
      'const port: number = 5\nexport default { server: { port }, tools: [{ name: "live", execute: () => 1 }] }\n',
    )
    const live = await loadConfig({ cwd: at, env: {} })
    assert.equal(live.server.port, 5)
    assert.equal(live.tools[0]?.execute({}, {} as never), 1)
  })

  test('origins of pages are taken only as a browser writes them', () => {
    const allowedOrigins = ['https://app.example.com', 'http://localhost:3000', 'http://[::1]:5173']
    assert.deepEqual(parseConfig({ server: { allowedOrigins } }).server.allowedOrigins, allowedOrigins)
    const wrong = [
      '*',
      'null',
      'app.example.com',
      'https://*.example.com',
      'https://app.example.com/',
      'https://app.example.com:443',
      'https://App.example.com',
      'https://app.example.com/path',
      'https://me:pw@app.example.com',
      'file:///tmp',
      'ftp://app.example.com',
      '',
    ]
    for (const one of wrong)
      assert.throws(
        () => parseConfig({ server: { allowedOrigins: [one] } }),
        (error) =>
          isWitanError(error) &&
          error.code === 'CONFIG_INVALID' &&
          error.path === 'server.allowedOrigins.0' &&
          /such as `https:\/\/app\.example\.com`/.test(error.message) &&
          !error.message.includes('pw@'),
        one,
      )
  })

  test('the environment goes before the file [F36]', async () => {
    const at = await place('environment', {
      'witan.config.json': '{"server":{"port":1,"allowedHosts":["a"]},"limits":{"maxModelCalls":7}}',
    })
    const env = {
      WITAN_CONFIG: join(at, 'witan.config.json'),
      WITAN_STORE_URL: 'memory:',
      WITAN_PORT: '0',
      WITAN_HOST: 'localhost',
      WITAN_AUTH_MODE: 'none',
      WITAN_LOG_LEVEL: 'debug',
      MAX_SUB_AGENT_DEPTH: '3',
    }
    const config = await loadConfig({ cwd: folder, env })
    assert.deepEqual(config.server, { host: 'localhost', port: 0, allowedHosts: ['a'], allowedOrigins: [] })
    assert.equal(storeFile(config), null)
    assert.deepEqual([config.auth.mode, config.logLevel], ['none', 'debug'])
    assert.deepEqual(config.limits, { maxDepth: 3, maxModelCalls: 7 })
    const endless = await loadConfig({ cwd: folder, env: { ...env, MAX_SUB_AGENT_DEPTH: 'Infinity', WITAN_PORT: '' } })
    assert.deepEqual([endless.limits.maxDepth, endless.server.port], [Number.POSITIVE_INFINITY, 1])
  })

  test('a key comes from the environment that its connection names', () => {
    const connection = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1/v1', apiKeyEnv: 'KEY' } as const
    assert.equal(apiKeyOf(connection, { KEY: 'k' }), 'k')
    assert.equal(apiKeyOf(connection, {}), null)
  })

  test('the URL of a source comes from the environment, and a missing or wrong one is named and never shown', () => {
    const url = 'postgres://reader:p%40ss@db.example:5432/crm'
    assert.equal(sourceUrlOf('crm', 'CRM_URL', { CRM_URL: url }), url)
    for (const env of [{}, { CRM_URL: '' }, { CRM_URL: 'mysql://cny_a' }, { CRM_URL: 'postgres://cny_b:c@[d/e' }]) {
      assert.throws(
        () => sourceUrlOf('crm', 'CRM_URL', env),
        (error) => {
          assert.ok(isWitanError(error) && error.code === 'CONFIG_INVALID' && error.path === 'sources.crm.urlEnv')
          assert.match(error.message, /CRM_URL.*`crm`/)
          return !`${error.message} ${error.hint}`.includes('cny_')
        },
      )
    }
  })

  test('keys and tokens are modes of their own, with the usual claims', () => {
    assert.deepEqual(parseConfig({ auth: { mode: 'keys' } }).auth, { mode: 'keys' })
    const jwt = { mode: 'jwt', issuer: 'https://id.example', audience: 'witan', jwksUrl: null } as const
    const usual = { database: 'db', id: 'sub', roles: 'roles', address: 'email' }
    assert.deepEqual(jwtOf(parseConfig({ auth: jwt }).auth)?.claims, usual)
    const { auth } = parseConfig({ auth: { ...jwt, issuer: 'http://127.0.0.1:5/x', claims: { address: null } } })
    assert.deepEqual(jwtOf(auth)?.claims, { ...usual, address: null })
    assert.equal(jwtOf(parseConfig({}).auth), null)
  })

  const wrong: [name: string, config: unknown, code: string, path: string, hint: RegExp][] = [
    ['a mistyped key', { severs: {} }, 'UNKNOWN_KEY', 'severs', /`server`/],
    ['a mistyped inner key', { server: { prot: 1 } }, 'UNKNOWN_KEY', 'server.prot', /`port`/],
    [
      'an unknown key near nothing',
      { server: { zzzzzz: 1 } },
      'UNKNOWN_KEY',
      'server.zzzzzz',
      /host, port, allowedHosts/,
    ],
    [
      'an inner key of a record',
      { connections: { a: { kind: 'openai-compatible', baseURL: 'http://x/' } } },
      'UNKNOWN_KEY',
      'connections.a.baseURL',
      /`baseUrl`/,
    ],
    ['metrics', { telemetry: { metrics: 'yes' } }, 'CONFIG_INVALID', 'telemetry.metrics', /./],
    ['a key of telemetry', { telemetry: { otpl: {} } }, 'UNKNOWN_KEY', 'telemetry.otpl', /otlp/],
    ['a collector without address', { telemetry: { otlp: {} } }, 'CONFIG_INVALID', 'telemetry.otlp.url', /./],
    ['a mode that is none', { auth: { mode: 'open' } }, 'CONFIG_INVALID', 'auth.mode', /./],
    ['no issuer', { auth: { mode: 'jwt', audience: 'witan' } }, 'CONFIG_INVALID', 'auth.issuer', /./],
    ['no audience', { auth: { mode: 'jwt', issuer: 'https://id.example' } }, 'CONFIG_INVALID', 'auth.audience', /./],
    ['an issuer of another mode', { auth: { issuer: 'https://id.example' } }, 'CONFIG_INVALID', 'auth.issuer', /./],
    [
      'an issuer over plain HTTP',
      { auth: { mode: 'jwt', audience: 'witan', issuer: 'http://id.example' } },
      'CONFIG_INVALID',
      'auth.issuer',
      /./,
    ],
    [
      'keys with a password',
      { auth: { mode: 'jwt', audience: 'witan', issuer: 'https://id.example', jwksUrl: 'https://a:b@id.example' } },
      'CONFIG_INVALID',
      'auth.jwksUrl',
      /./,
    ],
    [
      'a claim that says nothing',
      { auth: { mode: 'jwt', audience: 'witan', issuer: 'https://id.example', claims: { db: 'x' } } },
      'UNKNOWN_KEY',
      'auth.claims.db',
      /./,
    ],
    ['a schema that needs quotes', { store: { schema: 'My Schema' } }, 'CONFIG_INVALID', 'store.schema', /./],
    [
      'the URL of a source in the file',
      { sources: { crm: { kind: 'postgres', url: 'postgres://secret@x/y' } } },
      'UNKNOWN_KEY',
      'sources.crm.url',
      /./,
    ],
    ['a source of another kind', { sources: { crm: { kind: 'mysql' } } }, 'CONFIG_INVALID', 'sources.crm.kind', /./],
    ['another store', { store: { url: 'mysql://x' } }, 'CONFIG_INVALID', 'store.url', /./],
    ['a port too high', { server: { port: 70_000 } }, 'CONFIG_INVALID', 'server.port', /./],
    [
      'a base URL that is none',
      { connections: { a: { kind: 'openai-compatible', baseUrl: 'secret' } } },
      'CONFIG_INVALID',
      'connections.a.baseUrl',
      /./,
    ],
    ['a limit of 0', { limits: { maxDepth: 0 } }, 'CONFIG_INVALID', 'limits.maxDepth', /./],
    ['a tool that is none', { tools: ['lookup'] }, 'CONFIG_INVALID', 'tools.0', /./],
    ['a hook that is none', { hooks: ['audit'] }, 'CONFIG_INVALID', 'hooks.0', /./],
    ['a model that is none', { models: { big: 'gpt' } }, 'CONFIG_INVALID', 'models.big', /./],
    ['no object', [], 'CONFIG_INVALID', '', /./],
  ]

  for (const [name, config, code, path, hint] of wrong) {
    test(`refused with its place: ${name}`, async () => {
      const at = await place('wrong', { 'witan.config.json': JSON.stringify(config) })
      await assert.rejects(loadConfig({ cwd: at, env: {} }), (error) => {
        assert.ok(isWitanError(error), String(error))
        assert.equal(error.code, code, error.message)
        assert.equal(error.path ?? '', path)
        assert.match(error.hint ?? '', hint)
        assert.ok(path === '' || error.message.includes(path.split('.').at(-1) ?? ''), error.message)
        assert.equal(error.message.includes('secret'), false)
        return true
      })
    })
  }

  test('a number that JavaScript would change keeps its digits, and is refused where a number belongs', async () => {
    const agent = '{"id":"a","model":"m/x","instructions":"x","providerOptions":{"openai":{"seed":9007199254740993}}}'
    const kept = await place('long', { 'witan.config.json': `{"agents":[${agent}]}` })
    const config = await loadConfig({ cwd: kept, env: {} })
    assert.ok(JSON.stringify(config.agents).includes('"seed":"9007199254740993"'), JSON.stringify(config.agents))
    const wrong = await place('longer', { 'witan.config.json': '{"limits":{"maxDepth":1e400}}' })
    await assert.rejects(loadConfig({ cwd: wrong, env: {} }), { code: 'CONFIG_INVALID', path: 'limits.maxDepth' })
  })

  test('a file that is missing, broken or empty is named', async () => {
    const at = await place('broken', {
      'witan.config.json': '{\n  "a": 1,\n}',
      'none.ts': 'export const config = {}\n',
      'x.yaml': '',
    })
    const fails = (file: string, message: RegExp) =>
      assert.rejects(
        loadConfig({ cwd: at, file, env: {} }),
        (error) => isWitanError(error) && error.code === 'CONFIG_INVALID' && message.test(error.message),
      )
    await fails('missing.json', /missing\.json does not exist/)
    await fails('witan.config.json', /line 3, column 1/)
    await fails('none.ts', /none\.ts exports no configuration/)
    await fails('x.yaml', /x\.yaml/)
    await assert.rejects(loadConfig({ cwd: folder, env: { WITAN_PORT: 'many' } }), /WITAN_PORT/)
    for (const depth of ['0', '-1', '1.5', '1001', 'deep'])
      await assert.rejects(loadConfig({ cwd: folder, env: { MAX_SUB_AGENT_DEPTH: depth } }), {
        message: 'The environment variable MAX_SUB_AGENT_DEPTH must be a whole number from 1 to 1000.',
      })
    await assert.rejects(loadConfig({ cwd: folder, env: { WITAN_LOG_LEVEL: 'loud' } }), /WITAN_LOG_LEVEL/)
  })

  test('a helper gives the types and changes nothing', () => {
    const config = defineConfig({ server: { port: 0 } })
    assert.equal(parseConfig(config).server.port, 0)
  })
})
