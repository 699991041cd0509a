import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import {
  ask,
  assertUnchanged,
  rowsOf as rows,
  type SourceHarness,
  testSource,
} from '../../testing/conformance/source.ts'
import type { QuerySource } from '../source.ts'
import { createSqliteSource, type SqliteSourceOptions } from './sqlite-source.ts'
import { holds } from '../../../../../test/support/seeds.ts'

function folder(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'witan-sqlite-'))
  context.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

function writeDatabase(file: string, sql: string): string {
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
  return file
}

function users(context: TestContext): string {
  const sql = `create table users (id integer primary key, name text);
    insert into users values (1, 'Ada'), (2, 'Bo'), (3, 'Cy');
    create virtual table notes using fts5 (body); insert into notes values ('hello world')`
  return writeDatabase(join(folder(context), 'users.db'), sql)
}

function open(context: TestContext, options: SqliteSourceOptions): QuerySource {
  const source = createSqliteSource(options)
  context.after(() => source.close())
  return source
}

const harness: SourceHarness = {
  name: 'SQLite',
  open: async (context, limits) => open(context, { file: users(context), ...limits }),
  unreachable: async (context) => open(context, { file: join(folder(context), 'secret', 'no.db') }),
  idInList: 'id in (select value from json_each($ids))',
  listBack: '(select json_group_array(value) from json_each($list))',
  writes: [
    'pragma user_version = 3',
    'select * from pragma_user_version',
    `attach 'other.db' as other`,
    `vacuum into 'copy.db'`,
    'create temp table t (a)',
    `select load_extension('x')`,
    `select LOAD_EXTENSION('x')`,
    `select fts3_tokenizer('simple')`,
  ],
}

testSource(harness)

test('a full-text table is read like any other', async (context) => {
  const source = open(context, { file: users(context) })
  const found = await rows(source, `select body from notes where notes match $q`, { q: 'hello' })
  assert.deepEqual(found, [{ body: 'hello world' }])
})

test('values come back as JSON can carry them, and integers stay integers', async (context) => {
  const source = open(context, { file: users(context) })
  const sql = `select $t t, $n n, typeof($i) i, typeof($r) r, 7 / $i q, 9007199254740993 big, 9e999 inf, x'00ff' b`
  assert.deepEqual(await rows(source, sql, { t: true, n: null, i: 2, r: 0.5 }), [
    { t: 1, n: null, i: 'integer', r: 'real', q: 3, big: '9007199254740993', inf: 'Infinity', b: 'AP8=' },
  ])
})

test('a number beyond 2^53 is bound with the digits that JSON has, and finds the row with these', async (context) => {
  const source = open(context, { file: users(context) })
  const numbers = '2512292042121000000, -9007199254740994, 9223372036854775000, -9223372036854775000'
  for (const written of numbers.split(', ')) {
    const sql = `select cast($id as text) id, $id = ${written} same, $digits = cast(${written} as integer) text`
    const found = await rows(source, sql, { id: Number(written), digits: written })
    assert.deepEqual(found, [{ id: written, same: 1, text: 1 }])
  }
  const large = await rows(source, 'select typeof($a) a, typeof($b) b', { a: 2 ** 63, b: -1e300 })
  assert.deepEqual(large, [{ a: 'real', b: 'real' }])
})

test('a query leaves nothing beside the file, and the functions of the shell are not there [D16]', async (context) => {
  const file = users(context)
  const source = open(context, { file })
  for (const sql of [...harness.writes, 'create table t (a)', 'delete from users']) await ask(source, sql)
  for (const sql of [`select writefile('x', 'y')`, `select readfile('x')`, `select edit('x')`]) {
    const check = await source.check(sql)
    assert.equal(check.ok || check.problem, 'invalid', sql)
  }
  assert.deepEqual(readdirSync(join(file, '..')), ['users.db'])
})

test('a check says it in SQLite’s own words', async (context) => {
  const source = open(context, { file: users(context) })
  const at = async (sql: string) => {
    const check = await source.check(sql)
    return 'line' in check && [check.problem, check.detail, check.line, check.column]
  }
  assert.deepEqual(await at('select\n nope from users'), ['invalid', 'no such column: nope', 2, 2])
  assert.deepEqual(await at('select 1 frm users x'), ['invalid', 'near "users": syntax error', 1, 14])
  assert.deepEqual(await at('select 1 from "users'), ['invalid', 'What `"u` opens at 1:15 is never closed.', 1, 15])
  const load = 'The function `load_extension` is not allowed in a query.'
  assert.deepEqual(await at('select 1, load_extension(1)'), ['not-read-only', load, 1, 11])
})

test('a missing, foreign or replaced file is a clear failure, and a mended one is read again', async (context) => {
  const path = folder(context)
  const file = join(path, 'data.db')
  const source = open(context, { file })
  const failed = (reason: string) => ({
    ok: false,
    reason: 'failed',
    detail: `The database file \`data.db\` cannot be read: ${reason}.`,
  })
  assert.deepEqual(await ask(source, 'select 1'), failed('it does not exist'))
  assert.deepEqual(await source.check('select 1'), {
    ok: false,
    problem: 'unavailable',
    detail: failed('it does not exist').detail,
    placeholders: [],
  })
  writeFileSync(file, 'this is text, and not a database')
  assert.deepEqual(await ask(source, 'select a from t'), failed('file is not a database'))
  for (const a of [1, 2]) {
    renameSync(writeDatabase(join(path, 'next.db'), `create table t as select ${a} as a`), file)
    assert.deepEqual(await rows(source, 'select a from t'), [{ a }])
  }
  rmSync(file)
  assert.deepEqual(await ask(source, 'select a from t'), failed('it does not exist'))
})

test('any path of a file is a path and nothing more', async (context) => {
  const name = join(folder(context), 'file:üñ %20?mode=rwc#x $a \'".db')
  const source = open(context, { file: writeDatabase(name, 'create table t as select 1 as a') })
  assert.deepEqual(await rows(source, 'select a from t'), [{ a: 1 }])
})

test('property: any text and any list of texts come back as they were, NUL too', async (context) => {
  const source = open(context, { file: users(context) })
  const text = fc.string({ unit: 'grapheme' }).filter((value) => value.isWellFormed())
  const property = fc.asyncProperty(text, fc.array(text), (value, list) =>
    assertUnchanged(source, { listBack: harness.listBack, text: value, list }),
  )
  await holds(context, property, { all: 200, examples: [['\0', ['\0']]] })
})
