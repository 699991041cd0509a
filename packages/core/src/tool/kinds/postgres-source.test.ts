/** Queries on PostgreSQL: the conformance of sources, values and types, functions, rights. */
import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import {
  ask,
  assertUnchanged,
  rowsOf as rows,
  type SourceHarness,
  testSource,
} from '../../testing/conformance/source.ts'
import { createTestDatabase, type TestDatabase } from '../../../../../test/postgres/support/database.ts'
import type { QuerySource } from '../source.ts'
import { createPostgresSource, type PostgresSourceOptions } from './postgres-source.ts'
import { holds } from '../../../../../test/support/seeds.ts'

const SCHEMA = `create table users (id integer primary key, name text);
  insert into users values (1, 'Ada'), (2, 'Bo'), (3, 'Cy');
  create table private (id integer); create sequence counter;
  create type mood as enum ('sad', 'glad');
  create function grow() returns bigint language sql volatile as $$ insert into users values (9, 'x') returning id $$;
  create function label(users) returns text language sql volatile as $$ select upper($1.name) $$;
  create extension if not exists dblink`

describe('a PostgreSQL source', () => {
  let database: TestDatabase
  before(async () => {
    database = await createTestDatabase(SCHEMA)
    await database.execute(`grant select on users to ${database.reader}`)
  })
  after(() => database?.drop())

  function open(context: TestContext, options: Partial<PostgresSourceOptions> = {}): QuerySource {
    const source = createPostgresSource({ url: database.adminUrl, ...options })
    context.after(() => source.close())
    return source
  }

  const harness: SourceHarness = {
    name: 'PostgreSQL',
    open: async (context, limits) => open(context, limits),
    unreachable: async (context) => open(context, { url: 'postgres://secret:secret@127.0.0.1:1/secret' }),
    idInList: 'id = any($ids)',
    listBack: 'to_jsonb($list::text[])',
    writes: [
      'select id from users for update',
      'select id from users for key share',
      `copy users to program 'touch /tmp/x'`,
      'copy users from stdin',
      'do $$ begin delete from users; end $$',
      'call grow()',
      'truncate users',
      'merge into users using users u on false when matched then delete',
      'set default_transaction_read_only = off',
      'set transaction read write',
      'commit',
      'rollback; delete from users',
      'listen x',
      `notify x`,
      'lock table users',
      'vacuum',
      'explain analyze delete from users',
      'prepare p as delete from users',
      'table users',
      `select nextval('counter')`,
      `select setval('counter', 9)`,
      `select set_config('default_transaction_read_only', 'off', false)`,
      `select set_config('transaction_read_only', 'off', true)`,
      `select pg_read_file('/etc/passwd')`,
      `select ('/etc/passwd'::text).pg_read_file`,
      `select pg_catalog . "pg_read_file" /* ( */ ('/etc/passwd')`,
      `select PG_READ_BINARY_FILE('/etc/passwd')`,
      `select * from pg_ls_dir('/')`,
      `select lo_import('/etc/passwd')`,
      `select lo_export(1, '/tmp/x')`,
      `select lo_from_bytea(0, 'x')`,
      `select * from dblink('dbname=x', 'delete from users') as t(a int)`,
      `select dblink_exec('dbname=x', 'delete from users')`,
      'select pg_terminate_backend(1)',
      'select pg_cancel_backend(1)',
      'select pg_reload_conf()',
      'select pg_advisory_lock(1)',
      'select pg_try_advisory_lock_shared(1, 2)',
      `select pg_notify('a', 'b')`,
      `select query_to_xml('delete from users', true, true, '')`,
      `select * from ts_stat('select 1')`,
      'select pg_switch_wal()',
      `select pg_logical_emit_message(false, 'a', 'b')`,
      'select pg_stat_reset()',
      'select pg_sleep(60)',
      'select pg_current_logfile()',
      'select id from users where id = (select setval($$counter$$, 9))',
    ],
  }
  testSource(harness)

  test('values come back as JSON can carry them, and nothing is rounded in silence', async (context) => {
    const [row] = await rows(
      open(context),
      `select true b, 7::int2 i2, 9007199254740991 i8, 9007199254740993 big, 12.50 n, 0.1 + 0.2 sum, -0.00 zero,
        123456789012345678.5 long, 'NaN'::numeric nan, 'NaN'::float8 fnan, '-infinity'::float4 finf, 0.1::float8 f,
        '\\x00ff'::bytea bytes, null nothing, 'glad'::mood mood, '1 day 2 hours'::interval span, 'x'::char(3) padded,
        '{"a": [1, 9007199254740993, 1e400, 0.5], "__proto__": null}'::jsonb j, '[1]'::json k, 'null'::json jnull`,
    )
    const j = JSON.parse('{"a":[1,"9007199254740993",0,0.5],"__proto__":null}')
    const { j: json, ...others } = row as { j: typeof j }
    assert.match(json.a[2], /^10{400}$/)
    assert.deepEqual({ ...json, a: [...json.a.slice(0, 2), 0, json.a[3]] }, { ...j })
    assert.deepEqual(others, {
      ...{ b: true, i2: 7, i8: 9007199254740991, big: '9007199254740993', n: 12.5, sum: 0.3, zero: 0 },
      ...{ long: '123456789012345678.5', nan: 'NaN', fnan: 'NaN', finf: '-Infinity', f: 0.1, bytes: 'AP8=' },
      ...{ nothing: null, mood: 'glad', span: '1 day 02:00:00', padded: 'x  ', k: [1], jnull: null },
    })
  })

  test('times are ISO 8601 in the zone of the connection, to the microsecond', async (context) => {
    const url = `${database.adminUrl}?options=-c%20TimeZone%3DAsia/Kolkata%20-c%20DateStyle%3DGerman`
    const [row] = await rows(
      open(context, { url }),
      `select timestamptz '2026-01-02 03:04:05.123456+00' a, timestamp '2026-01-02 03:04:05' b, date '2026-01-02' c,
        time '03:04' d, 'infinity'::timestamptz e, timestamp '0044-03-15 12:00 BC' f, timestamptz '1900-01-01 00:00+00' g`,
    )
    assert.deepEqual(row, {
      ...{ a: '2026-01-02T08:34:05.123456+05:30', b: '2026-01-02T03:04:05', c: '2026-01-02', d: '03:04:00' },
      ...{ e: 'infinity', f: '0044-03-15 12:00:00 BC', g: '1900-01-01 05:21:10+05:21:10' },
    })
  })

  test('lists come back as lists, of any type and any depth', async (context) => {
    const [row] = await rows(
      open(context),
      `select array[1, null, 3] a, array[['a"b', 'NULL'], ['', '{,}']] b, '{}'::int[] c, '[0:1]={1,2}'::int[] d,
        array['sad', null]::mood[] e, array['{"x": 1}'::jsonb, 'null'] f, array[1.5, 12345678901234567890] g,
        array[true] h, array['\\x00'::bytea] i, '1 2'::int2vector j, array[box '((1,1),(0,0))', box '((2,2),(0,0))'] k,
        array[timestamp '2026-01-02 03:04:05'] l, array['NaN'::float8] m`,
    )
    assert.deepEqual(row, {
      ...{ a: [1, null, 3], c: [], d: [1, 2], e: ['sad', null], f: [{ x: 1 }, null], h: [true], i: ['AA=='] },
      b: [
        ['a"b', 'NULL'],
        ['', '{,}'],
      ],
      ...{ g: [1.5, '12345678901234567890'], j: '1 2', k: ['(1,1),(0,0)', '(2,2),(0,0)'] },
      ...{ l: ['2026-01-02T03:04:05'], m: ['NaN'] },
    })
  })

  test('a value takes the type of its place, and is refused where it has no form there [D16]', async (context) => {
    const source = open(context)
    const typed = 'select pg_typeof($n::numeric) || $t as t, $b::bool b, $d::date d, $j::jsonb j, $n::numeric + 1 m'
    assert.deepEqual(await rows(source, typed, { n: 1.5, t: 7, b: false, d: '2026-01-02', j: [1, null, 'a'] }), [
      { t: 'numeric7', b: false, d: '2026-01-02', j: [1, null, 'a'], m: 2.5 },
    ])
    const nothing = 'select $l::int[] l, $j::json j, $t::text t'
    assert.deepEqual(await rows(source, nothing, { l: null, j: null, t: null }), [{ l: null, j: null, t: null }])
    assert.deepEqual(await rows(source, nothing, { l: [], j: [], t: '' }), [{ l: [], j: [], t: '' }])
    assert.deepEqual(await rows(source, nothing, { l: [1, null], j: '{"a":1}', t: 'NULL' }), [
      { l: [1, null], j: { a: 1 }, t: 'NULL' },
    ])
    const refused: [string, Record<string, never> | object, RegExp][] = [
      ['select id from users where id = $id', { id: [1] }, /^`\$id` is a list.* `= any\(\$id\)`/],
      ['select id from users where id = any($id)', { id: '{1}' }, /^`\$id` is one value/],
      ['select $t as t', { t: 'a\0b' }, /^`\$t` must be .* without NUL/],
      ['select id from users where id = $id', { id: 'cny_secret' }, /^A value does not fit .*22P02/],
      ['select id from users where id = $id', { id: 0.5 }, /^A value does not fit/],
      ['select id from users where id = $id', { id: 1e10 }, /^A value does not fit .*22003/],
    ]
    for (const [sql, values, detail] of refused) {
      const result = await ask(source, sql, values as Record<string, string>)
      assert.ok(!result.ok && result.reason === 'unfit', sql)
      assert.match(result.detail, detail)
      assert.doesNotMatch(result.detail, /cny_/)
    }
  })

  test('operators and casts beside placeholders keep their meaning', async (context) => {
    const sql = `select $a::int+$b as sum, '{"k":1}'::jsonb ? $k as has, $$it's $a$$ || $k as quoted, 5 % $b::int as rest,
      E'\\'$ ' as escaped, "users"."name" as name, (array[$a::int])[1] as item -- $none
      from users where '{"k":1}'::jsonb @> $j::jsonb and id in ($a, $b) order by id`
    const source = open(context)
    const { problem } = { problem: '', ...(await source.check(sql)) }
    assert.equal(problem, 'not-read-only') // a placeholder inside quotes is never taken for one
    const mended = sql.replace(`it's $a`, `it's `)
    assert.deepEqual(await source.check(mended), { ok: true, placeholders: ['a', 'b', 'k', 'j'] })
    const one = { sum: 3, has: true, quoted: `it's k`, rest: 1, escaped: `'$ `, item: 1 }
    assert.deepEqual(await rows(source, mended, { a: 1, b: 2, k: 'k', j: '{"k":1}' }), [
      { ...one, name: 'Ada' },
      { ...one, name: 'Bo' },
    ])
  })

  test('functions that only read run, and so do those that the owner wrote, as far as they read', async (context) => {
    const source = open(context)
    const sql = `select count(*)::int n, max(random()) < 2 r, length(gen_random_uuid()::text) u, max(u.label) l
      from users u tablesample system (100)`
    assert.deepEqual(await rows(source, sql), [{ n: 3, r: true, u: 36, l: 'CY' }])
    const grown = await ask(source, 'select grow()')
    assert.ok(!grown.ok && grown.reason === 'not-read-only' && /only read/.test(grown.detail), JSON.stringify(grown))
  })

  test('a role that may read one table reads that one; a check tells what it may not', async (context) => {
    const source = open(context, { url: database.readerUrl })
    assert.deepEqual(await rows(source, 'select name from users where id = 1'), [{ name: 'Ada' }])
    const check = await source.check('select id from private')
    assert.ok(!check.ok && check.problem === 'invalid' && /permission denied/.test(check.detail))
    const result = await ask(source, 'select id from private')
    assert.ok(!result.ok && result.reason === 'failed')
  })

  test('of rows too large for the limits no more than fits is read', async (context) => {
    const source = open(context)
    const cut = await ask(source, `select repeat('x', 40000000) a`)
    assert.deepEqual(cut, { ok: true, rows: [], truncated: true })
    const wide = await ask(source, `select repeat('x', 100000) a from generate_series(1, 1000000)`)
    assert.deepEqual(wide.ok && [wide.rows.length, wide.truncated], [2, true])
  })

  test('property: any text and any list of texts come back as they were', async (context) => {
    const source = open(context)
    const text = fc.string({ unit: 'grapheme' }).filter((value) => value.isWellFormed() && !value.includes('\0'))
    const property = fc.asyncProperty(text, fc.array(text), (value, list) =>
      assertUnchanged(source, { listBack: harness.listBack, text: value, list }),
    )
    await holds(context, property, 100)
  })
})
