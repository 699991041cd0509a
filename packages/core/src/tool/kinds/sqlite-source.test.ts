import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { QueryResult, QuerySource, QueryValue } from '../source.ts'
import { createSqliteSource, type SqliteSourceOptions } from './sqlite-source.ts'

const RUNAWAY = 'with recursive c(n) as (select 1 union all select n + 1 from c) select count(*) from c'

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

function ask(source: QuerySource, sql: string, values: Record<string, QueryValue> = {}): Promise<QueryResult> {
  const { signal } = new AbortController()
  return source.run({ sql, bindings: new Map(Object.entries(values)) }, { signal })
}

async function rows(source: QuerySource, sql: string, values: Record<string, QueryValue> = {}) {
  const result = await ask(source, sql, values)
  assert.ok(result.ok, JSON.stringify(result))
  return result.rows
}

test('a query gives rows, and only what its text names is bound [Rb42]', async (context) => {
  const source = open(context, { file: users(context) })
  const sql = 'select name from users where id in (select value from json_each($ids)) or name = $name; -- end'
  assert.deepEqual(await rows(source, sql, { ids: [1, 3], name: 'nobody', other: 'ignored' }), [
    { name: 'Ada' },
    { name: 'Cy' },
  ])
  assert.deepEqual(await rows(source, `select body from notes where notes match $q`, { q: 'hello' }), [
    { body: 'hello world' },
  ])
  assert.deepEqual(await source.check(sql), { ok: true, placeholders: ['ids', 'name'] })
})

test('values come back as JSON can carry them, and integers stay integers', async (context) => {
  const source = open(context, { file: users(context) })
  const sql = `select $t t, $n n, typeof($i) i, typeof($r) r, 7 / $i q, 9007199254740993 big, 9e999 inf, x'00ff' b`
  assert.deepEqual(await rows(source, sql, { t: true, n: null, i: 2, r: 0.5 }), [
    { t: 1, n: null, i: 'integer', r: 'real', q: 3, big: '9007199254740993', inf: 'Infinity', b: 'AP8=' },
  ])
})

test('a placeholder without a value is refused, never NULL [Rb42, D16]', async (context) => {
  const source = open(context, { file: users(context) })
  const result = await ask(source, 'select * from users where id = $id', { ID: 1 })
  assert.deepEqual(result, { ok: false, reason: 'refused', detail: '`$id` has no value; NULL must be given as null.' })
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, '\ud800', [1, Number.NaN]]) {
    const changed = await ask(source, 'select $id', { id: value })
    assert.equal(changed.ok || changed.reason, 'refused')
  }
})

test('whatever writes is refused before and by the database, and the file stays as it was [D16, bad input 17]', async (context) => {
  const file = users(context)
  const source = open(context, { file })
  const refused = [
    `insert into users values (9, 'x')`,
    `update users set name = 'x'`,
    'delete from users',
    'with a as (select 1) delete from users',
    'pragma user_version = 3',
    'select * from pragma_user_version',
    `attach 'other.db' as other`,
    `vacuum into 'copy.db'`,
    'create temp table t (a)',
    'select 1; delete from users',
    `select load_extension('x')`,
    `select LOAD_EXTENSION('x')`,
    `select fts3_tokenizer('simple')`,
  ]
  for (const sql of refused) {
    const result = await ask(source, sql)
    assert.equal(result.ok || result.reason, 'refused', sql)
    const check = await source.check(sql)
    assert.equal(check.ok || check.problem, 'not-read-only', sql)
  }
  for (const sql of [`select writefile('x', 'y')`, `select readfile('x')`, `select edit('x')`]) {
    const check = await source.check(sql)
    assert.equal(check.ok || check.problem, 'invalid', sql) // the shell's functions are not there at all
  }
  assert.deepEqual(await rows(source, 'select count(*) n from users'), [{ n: 3 }])
  assert.deepEqual(readdirSync(join(file, '..')), ['users.db'])
})

