/** The conformance kit of query sources: what every implementation of `QuerySource` must do. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { QueryResult, QuerySource, QueryValue } from '../../tool/source.ts'

/** Limits that a test sets for its source. */
export interface SourceLimits {
  readonly timeoutMs?: number
  readonly maxRows?: number
  readonly maxBytes?: number
}

/** Creates sources over a table `users (id integer primary key, name text)` with the rows 1 Ada, 2 Bo and 3 Cy. */
export interface SourceHarness {
  readonly name: string
  open(context: TestContext, limits?: SourceLimits): Promise<QuerySource>
  /** A source whose database is unreachable. */
  unreachable(context: TestContext): Promise<QuerySource>
  /** A condition that is true if `id` is in the list `$ids`. */
  readonly idInList: string
  /** An expression that returns the list `$list` of texts, as a JSON list or its text. */
  readonly listBack: string
  /** Further statements that change data, beside those of standard SQL. */
  readonly writes: readonly string[]
}

type Values = Readonly<Record<string, QueryValue>>
type Register = (name: string, body: (context: TestContext) => Promise<void>) => void

const ENDLESS = 'with recursive c(n) as (select 1 union all select n + 1 from c) select'
const RUNAWAY = `${ENDLESS} count(*) from c`
const WRITES = [
  `insert into users values (9, 'x')`,
  `update users set name = 'x'`,
  'delete from users',
  'drop table users',
  'create table t (a integer)',
  'with a as (select 1) delete from users',
  'with a as (delete from users returning *) select * from a',
  `with a as (insert into users values (9, 'x') returning *) select * from a`,
  'select * into copied from users',
  'select 1; delete from users',
  'select 1 -- ;\n; delete from users',
  'begin',
]

/** Registers the tests that every source passes. */
export function testSource(harness: SourceHarness): void {
  const register: Register = (name, body) => {
    test(`${harness.name}: ${name}`, body)
  }
  checkAnswers(harness, register)
  checkRefusals(harness, register)
  checkLimits(harness, register)
  checkEnds(harness, register)
}

/** Runs a query without an abort. */
export function ask(source: QuerySource, sql: string, values: Values = {}): Promise<QueryResult> {
  const { signal } = new AbortController()
  return source.run({ sql, bindings: new Map(Object.entries(values)) }, { signal })
}

/** The rows of a query that must succeed. */
export async function rowsOf(source: QuerySource, sql: string, values: Values = {}) {
  const result = await ask(source, sql, values)
  assert.ok(result.ok, JSON.stringify(result))
  return result.rows
}

/** Asserts that a text and a list of texts come back as they were bound. */
export async function assertUnchanged(
  source: QuerySource,
  { listBack, text, list }: { readonly listBack: string; readonly text: string; readonly list: readonly string[] },
): Promise<void> {
  const [row] = await rowsOf(source, `select $text as t, ${listBack} as l`, { text, list })
  assert.deepEqual([row?.['t'], typeof row?.['l'] === 'string' ? JSON.parse(row['l']) : row?.['l']], [text, list])
}

async function assertUntouched(source: QuerySource): Promise<void> {
  const users = await rowsOf(source, 'select id, name from users order by id')
  assert.deepEqual(users, [
    { id: 1, name: 'Ada' },
    { id: 2, name: 'Bo' },
    { id: 3, name: 'Cy' },
  ])
}

