/** What holds whatever the text of a query is, and how connections end. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { after, before, describe, type TestContext, test } from 'node:test'
import { ask, rowsOf as rows } from '../../testing/conformance/source.ts'
import { createTestDatabase, type TestDatabase } from '../../../../../test/postgres/support/database.ts'
import { startServer } from '../../../../../test/postgres/support/server.ts'
import type { QuerySource } from '../source.ts'
import { createPostgresSource, type PostgresSourceOptions } from './postgres-source.ts'
import { unreached } from './postgres-source-error.ts'
import { DECLARE } from './postgres-source-read.ts'
import { beginSession, cut, releaseSession, openPool, send } from './postgres-source-session.ts'

const SCHEMA = `create table users (id integer primary key, name text); insert into users values (1, 'Ada');
  create sequence counter;
  create function grow() returns bigint language sql volatile as $$ insert into users values (9, 'x') returning id $$;
  create function free() returns text language plpgsql volatile as $$ begin
    perform set_config('default_transaction_read_only', 'off', false); set transaction read write;
    insert into users values (9, 'x'); return ''; end $$`
const RUNAWAY = 'select count(*) from generate_series(1, 100000000000) as runaway'

describe('connections of a PostgreSQL source', () => {
  let database: TestDatabase
  before(async () => {
    database = await createTestDatabase(SCHEMA)
  })
  after(() => database?.drop())

  function open(context: TestContext, options: Partial<PostgresSourceOptions> = {}): QuerySource {
    const source = createPostgresSource({ url: database.adminUrl, ...options })
    context.after(() => source.close())
    return source
  }

  /** Connections of the database other than the test's own. */
  async function connections(): Promise<{ state: string; query: string }[]> {
    const found = await database.execute(`select state, query from pg_stat_activity
      where datname = current_database() and application_name = 'witan' and pid <> pg_backend_pid()`)
    return found as { state: string; query: string }[]
  }

  /** Until a query is under way: before it fetches, its connection is only being opened. */
  function untilFetching(): Promise<void> {
    return until(async () =>
      (await connections()).some(({ state, query }) => state === 'active' && query.startsWith('fetch')),
    )
  }

  /** Looks again and again; the limit is far above the delays of a machine that is busy. */
  async function until(holds: () => Promise<boolean>): Promise<void> {
    const end = performance.now() + 40_000
    while (!(await holds())) assert.ok(performance.now() < end, 'it never came to hold')
  }

  const settings = () => ({
    ...{ url: database.adminUrl, timeoutMs: 5_000, maxRows: 200, maxBytes: 256_000, connectTimeoutMs: 5_000 },
  })

  test('the transaction alone lets nothing be written, as a superuser too [D16]', async (context) => {
    const pool = await openPool(settings())
    context.after(() => pool.end())
    const attacks = [
      'delete from users',
      'with a as (delete from users returning *) select * from a',
      'select * into copied from users',
      'select id from users for update',
      `select nextval('counter')`,
      `select setval('counter', 99)`,
      'select grow()',
      'select free()',
      `select set_config('transaction_read_only', 'off', false), grow()`,
      `select set_config('default_transaction_read_only', 'off', false), set_config('role', 'pg_monitor', false)`,
      `select set_config('statement_timeout', '0', false), set_config('search_path', 'x', false)`,
      `select lo_create(4711), lo_from_bytea(4712, 'x')`,
      `select pg_notify('a', 'b')`,
      `select query_to_xml('delete from users', true, true, '')`,
      'select 1; delete from users',
      'select 1) select 2',
      'commit',
    ]
    const state = async () => {
      const [found] = await database.execute(`select (select string_agg(name, ',') from users) users,
        (select last_value || ' ' || is_called from counter) counter, (select count(*)::int from pg_largeobject_metadata) objects,
        to_regclass('copied')::text copied`)
      return found
    }
    const expected = await state()
    let passed = 0
    for (const sql of attacks) {
      const session = await beginSession(pool, settings())
      try {
        await send(session, DECLARE + sql)
        await send(session, 'fetch 10 from witan_rows')
        passed += 1
      } catch {}
      await releaseSession(session)
      assert.deepEqual(await state(), expected, sql)
      const next = await beginSession(pool, settings())
      const kept = `select current_setting('default_transaction_read_only') || ' ' || current_setting('statement_timeout')
        || ' ' || current_setting('search_path') || ' ' || current_setting('role')`
      assert.deepEqual((await send(next, kept)).rows, [['on 5s "$user", public none']], sql)
      await releaseSession(next)
    }
    assert.ok(passed >= 3, 'settings and notifications pass, and the rollback takes them back')
    assert.equal(pool.totalCount, 1)
  })

  test('a row too large for memory never gets there: the connection is cut', async (context) => {
    const pool = await openPool(settings())
    context.after(() => pool.end())
    const session = await beginSession(pool, settings())
    await assert.rejects(send(session, `select repeat('x', 40000000)`))
    assert.ok(session.isFlooded && session.received < 20_000_000)
    await releaseSession(session)
    assert.equal(pool.totalCount, 0)
  })

  test('a second statement is refused by the protocol', async (context) => {
    const pool = await openPool(settings())
    context.after(() => pool.end())
    const session = await beginSession(pool, settings())
    await assert.rejects(send(session, 'select 1; select 2'), (error: Error) =>
      /cannot insert multiple commands/.test(String(error.cause)),
    )
    await releaseSession(session)
  })

  test('nothing is opened before the first query, four at most, and nothing stays behind on them', async (context) => {
    const source = open(context)
    await until(async () => (await connections()).length === 0) // those of the test before are on their way out
    await source.check('delete from users')
    assert.deepEqual(await connections(), [])
    await Promise.all(Array.from({ length: 20 }, () => rows(source, 'select id from users where id = $id', { id: 1 })))
    const open4 = await connections()
    assert.equal(open4.length, 4)
    await until(async () => (await connections()).every(({ state }) => state === 'idle'))
    assert.deepEqual(await rows(source, 'select count(*)::int n from pg_prepared_statements'), [{ n: 0 }])
    await source.close()
    await until(async () => (await connections()).length === 0)
  })

  test('a query that is aborted stops in the server too, and its connection is gone', async (context) => {
    const source = open(context)
    const abort = new AbortController()
    const running = source.run({ sql: RUNAWAY, bindings: new Map() }, { signal: abort.signal })
    await untilFetching()
    abort.abort()
    assert.deepEqual(await running, { ok: false, reason: 'aborted', detail: 'The query was stopped.' })
    await until(async () => (await connections()).length === 0)
  })

  test('a connection that is cut in a query ends it in the server', async (context) => {
    const pool = await openPool(settings())
    context.after(() => pool.end())
    const session = await beginSession(pool, settings())
    const running = send(session, RUNAWAY).catch((error: Error) => error)
    await until(async () => (await connections()).some(({ state }) => state === 'active'))
    await cut(session)
    assert.ok((await running) instanceof Error)
    await until(async () => (await connections()).length === 0)
  })

  test('connections that the server has closed are replaced without a query failing', async (context) => {
    const source = open(context)
    for (let round = 0; round < 3; round += 1) {
      await Promise.all([1, 2, 3, 4].map(() => rows(source, 'select id from users')))
      await database.execute(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`)
      const again = await Promise.all([1, 2, 3, 4].map(() => rows(source, 'select id from users')))
      assert.deepEqual(again, Array(4).fill([{ id: 1 }]))
    }
  })

  test('a source goes on after its server was restarted', async (context) => {
    const server = await startServer()
    context.after(() => server.stop('immediate'))
    const source = open(context, { url: server.url })
    assert.deepEqual(await rows(source, 'select 1 as a'), [{ a: 1 }])
    for (const how of ['immediate', 'fast'] as const) {
      await server.stop(how)
      const down = await ask(source, 'select 1 as a')
      assert.ok(!down.ok && down.reason === 'failed' && /^The database cannot be reached/.test(down.detail))
      await server.start()
      assert.deepEqual(await rows(source, 'select 1 as a'), [{ a: 1 }])
    }
  })

  test('a query whose connection is lost fails, and the next one runs', async (context) => {
    const source = open(context)
    const running = ask(source, RUNAWAY)
    await untilFetching()
    await database.execute(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`)
    const detail = 'The database cannot be reached: it is shutting down.'
    assert.deepEqual(await running, { ok: false, reason: 'failed', detail })
    assert.deepEqual(await rows(source, 'select id from users'), [{ id: 1 }])
  })

  test('a server that says nothing is given up in time, when it is asked first and in the middle', async (context) => {
    let isSilent = true
    const sockets = new Set<Socket>()
    const real = new URL(database.adminUrl)
    const proxy = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined))
      if (isSilent) return
      const behind = connect(Number(real.port), real.hostname).on('error', () => undefined)
      socket.on('data', (bytes) => isSilent || behind.write(bytes))
      behind.on('data', (bytes) => isSilent || socket.write(bytes))
      socket.on('close', () => behind.destroy())
    })
    await once(proxy.listen(0, '127.0.0.1'), 'listening')
    context.after(() => {
      for (const socket of sockets) socket.destroy()
      proxy.close()
    })
    const url = new URL(database.adminUrl)
    url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const source = open(context, { url: url.href, connectTimeoutMs: 1_500, timeoutMs: 1_500 })
    const unreached = 'The database cannot be reached: no connection in time.'
    assert.deepEqual(await ask(source, 'select 1 a'), { ok: false, reason: 'failed', detail: unreached })
    isSilent = false
    assert.deepEqual(await rows(source, 'select 1 a'), [{ a: 1 }])
    isSilent = true
    const late = await ask(source, 'select 1 a')
    assert.ok(!late.ok && late.reason === 'failed', JSON.stringify(late))
    isSilent = false
    assert.deepEqual(await rows(source, 'select 1 a'), [{ a: 1 }])
  })

  test('what is wrong with a connection is said without its address, user or password', async (context) => {
    const change = (part: Partial<Record<'password' | 'username' | 'pathname' | 'host', string>>) =>
      Object.assign(new URL(database.adminUrl), part).href
    const wrong = [
      [change({ username: 'cny_nobody' }), 'the user (?:or the password )?was refused'],
      [change({ pathname: '/cny_nowhere' }), 'there is no such database'],
      [change({ host: '127.0.0.1:1' }), 'the connection was refused'],
      [change({ host: 'cny.invalid:5432' }), 'its host name is not known|its host name cannot be looked up'],
      [`${database.adminUrl}?sslmode=verify-full`, 'no trusted encrypted connection could be established'],
    ] as const
    for (const [url, reason] of wrong) {
      const result = await ask(open(context, { url }), 'select 1')
      assert.ok(!result.ok && result.reason === 'failed')
      assert.match(result.detail, new RegExp(`^The database cannot be reached: (?:${reason})\\.$`))
    }
    const refused = unreached({ code: '28P01', message: 'password authentication failed for user "cny_a"' })
    assert.equal(refused.detail, 'The database cannot be reached: the user or the password was refused.')
    for (const url of ['', 'cny_secret', 'mysql://cny_secret@x/y', 'postgres://cny_secret:x@[y'])
      assert.throws(
        () => createPostgresSource({ url }),
        (error: Error) => /postgres:\/\//.test(error.message) && !error.message.includes('cny_'),
      )
  })
})