test('a check tells what is wrong and where', async (context) => {
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

test('a query is stopped at the time limit, and the next one runs [D16, bad input 18]', async (context) => {
  const source = open(context, { file: users(context), timeoutMs: 200 })
  await rows(source, 'select 1')
  const start = performance.now()
  assert.deepEqual(await ask(source, RUNAWAY), { ok: false, reason: 'timeout', detail: 'stopped after 0.2 s' })
  assert.ok(performance.now() - start < 600)
  assert.deepEqual(await rows(source, 'select 1 a'), [{ a: 1 }])
})

test('rows are cut at the row limit, and only then called truncated [D16, bad input 18]', async (context) => {
  const source = open(context, { file: users(context) })
  const count = (most: number) => ask(source, `${RUNAWAY.replace('count(*)', 'n')} limit $most`, { most })
  const [full, cut] = [await count(200), await count(201)]
  assert.deepEqual(full.ok && [full.rows.length, full.truncated], [200, false])
  assert.deepEqual(cut.ok && [cut.rows.length, cut.rows[199], cut.truncated], [200, { n: 200 }, true])
  const endless = await ask(source, RUNAWAY.replace('count(*)', 'n'))
  assert.deepEqual(endless.ok && endless.truncated, true)
})

test('rows are cut at the byte limit, to the byte [D16]', async (context) => {
  const sql = `select value as "kéy", $pad as pad from json_each('[1,2,3]')`
  const whole = await rows(open(context, { file: users(context) }), sql, { pad: 'é"\n' })
  const maxBytes = Buffer.byteLength(JSON.stringify(whole))
  for (const [limit, length] of [
    [maxBytes, 3],
    [maxBytes - 1, 2],
    [10, 0],
  ] as const) {
    const result = await ask(open(context, { file: users(context), maxBytes: limit }), sql, { pad: 'é"\n' })
    assert.deepEqual(result.ok && [result.rows.length, result.truncated], [length, length < 3])
  }
})

test('an abort stops the running query, one that waits, and one not begun', async (context) => {
  const source = open(context, { file: users(context) })
  const [running, waiting] = [new AbortController(), new AbortController()]
  const bindings = new Map()
  const first = source.run({ sql: RUNAWAY, bindings }, { signal: running.signal })
  const second = source.run({ sql: 'select 2', bindings }, { signal: waiting.signal })
  const third = ask(source, 'select 3 a')
  waiting.abort()
  const stopped = { ok: false, reason: 'aborted', detail: 'The query was stopped.' }
  assert.deepEqual(await second, stopped)
  running.abort()
  assert.deepEqual(await first, stopped)
  assert.deepEqual(await third, { ok: true, rows: [{ a: 3 }], truncated: false })
  assert.deepEqual(await source.run({ sql: 'select 4', bindings }, { signal: AbortSignal.abort() }), stopped)
})

test('queries asked at once are answered each with its own rows, and too many are refused', async (context) => {
  const source = open(context, { file: users(context) })
  const answers = await Promise.all(
    Array.from({ length: 110 }, (_, index) => ask(source, 'select $index i', { index })),
  )
  answers.slice(0, 100).forEach((answer, index) => {
    assert.deepEqual(answer.ok && answer.rows, [{ i: index }])
  })
  for (const answer of answers.slice(100)) assert.match(answer.ok ? '' : answer.detail, /busy: 100 queries/)
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

test('unusual names of files, columns and placeholders are names and nothing more', async (context) => {
  const name = join(folder(context), 'file:üñ %20?mode=rwc#x $a \'".db')
  const source = open(context, { file: writeDatabase(name, 'create table t as select 1 as "a b", 2 as "__proto__"') })
  const [row] = await rows(source, 'select *, 3 as "a b", $__proto__ as "constructor" from t', { ['__proto__']: 4 })
  assert.deepEqual(Object.entries(row ?? {}), [
    ['a b', 1],
    ['__proto__', 2],
    ['a b_2', 3],
    ['constructor', 4],
  ])
})

test('text that would be SQL comes back unchanged, and changes nothing', async (context) => {
  const source = open(context, { file: users(context) })
  const fixed = [
    `' or 1=1 --`,
    `'; drop table users; --`,
    '$name',
    '\0',
    '😀',
    '__proto__',
    '\\',
    '"',
    '',
    '%_',
    '\u2028',
  ]
  for (const text of fixed) {
    assert.deepEqual(await rows(source, 'select $text t', { text }), [{ t: text }])
    assert.deepEqual(await rows(source, 'select id from users where name = $text', { text }), [])
  }
  const text = fc.string({ unit: 'grapheme' }).filter((value) => value.isWellFormed())
  const property = fc.asyncProperty(text, fc.array(text), async (value, list) => {
    const sql = 'select $value v, (select json_group_array(value) from json_each($list)) l'
    const [row] = await rows(source, sql, { value, list })
    assert.deepEqual([row?.v, JSON.parse(String(row?.l))], [value, list])
  })
  await fc.assert(property, { numRuns: 200 })
  assert.deepEqual(await rows(source, 'select count(*) n from users'), [{ n: 3 }])
})

test('after close nothing runs, what ran has failed, and closing again is allowed', async (context) => {
  const source = createSqliteSource({ file: users(context) })
  const running = ask(source, RUNAWAY)
  await source.close()
  await source.close()
  assert.deepEqual(await running, { ok: false, reason: 'failed', detail: 'The source is closed.' })
  assert.deepEqual(await ask(source, 'select 1'), { ok: false, reason: 'failed', detail: 'The source is closed.' })
})