function checkAnswers({ open, idInList, listBack }: SourceHarness, register: Register): void {
  register('a query gives rows, and only what its text names is bound [R49, Rb42]', async (context) => {
    const source = await open(context)
    const sql = `select name from users where ${idInList} or name = $name order by id; -- end`
    const values = { ids: [1, 3], name: 'nobody', other: 'ignored' }
    assert.deepEqual(await rowsOf(source, sql, values), [{ name: 'Ada' }, { name: 'Cy' }])
    assert.deepEqual(await rowsOf(source, sql, { ids: [], name: 'Bo' }), [{ name: 'Bo' }])
    assert.deepEqual(await source.check(sql), { ok: true, placeholders: ['ids', 'name'] })
  })

  register('unusual names of columns and placeholders are names and nothing more', async (context) => {
    const source = await open(context)
    const sql =
      'select id as "a b", 2 as "__proto__", 3 as "a b", $__proto__ + 0 as "constructor" from users where id = 1'
    const [row] = await rowsOf(source, sql, { ['__proto__']: 4 })
    assert.deepEqual(Object.entries(row ?? {}), [
      ['a b', 1],
      ['__proto__', 2],
      ['a b_2', 3],
      ['constructor', 4],
    ])
  })

  register('one placeholder may stand in several places, and null is NULL', async (context) => {
    const source = await open(context)
    const sql = 'select id from users where ($name = name or $name = $other) and id >= $least order by id'
    assert.deepEqual(await rowsOf(source, sql, { name: 'Bo', other: 'x', least: 1 }), [{ id: 2 }])
    assert.deepEqual(await rowsOf(source, sql, { name: null, other: 'x', least: 1 }), [])
  })

  register('text that would be SQL comes back unchanged, and changes nothing [D16]', async (context) => {
    const source = await open(context)
    const fixed = [`' or 1=1 --`, `'; drop table users; --`, '$name', '😀', '__proto__', '\\', '"', '', '%_', '\u2028']
    for (const text of [...fixed, 'NULL', '{}', '{a,b}', '[]', '1', 'true']) {
      assert.deepEqual(await rowsOf(source, 'select $text as t', { text }), [{ t: text }])
      assert.deepEqual(await rowsOf(source, 'select id from users where name = $text', { text }), [])
    }
    for (const list of [[], ['a', '', 'NULL', '"', '\\', ',', '{}'], fixed])
      await assertUnchanged(source, { listBack, text: 'a', list })
    await assertUntouched(source)
  })
}

function checkRefusals({ open, unreachable, writes }: SourceHarness, register: Register): void {
  register('a placeholder without a value is refused, never NULL [Rb42, D16]', async (context) => {
    const source = await open(context)
    const result = await ask(source, 'select * from users where id = $id', { ID: 1 })
    const detail = '`$id` has no value; NULL must be given as null.'
    assert.deepEqual(result, { ok: false, reason: 'unbound', detail })
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, '\ud800', [1, Number.NaN]]) {
      const changed = await ask(source, 'select $id as id', { id: value })
      assert.equal(changed.ok || changed.reason, 'unfit')
    }
  })

  register('whatever writes is refused, and the table stays as it was [D16, bad input 17]', async (context) => {
    const source = await open(context)
    for (const sql of [...WRITES, ...writes]) {
      const result = await ask(source, sql)
      assert.equal(result.ok || result.reason, 'not-read-only', sql)
      const check = await source.check(sql)
      assert.equal(check.ok || check.problem, 'not-read-only', sql)
    }
    await assertUntouched(source)
  })

  register('a check tells what is wrong and where', async (context) => {
    const source = await open(context)
    const at = async (sql: string) => {
      const check = await source.check(sql)
      return 'line' in check && [check.problem, check.line, check.column]
    }
    assert.deepEqual(await at('select\n nope from users where id = $long_name'), ['invalid', 2, 2])
    assert.deepEqual(await at('select $long_name,\n $another,  nope from users'), ['invalid', 2, 13])
    assert.deepEqual(await at('select id from nowhere'), ['invalid', 1, 16])
    assert.deepEqual(await at('select 1 from "users'), ['invalid', 1, 15])
    assert.deepEqual(await at(`select 1 from users where name = '$name'`), ['not-read-only', 1, 34])
    assert.deepEqual(await at('select name from users where id = $a ; delete from users'), ['not-read-only', 1, 38])
  })

  register(
    'out of reach, the text alone is checked, and a query fails without saying where it went',
    async (context) => {
      const source = await unreachable(context)
      const sql = 'select name from users where id = $id'
      const check = await source.check(sql)
      assert.ok(!check.ok && check.problem === 'unavailable', JSON.stringify(check))
      assert.deepEqual(check.placeholders, ['id'])
      const refused = await source.check('delete from users')
      assert.equal(refused.ok || refused.problem, 'not-read-only')
      const result = await ask(source, sql, { id: 1 })
      assert.ok(!result.ok && result.reason === 'failed', JSON.stringify(result))
      assert.doesNotMatch(`${check.detail} ${result.detail}`, /[/:]\/|secret|@/)
    },
  )
}

