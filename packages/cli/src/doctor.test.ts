/** `witan doctor` in working and in broken surroundings: what it says, the fix, the exit code, and what it never does. */
import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { loadConfig, startServer } from '@witan/server'
import { createTestDatabase } from '../../../test/postgres/support/database.ts'
import { startPair } from '../../../test/postgres/support/pair.ts'
import { asAdmin } from '../../../test/postgres/support/stores.ts'
import { witan } from './testing/witan.ts'

interface Finding {
  readonly area: string
  readonly state: string
  readonly text: string
  readonly fix: string | null
}

describe('witan doctor', () => {
  let folder: string
  let provider: ReturnType<typeof createServer>
  let at: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'witan-doctor-'))
    provider = createServer((request, response) => {
      const status = /\/(\d{3})\//.exec(request.url ?? '')?.[1]
      const refused = request.url?.startsWith('/keyed/') && request.headers.authorization !== 'Bearer cny_right'
      response.writeHead(refused ? 401 : Number(status ?? 200)).end('{}')
    })
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
    at = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  })
  after(async () => {
    provider?.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function place(name: string, config: object): Promise<string> {
    const path = join(folder, name)
    await mkdir(path, { recursive: true })
    await writeFile(join(path, 'witan.config.json'), JSON.stringify({ server: { port: 0 }, ...config }))
    return path
  }

  async function examine(path: string, environment: Record<string, string> = {}) {
    const { code, out, err } = await witan(['doctor', '--json'], { folder: path, environment })
    assert.equal(err, '')
    const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: Finding[] }
    assert.equal(ok, code === 0)
    for (const { state, fix } of findings) assert.equal(fix === null, state === 'good')
    const of = (area: string) => findings.filter((finding) => finding.area === area)
    return { code, out, findings, of }
  }

  test('where all is well it ends with 0, and nothing was made', async () => {
    const path = await place('well', {
      connections: { local: { kind: 'openai-compatible', baseUrl: `${at}/v1` } },
      agents: [{ id: 'clerk', model: 'local/any', instructions: 'File things.' }],
    })
    const { code, findings } = await examine(path)
    assert.equal(code, 0)
    assert.deepEqual([...new Set(findings.map(({ state }) => state))], ['good'])
    const areas = ['node', 'configuration', 'access', 'server', 'store', 'disk', 'connection local', 'agents']
    assert.deepEqual(
      findings.map(({ area }) => area),
      areas,
    )
    assert.deepEqual(await readdir(path), ['witan.config.json'])
    const { out } = await witan(['doctor'], { folder: path })
    assert.match(out, /^✓ node {14}\d/)
    assert.match(out, /✓ agents {12}1 agent, 0 errors, 0 warnings\n\n✓ 0 problems, 0 warnings\n$/)
    assert.equal(out.includes('\u001b'), false)
  })

  test('a configuration that is wrong ends with 78 and says where', async () => {
    const { code, of } = await examine(await place('wrong', { severs: {} }))
    assert.equal(code, 78)
    assert.match(of('configuration')[0]?.text ?? '', /UNKNOWN_KEY.*`severs`/)
    assert.match(of('configuration')[0]?.fix ?? '', /`server`/)
    const open = await examine(await place('open', { server: { host: '0.0.0.0', port: 0 }, store: { url: 'memory:' } }))
    assert.deepEqual([open.code, open.of('access')[0]?.state, open.of('store')[0]?.state], [78, 'bad', 'warning'])
  })

  test('a running server is asked; its store and its port are not fought for', async () => {
    const path = await place('served', { store: { url: 'file:./s.db' }, agents: [] })
    const config = await loadConfig({ cwd: path, env: { WITAN_LOG_LEVEL: 'silent' } })
    const server = await startServer(config)
    const served = await examine(path)
    assert.equal(served.code, 0, served.out)
    assert.match(served.of('server')[0]?.text ?? '', /one runs at .* takes work/)
    assert.match(served.of('store')[0]?.text ?? '', /open in the server/)
    assert.match(served.of('work')[0]?.text ?? '', /0 interruptions open/)
    assert.equal(served.out.includes(server.token ?? ''), false)
    const other = await examine(await place('beside', { server: { port: server.port } }))
    assert.equal(other.code, 78)
    assert.match(other.of('server')[0]?.text ?? '', /taken by a server of Witan on another store/)
    const lost = await readFile(join(path, 's.db.server.json'))
    await rm(join(path, 's.db.server.json'))
    const silent = await examine(path)
    await writeFile(join(path, 's.db.server.json'), lost)
    assert.equal(silent.code, 78)
    assert.match(silent.of('store')[0]?.text ?? '', new RegExp(`STORE_LOCKED.* process ${process.pid}`))
    await server.close()
    const closed = await examine(path)
    assert.deepEqual([closed.code, closed.of('server')[0]?.state], [0, 'good'])
    assert.match(closed.of('store')[0]?.text ?? '', /schema \d+$/)
    assert.match(closed.of('work')[0]?.text ?? '', /0 jobs not ended/)
    const left = (await readdir(path)).filter((name) => /-(?:wal|shm)$/.test(name))
    assert.deepEqual(left, [])
  })

  test('a server that wants keys is looked at with the key of WITAN_TOKEN, and said to want one', async () => {
    const path = await place('keyed', {
      auth: { mode: 'keys' },
      agents: [{ id: 'clerk', model: 'local/any', instructions: 'x' }],
      connections: { local: { kind: 'openai-compatible', baseUrl: `${at}/v1` } },
    })
    const made = await witan(['keys', 'create', '--role', 'admin'], { folder: path })
    assert.match(made.out, /^wtn_/)
    const server = await startServer(await loadConfig({ cwd: path, env: { WITAN_LOG_LEVEL: 'silent' } }))
    try {
      const without = await examine(path)
      assert.deepEqual([without.code, without.of('agents')[0]?.state], [0, 'warning'])
      assert.match(without.of('access')[0]?.text ?? '', /mode keys: every caller shows an API key/)
      const withKey = await examine(path, { WITAN_TOKEN: made.out.trim() })
      assert.match(withKey.of('agents')[0]?.text ?? '', /^1 agent/)
      assert.equal(withKey.out.includes('wtn_'), false)
    } finally {
      await server.close()
    }
  })

  test('a port that another program has is named', async () => {
    const { port } = provider.address() as AddressInfo
    const { code, of } = await examine(await place('port', { server: { port } }))
    assert.deepEqual([code, of('server')[0]?.state], [78, 'bad'])
    assert.match(of('server')[0]?.text ?? '', /taken by a program that does not answer as Witan/)
    assert.match(of('server')[0]?.fix ?? '', /WITAN_PORT/)
  })

  test('a store that cannot be opened ends with 78, one that others may read is a warning', async () => {
    const path = await place('stores', { store: { url: 'file:./s.db' } })
    const file = join(path, 's.db')
    await writeFile(file, 'this is text', { mode: 0o600 })
    const text = await examine(path)
    assert.deepEqual([text.code, text.of('store')[0]?.state], [78, 'bad'])
    await rm(file)
    const foreign = new DatabaseSync(file)
    foreign.exec('create table other (a)')
    assert.match((await examine(path)).of('store')[0]?.text ?? '', /not a Witan store/)
    foreign.exec(`pragma application_id = ${0x5749544e}; pragma user_version = 999`)
    foreign.close()
    await chmod(file, 0o644)
    const newer = await examine(path)
    assert.equal(newer.code, 78)
    assert.match(newer.of('store')[0]?.text ?? '', /SCHEMA_TOO_NEW.*999/)
    if (process.platform !== 'win32') assert.deepEqual(newer.of('store')[1]?.fix, `chmod 600 ${file}`)
    assert.deepEqual(newer.of('work'), [])
    const nowhere = await examine(await place('nowhere', { store: { url: 'file:./witan.config.json/s.db' } }))
    assert.match(nowhere.of('store')[0]?.text ?? '', /no folder that this user may write/)
  })

  test('each connection: reachable, its key set and accepted, and no key or password shown', async () => {
    const to = (baseUrl: string, apiKeyEnv?: string) => ({
      kind: 'openai-compatible',
      baseUrl,
      ...(apiKeyEnv && { apiKeyEnv }),
    })
    const connections = {
      fine: to(`${at}/keyed/v1`, 'RIGHT'),
      missing: to(`${at}/v1`, 'UNSET'),
      refused: to(`${at}/keyed/v1`, 'WRONG'),
      broken: to(`${at}/500/v1`),
      lists: to(`${at}/404/v1`),
      nobody: to('http://127.0.0.1:1/v1'),
      unknown: to('http://witan.invalid/v1'),
      secret: to('http://me:cny_password@127.0.0.1:1/v1'),
    }
    const path = await place('connections', { connections, store: { url: 'memory:' } })
    const { code, out, of } = await examine(path, { RIGHT: 'cny_right', WRONG: 'cny_wrong' })
    assert.equal(code, 1)
    const states = Object.keys(connections).map((name) => of(`connection ${name}`)[0]?.state)
    assert.deepEqual(states, ['good', 'bad', 'bad', 'warning', 'good', 'bad', 'bad', 'bad'])
    assert.match(of('connection missing')[0]?.text ?? '', /UNSET is not set/)
    assert.match(of('connection refused')[0]?.text ?? '', /refuses the key in WRONG \(401\)/)
    assert.equal(/cny_/.test(out), false)
  })

  test('each remote: no domain, a card that is none, a variable that is not set, an address out of reach', async () => {
    const card = `${at}/card.json`
    const { host } = new URL(at)
    const agent = (remotes: object[]) => ({ id: 'desk', model: 'local/any', instructions: 'Ask.', remotes })
    const remotes = [
      { name: 'card', card },
      { name: 'keyed', card, bearerEnv: 'CNY_NOT_SET' },
      { name: 'far', address: '@docs@far.test' },
    ]
    const shared = {
      connections: { local: { kind: 'openai-compatible', baseUrl: `${at}/v1` } },
      federation: { resolve: { [host]: at, 'far.test': 'http://127.0.0.1:9' } },
      agents: [agent(remotes)],
    }
    const without = await examine(await place('no-domain', shared))
    assert.deepEqual([without.code, without.of('domain')[0]?.state], [1, 'bad'])
    const path = await place('remotes', { ...shared, server: { port: 0, domain: 'a.test' } })
    const { of } = await examine(path)
    assert.equal(of('domain')[0]?.state, 'good')
    assert.match(of('remote desk/card')[0]?.text ?? '', /REMOTE_CARD_INVALID: .*no interface/)
    assert.match(of('remote desk/keyed')[0]?.text ?? '', /CNY_NOT_SET is not set/)
    assert.match(of('remote desk/far')[0]?.text ?? '', /REMOTE_UNREACHABLE/)
    const published = { ...agent([]), address: 'desk', access: { call: ['@*'] } }
    const own = { ...shared, agents: [published], server: { port: 0, domain: 'a.test' } }
    assert.equal((await examine(await place('no-url', own))).of('domain')[0]?.state, 'warning')
    const whole = { ...own, server: { ...own.server, publicUrl: 'https://a.test' } }
    assert.equal((await examine(await place('with-url', whole))).of('domain')[0]?.state, 'good')
  })

  test('a card that names another server than that of its URL or its address is reported, and one that gets no credential there', async (context) => {
    const named: Record<string, string> = {
      'own.test': 'https://own.test/a2a',
      'other.test': 'https://elsewhere.test/a2a',
      'port.test': 'https://port.test:8443/a2a',
      'below.test': 'https://agents.below.test/a2a',
    }
    const server = createServer(({ url = '', headers: { host = '' } }, response) => {
      const own = `https://${host}`
      const [, local] = /acct:(\w+)@/.exec(decodeURIComponent(url)) ?? []
      const rel = 'https://mentionable.dev/ns/rel/agent-card'
      const jrd = { subject: `acct:${local}@${host}`, links: [{ rel, href: `${own}/mentionable` }] }
      const card = {
        ...{ name: 'x', address: `@docs@${host}`, a2a: { endpoint: `${own}/a2a/docs` }, capabilities: {} },
        supportedInterfaces: [{ url: named[host], protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      }
      response.end(JSON.stringify(local === undefined ? card : jrd))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    context.after(() => server.close())
    const to = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const hosts = Object.keys(named)
    const cards = hosts.flatMap((host) => {
      const [name] = host.split('.')
      const card = `https://${host}/card.json`
      return [
        { name: `${name}-card`, card },
        { name: `${name}-keyed`, card, bearerEnv: 'TOKEN' },
        { name: `${name}-address`, address: `@docs@${host}` },
      ]
    })
    const desk = { id: 'desk', model: 'local/any', instructions: 'Ask.', remotes: cards }
    const path = await place('origins', {
      connections: { local: { kind: 'openai-compatible', baseUrl: `${at}/v1` } },
      federation: { resolve: Object.fromEntries(hosts.map((host) => [host, to])) },
      agents: [desk],
      server: { port: 0, domain: 'a.test' },
    })
    const { of, out } = await examine(path, { TOKEN: 'cny_token' })
    const states = Object.fromEntries(cards.map(({ name }) => [name, of(`remote desk/${name}`)[0]?.state]))
    assert.deepEqual(states, {
      ...{ 'own-card': 'good', 'own-keyed': 'good', 'own-address': 'good' },
      ...{ 'other-card': 'warning', 'other-keyed': 'bad', 'other-address': 'warning' },
      ...{ 'port-card': 'good', 'port-keyed': 'bad', 'port-address': 'good' },
      ...{ 'below-card': 'good', 'below-keyed': 'bad', 'below-address': 'good' },
    })
    assert.match(of('remote desk/other-card')[0]?.text ?? '', /https:\/\/elsewhere\.test\/a2a.*not on other\.test/)
    assert.match(of('remote desk/other-keyed')[0]?.text ?? '', /`bearerEnv` is sent to https:\/\/other\.test alone/)
    assert.equal(out.includes('cny_'), false)
  })

  test('each source: a file that is not there, a variable that is not set, a database out of reach', async () => {
    new DatabaseSync(join(folder, 'shop.db')).close()
    const sources = {
      shop: { kind: 'sqlite', file: '../shop.db' },
      gone: { kind: 'sqlite', file: './gone.db' },
      crm: { kind: 'postgres', urlEnv: 'CRM_URL' },
    }
    const path = await place('sources', { sources, store: { url: 'memory:' } })
    const unset = await examine(path)
    assert.equal(unset.code, 78)
    assert.deepEqual([unset.of('source shop')[0]?.state, unset.of('source gone')[0]?.state], ['good', 'bad'])
    assert.match(unset.of('source crm')[0]?.text ?? '', /CRM_URL/)
    assert.match(unset.of('agents')[0]?.text ?? '', /^Not checked/)
    const away = await examine(path, { CRM_URL: 'postgres://cny_me:cny_pw@127.0.0.1:1/crm' })
    assert.equal(away.code, 1)
    assert.match(away.of('source crm')[0]?.text ?? '', /cannot be reached: the connection was refused/)
    assert.equal(/cny_/.test(away.out), false)
  })

  test('the role of a source on PostgreSQL is looked at: what it may write is a warning', async (context) => {
    const database = await createTestDatabase('create table orders (id integer)')
    context.after(() => database.drop())
    const path = await place('role', {
      sources: { crm: { kind: 'postgres', urlEnv: 'CRM' } },
      store: { url: 'memory:' },
    })
    const say = async (url: string) => (await examine(path, { CRM: url })).of('source crm')[0]
    const [reader, admin] = [await say(database.readerUrl), await say(database.adminUrl)]
    assert.match(reader?.text ?? '', /^PostgreSQL \d+.*, role \w+_reader, which can write no table$/)
    assert.deepEqual([admin?.state, /is a superuser/.test(admin?.text ?? '')], ['warning', true])
    await database.execute(`grant update on orders to ${database.reader}`)
    const could = await say(database.readerUrl)
    assert.deepEqual([could?.state, /could write 1 table;/.test(could?.text ?? '')], ['warning', true])
  })

  test('a store on PostgreSQL is asked how far it is, and nothing is made there', async (context) => {
    const database = await createTestDatabase('select 1')
    context.after(() => database.drop())
    const path = await place('remote', { store: { url: database.adminUrl } })
    const fresh = await examine(path)
    assert.deepEqual([fresh.code, fresh.of('store')[0]?.state], [0, 'good'])
    assert.match(fresh.of('store')[0]?.text ?? '', /answers; schema witan is made at the first start$/)
    assert.deepEqual(await database.execute(`select from pg_namespace where nspname = 'witan'`), [])
    await database.execute(
      'create schema witan; create table witan.schema_version as select 7 as version, 1 as works_from',
    )
    assert.match((await examine(path)).of('store')[0]?.text ?? '', /schema witan, version 7$/)
    for (const url of ['postgres://me:cny_b@127.0.0.1:1/x', 'postgres://cny_a:cny_b@[x'])
      await assertWrongStore(path, url)
  })

  test('a store on PostgreSQL is looked at in the way that a server takes to it: standbys, connections', async (context) => {
    const { primary, standby } = await startPair(context)
    const at = (...hosts: { readonly port: number }[]) =>
      `postgres://postgres@${hosts.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postgres`
    const path = await place('pair', { store: { url: at(primary) } })
    const look = async (url: string) => examine(path, { WITAN_STORE_URL: url })
    const lone = await look(at(standby))
    assert.deepEqual([lone.code, lone.of('store')[0]?.state], [78, 'bad'])
    assert.match(lone.of('store')[0]?.text ?? '', /is a standby/)
    const both = await look(at(standby, primary))
    assert.deepEqual([both.code, both.of('store')[0]?.state, both.of('standby')[0]?.state], [0, 'good', 'good'])
    await asAdmin(primary.url, (admin) => admin.query('create role few login createrole connection limit 4'))
    await asAdmin(primary.url, (admin) => admin.query('grant create on database postgres to few'))
    const few = (await look(at(primary).replace('postgres@', 'few@'))).of('connections of the store')[0]
    assert.equal(few?.state, 'warning')
    assert.match(few?.text ?? '', /4 more connections; each process takes up to 11/)
    await standby.stop('fast')
    const alone = await look(at(standby, primary))
    assert.deepEqual([alone.code, alone.of('store')[0]?.state, alone.of('standby')[0]?.state], [1, 'good', 'bad'])
  })

  async function assertWrongStore(path: string, url: string): Promise<void> {
    const { code, out, of } = await examine(path, { WITAN_STORE_URL: url })
    assert.deepEqual([code, of('store')[0]?.state, out.includes('cny_')], [78, 'bad', false])
  }

  test('agents with mistakes, stored ones too, are counted and the first is told', async () => {
    const path = await place('agents', { store: { url: 'file:./s.db' } })
    const config = await loadConfig({ cwd: path, env: { WITAN_LOG_LEVEL: 'silent' } })
    const local = { kind: 'openai-compatible', baseUrl: `${at}/v1` } as const
    const server = await startServer({ ...config, connections: { local } })
    const saved = await fetch(`${server.url}/api/v1/agents/clerk`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'clerk', model: 'local/any', instructions: 'File things.' }),
    })
    assert.equal(saved.status, 201)
    await server.close()
    const { code, of } = await examine(path) // without the connection the stored agent has no model
    assert.equal(code, 1)
    assert.match(of('agents')[0]?.text ?? '', /^1 agent, 1 error, 0 warnings; the first: clerk .*MODEL_UNKNOWN/)
    assert.match(of('agents')[0]?.fix ?? '', /^witan check lists it/)
  })
})
