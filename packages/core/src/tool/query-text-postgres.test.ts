/** The reader of query texts against PostgreSQL's own parser, which is the judge. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import pg from 'pg'
import { createTestDatabase, type TestDatabase } from '../../../../test/postgres/support/database.ts'
import { postgresText } from './kinds/postgres-source-text.ts'
import { POSTGRES_LEXIS, possibleCalls, readQueryText } from './query-text.ts'
import { holds } from '../../../../test/support/seeds.ts'

const SCHEMA = `create table t (a integer, b text, "$x" integer); insert into t values (1, 'b', 2);
  create function effect(text) returns text language sql volatile as $$ select $1 $$;
  create function effect() returns text language sql volatile as $$ select 'x' $$`

const quotes = [`'`, `''`, `E'`, `e'\\'`, `"`, 'U&', '$$', '$t$', '$', '\\', `E'a'`, `'b'`, `"a"`]
const blanks = [' ', '\n', '\r', '\t', '\v', '\f', '--', '/*', '*/', '\u00a0', '\ufeff']
const placeholders = ['$a', '$b', ',$a::text', '|| $b', ', $_c1', '$A']
const calls = [`, effect('x')`, ', "effect"($a)', ', effect /**/ ()', `, ('x'::text).effect`, ', public.effect()']
const more = [
  ',',
  ';',
  '(',
  ')',
  '1',
  'x',
  'é',
  '::',
  ':',
  '?',
  '@',
  '#',
  '+',
  '-',
  '/',
  '*',
  '<',
  '=',
  '&',
  '|',
  'from t',
]
const fragments = [...quotes, ...blanks, ...placeholders, ...calls, ...more]

describe('the reader of query texts and PostgreSQL', () => {
  let database: TestDatabase
  let client: pg.Client
  before(async () => {
    database = await createTestDatabase(SCHEMA)
    client = new pg.Client({ connectionString: database.adminUrl })
    await client.connect()
  })
  after(async () => {
    await client?.end()
    await database?.drop()
  })

  /** What the server finds in a statement: how many parameters, and whether it calls `effect`. Null where it is no statement. */
  async function judged(statement: string): Promise<{ parameters: number; isCalled: boolean } | null> {
    await client.query('begin')
    try {
      await client.query({ text: `prepare q as ${statement}`, ...{ queryMode: 'extended' } })
      const found = await client.query(
        `select cardinality(parameter_types) n from pg_prepared_statements where name = 'q'`,
      )
      await client.query('deallocate q')
      const body = statement.replace(/\$\d+/g, `null::text`)
      await client.query(`create function witan_probe() returns setof record language sql begin atomic ${body}; end`)
      const depends = await client.query(`select from pg_depend d join pg_proc p on p.oid = d.refobjid
        where d.objid = 'witan_probe'::regproc and p.proname = 'effect' and d.refclassid = 'pg_proc'::regclass`)
      return { parameters: Number(found.rows[0].n), isCalled: (depends.rowCount ?? 0) > 0 }
    } catch (error) {
      const { message } = error as Error
      assert.doesNotMatch(message, /multiple commands/, statement)
      return null
    } finally {
      await client.query('rollback')
      await client.query('deallocate all')
    }
  }

  test('property: they find the same placeholders, the same end, and every call [fuzz 4, D16]', async (context) => {
    let [valid, calling] = [0, 0]
    const tail = fc.array(fc.constantFrom(...fragments), { maxLength: 9 })
    const property = fc.asyncProperty(tail, async (parts) => {
      const sql = `select $a::text, 1 ${parts.join('')}`
      const text = readQueryText(sql, POSTGRES_LEXIS)
      if (text.mistakes.length > 0) return
      const { statement, names } = postgresText(sql, text)
      const verdict = await judged(statement)
      if (verdict === null) return
      valid += 1
      assert.equal(verdict.parameters, names.length, sql)
      if (!verdict.isCalled) return
      calling += 1
      assert.ok(
        possibleCalls(sql, POSTGRES_LEXIS).some(({ name }) => name === 'effect'),
        sql,
      )
    })
    const expected = await holds(context, property, 3_000)
    assert.ok(valid > expected(100) && calling > expected(30), `only ${valid} texts were valid, and ${calling} called`)
  })
})