function checkLimits({ open }: SourceHarness, register: Register): void {
  register('a query is stopped at the time limit, and the next one runs [D16, bad input 18]', async (context) => {
    const source = await open(context, { timeoutMs: 1_500 }) // enough for the valid queries, even on a busy machine
    await rowsOf(source, 'select 1 as a')
    const tooLate = new Promise((resolve) => setTimeout(resolve, 30_000, 'not stopped').unref())
    const answer = await Promise.race([ask(source, RUNAWAY), tooLate])
    assert.deepEqual(answer, { ok: false, reason: 'timeout', detail: 'stopped after 1.5 s' })
    assert.deepEqual(await rowsOf(source, 'select 1 as a'), [{ a: 1 }])
  })

  register('rows are cut at the row limit, and only then called truncated [D16, bad input 18]', async (context) => {
    const source = await open(context)
    const count = (most: number) => ask(source, `${ENDLESS} n from c limit $most`, { most })
    const [full, cut, none] = [await count(200), await count(201), await count(0)]
    assert.deepEqual(full.ok && [full.rows.length, full.truncated], [200, false])
    assert.deepEqual(cut.ok && [cut.rows.length, cut.rows[199], cut.truncated], [200, { n: 200 }, true])
    assert.deepEqual(none.ok && [none.rows, none.truncated], [[], false])
    const endless = await ask(source, `${ENDLESS} n from c`)
    assert.deepEqual(endless.ok && [endless.rows.length, endless.truncated], [200, true])
  })

  register('rows are cut at the byte limit, to the byte [D16]', async (context) => {
    const sql = 'select id as "kéy", $pad as pad from users order by id'
    const whole = await rowsOf(await open(context), sql, { pad: 'é"\n' })
    const maxBytes = Buffer.byteLength(JSON.stringify(whole))
    for (const [limit, length] of [
      [maxBytes, 3],
      [maxBytes - 1, 2],
      [10, 0],
    ] as const) {
      const result = await ask(await open(context, { maxBytes: limit }), sql, { pad: 'é"\n' })
      assert.deepEqual(result.ok && [result.rows.length, result.truncated], [length, length < 3])
    }
  })
}

function checkEnds({ open }: SourceHarness, register: Register): void {
  const stopped = { ok: false, reason: 'aborted', detail: 'The query was stopped.' }
  const closed = { ok: false, reason: 'failed', detail: 'The source is closed.' }

  register('an abort stops the running query, one that waits, and one not begun', async (context) => {
    const source = await open(context)
    const [running, waiting] = [new AbortController(), new AbortController()]
    const bindings = new Map()
    const first = Array.from({ length: 6 }, () => source.run({ sql: RUNAWAY, bindings }, { signal: running.signal }))
    const second = source.run({ sql: 'select 2 as a', bindings }, { signal: waiting.signal })
    const third = ask(source, 'select 3 as a')
    waiting.abort()
    assert.deepEqual(await second, stopped)
    running.abort()
    for (const query of first) assert.deepEqual(await query, stopped)
    assert.deepEqual(await third, { ok: true, rows: [{ a: 3 }], truncated: false })
    assert.deepEqual(await source.run({ sql: 'select 4', bindings }, { signal: AbortSignal.abort() }), stopped)
  })

  register('queries asked at once are answered each with its own rows, and too many are refused', async (context) => {
    const source = await open(context)
    const asked = Array.from({ length: 120 }, (_, index) => ask(source, 'select $index + 0 as i', { index }))
    const answers = await Promise.all(asked)
    answers.forEach((answer, index) => {
      if (index < 100 || answer.ok) assert.deepEqual(answer.ok && answer.rows, [{ i: index }])
      else assert.match(answer.detail, /busy: 100 queries/)
    })
    assert.ok(answers.filter((answer) => !answer.ok).length >= 10)
  })

  register('after close nothing runs, what ran has failed, and closing again is allowed', async (context) => {
    const source = await open(context)
    const running = ask(source, RUNAWAY)
    await source.close()
    await source.close()
    assert.deepEqual(await running, closed)
    assert.deepEqual(await ask(source, 'select 1'), closed)
    const check = await source.check('select 1')
    assert.equal(check.ok || check.detail, closed.detail)
  })
}
