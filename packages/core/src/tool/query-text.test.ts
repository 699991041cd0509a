import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  MAX_QUERY_LENGTH,
  POSTGRES_LEXIS,
  placeholderNames,
  placeOfWord,
  possibleCalls,
  readQueryText,
  SQLITE_LEXIS,
  type SqlLexis,
} from './query-text.ts'
import { holds } from '../../../../test/support/seeds.ts'
import { assertCheap } from '../../../../test/support/cpu.ts'

const both = [SQLITE_LEXIS, POSTGRES_LEXIS]

function names(sql: string, lexis: SqlLexis): readonly string[] {
  return placeholderNames(readQueryText(sql, lexis))
}

function mistakes(sql: string, lexis: SqlLexis): string[] {
  return readQueryText(sql, lexis).mistakes.map((mistake) => `${mistake.problem}: ${mistake.detail}`)
}

test('placeholders are found outside strings, quoted names and comments [Rb42]', () => {
  for (const lexis of both) {
    assert.deepEqual(names('select $a, $b_2 from t where c=$a -- $no\n and /* $no */ d in ($été)', lexis), [
      'a',
      'b_2',
      'été',
    ])
    assert.deepEqual(names(`select 'it''s' || $a, "x""y", 'a$b', col$umn, data ->> '$.name'`, lexis), ['a'])
    assert.deepEqual(mistakes(`select 'it''s' || $a, "x""y", 'a$b', col$umn, data ->> '$.name'`, lexis), [])
  }
})

test('a placeholder is placed in the statement, so that a source can put its own mark there', () => {
  const { statement, placeholders } = readQueryText('  -- first\n select $a,$bc ; -- last', SQLITE_LEXIS)
  assert.equal(statement, 'select $a,$bc')
  assert.deepEqual(
    placeholders.map(({ start, end }) => statement.slice(start, end)),
    ['$a', '$bc'],
  )
})

test('PostgreSQL: dollar quotes, casts, backslash strings, nested comments and operators are not placeholders', () => {
  const query = `select $a::int, $$it's; "$$, $tag$ $$ ; $tag$, E'\\'; ', /* /* */ ; $no */ a ? 'k', a @> $b, c[1:2]`
  assert.deepEqual(mistakes(query, POSTGRES_LEXIS), [])
  assert.deepEqual(names(query, POSTGRES_LEXIS), ['a', 'b'])
})

test('SQLite: backticks and brackets quote, and its other placeholders are refused because nothing binds them', () => {
  assert.deepEqual(mistakes('select `a;b`, [c;"d] from t where e = $e', SQLITE_LEXIS), [])
  for (const other of ['?', '?1', ':name', '@name', '#1', '$1', '$a$b', '$', '$a::int', '$a(b)']) {
    const found = mistakes(`select x, ${other}`, SQLITE_LEXIS)
    assert.equal(found.length, 1, other)
    assert.match(found[0] ?? '', /^invalid: Placeholders are written `\$name`; found `.*` at 1:11\.$/)
  }
  assert.match(mistakes('select $1', POSTGRES_LEXIS)[0] ?? '', /found `\$1` at 1:8/)
})

test('a placeholder in quotes is a mistake, with its place [bad input 17]', () => {
  const quoted = [`'$name'`, `"$name"`, `'%$name%'`]
  for (const text of quoted) {
    for (const lexis of both) {
      assert.deepEqual(mistakes(`select 1\nwhere a = ${text}`, lexis), [
        'not-read-only: `$name` stands inside quotes at 2:11, where it is plain text; take the quotes away.',
      ])
    }
  }
  assert.equal(mistakes('select $q$ $name $q$', POSTGRES_LEXIS).length, 1)
  assert.equal(mistakes("select E'$name'", POSTGRES_LEXIS).length, 1)
})

test('a second statement is a mistake, blanks and comments after the end are not [bad input 17]', () => {
  for (const lexis of both) {
    assert.deepEqual(mistakes('select 1 ; -- ;\n /* ; */ ', lexis), [])
    assert.deepEqual(mistakes('select name from users where id = $a ; delete from users', lexis), [
      'not-read-only: Only one SELECT is allowed; found `;` at 1:38.',
    ])
    assert.equal(mistakes('select 1;;', lexis).length, 1)
    assert.equal(mistakes("select 'a' -- '\n; delete from t -- '", lexis).length, 1)
  }
  assert.equal(mistakes('select 1 -- \r; delete from t', POSTGRES_LEXIS).length, 1)
  assert.equal(mistakes('select 1 /* /* */ ; delete from t', POSTGRES_LEXIS)[0]?.slice(0, 7), 'invalid')
})

test('SELECT, VALUES and WITH … SELECT are allowed', () => {
  const allowed = [
    'select 1',
    'VALUES (1), (2)',
    '/* x */ With a as (select 1), b(c) as (values (2)) SELECT * from a, b',
    'with recursive n(i) as (select 1 union all select i + 1 from n) select i from n',
    'with a as (select 1) values (2)',
    `select substring('abc' from 2 for 1)`,
    'with replace as (select 1), merge as (select 2) select * from replace',
    'select replace(a, $b, $c) as "into" from t',
    'with a as not materialized (select 1) select t.into from a t',
  ]
  for (const sql of allowed) for (const lexis of both) assert.deepEqual(mistakes(sql, lexis), [], sql)
})

test('every other statement is refused [Rb42, bad input 17]', () => {
  const refused = [
    'insert into t values (1)',
    'update t set a = 1',
    'delete from t',
    'replace into t values (1)',
    'with a as (select 1) insert into t select * from a',
    'with a as (select 1), b as (select 2) update t set a = 1',
    'with a as (select 1) delete from t',
    'with a as (delete from t returning *) select * from a',
    'with a as materialized (update t set a = 1 returning *) select * from a',
    'select * into u from t',
    'pragma user_version = 1',
    'attach $a as b',
    `vacuum into 'x'`,
    'create temp table t (a)',
    'explain select 1',
    'begin',
    'copy t to program $a',
    '(select 1)',
    'select a from t for update',
    'select a from t for no key update of t',
    'select a from t for share skip locked',
    '"select" 1',
    'with a as (select 1)',
  ]
  for (const sql of refused) for (const lexis of both) assert.notDeepEqual(mistakes(sql, lexis), [], sql)
  assert.deepEqual(mistakes(' \n drop table t', SQLITE_LEXIS), [
    'not-read-only: Only SELECT, VALUES and WITH … SELECT are allowed; found `drop` at 2:2.',
  ])
})

test('PostgreSQL: what two readers could cut differently is refused [D16]', () => {
  const hidden = `select E'a'\n'\\'', pg_read_file(chr(47)) --'`
  assert.match(mistakes(hidden, POSTGRES_LEXIS)[0] ?? '', /^invalid: Write the string that goes on at 2:1 as one/)
  assert.equal(mistakes(`select E'a' -- b\n 'c'`, POSTGRES_LEXIS).length, 1)
  for (const text of [`U&"\\0070g_sleep"(1)`, `u&'a'`])
    assert.equal(mistakes(`select ${text}`, POSTGRES_LEXIS).length, 1)
  assert.deepEqual(mistakes('select u & "b", u&b, 1 from u', POSTGRES_LEXIS), [])
})

test('every name that may be called is found, however it is written [D16]', () => {
  const sql = `select a(1), "B""c" (2), s . f\v(3), (x).g, 'h(' || i /* ( */ from t -- j(\n where k in (4)`
  const found = possibleCalls(sql, POSTGRES_LEXIS)
  assert.deepEqual(
    found.map(({ name }) => name),
    ['a', 'B"c', 'f', 'g', 'in'],
  )
  assert.deepEqual(found[3], { name: 'g', line: 1, column: 41 })
})

test('unreadable texts are mistakes', () => {
  for (const sql of [
    '',
    ' -- only\n',
    ';',
    'select 1\0',
    '\ufeffselect 1',
    'select \ud800',
    `select ${'1'.repeat(MAX_QUERY_LENGTH)}`,
  ]) {
    for (const lexis of both) assert.equal(readQueryText(sql, lexis).mistakes[0]?.problem, 'invalid', sql.slice(0, 9))
  }
  for (const open of [`'a`, '"a', '/* a']) {
    for (const lexis of both) assert.match(mistakes(`select ${open}`, lexis)[0] ?? '', /opens at 1:8 is never closed/)
  }
  assert.match(mistakes('select $x$ a', POSTGRES_LEXIS)[0] ?? '', /opens at 1:8 is never closed/)
})

test('a long text full of mistakes is read at once, and ten of them are told', async () => {
  const sql = `select ${'$1\n'.repeat(MAX_QUERY_LENGTH / 3 - 10)}`
  const { result } = await assertCheap({ total: 500 }, () => readQueryText(sql, SQLITE_LEXIS))
  assert.equal(result.mistakes.length, 10)
})

test('a word that a database complained of is placed only where it stands once', () => {
  assert.deepEqual(placeOfWord('select a,\n nope from t', 'NOPE', SQLITE_LEXIS), { line: 2, column: 2 })
  assert.deepEqual(placeOfWord(' select nope, nope', 'nope', SQLITE_LEXIS), { line: 1, column: 2 })
})

/** A piece of SQL, and the placeholders that stand in it. */
interface Piece {
  readonly sql: string
  readonly names: readonly string[]
}

const junk = fc.string({ unit: fc.constantFrom('$', 'x', ';', "'", '"', '-', '/', '*', ' ', '\n', '`', '[', ']', ':') })
/** Junk that no quoted placeholder can stand in. */
const calm = junk.map((text) => text.replaceAll('x', ''))
const name = fc.stringMatching(/^[a-z_][a-z0-9_]{0,4}$/)

const commonPieces: fc.Arbitrary<Piece>[] = [
  name.map((text) => ({ sql: `$${text}`, names: [text] })),
  calm.map((text) => ({ sql: `'${text.replaceAll("'", "''")}'`, names: [] })),
  calm.map((text) => ({ sql: `"${text.replaceAll('"', '""')}"`, names: [] })),
  junk.map((text) => ({ sql: `--${text.replaceAll('\n', '')}\n`, names: [] })),
  junk.map((text) => ({ sql: `/*${text.replaceAll(/[*/]/g, '')}*/`, names: [] })),
  fc.constantFrom('a', '1.5', '=', '(', ')', ',', 'a$b', '->>').map((sql) => ({ sql, names: [] })),
]
const sqlitePieces: fc.Arbitrary<Piece>[] = [
  calm.map((text) => ({ sql: `\`${text.replaceAll('`', '``')}\``, names: [] })),
  calm.map((text) => ({ sql: `[${text.replaceAll(']', '')}]`, names: [] })),
]
const postgresPieces: fc.Arbitrary<Piece>[] = [
  name.map((text) => ({ sql: `$${text}::int`, names: [text] })),
  calm.map((text) => ({ sql: `$t$${text.replaceAll('$', '')}$t$`, names: [] })),
  calm.map((text) => ({ sql: `$$${text.replaceAll('$', '')}$$`, names: [] })),
  calm.map((text) => ({ sql: `E'${text.replaceAll("'", "\\'")}' ,`, names: [] })),
  junk.map((text) => ({ sql: `/* /*${text.replaceAll(/[*/]/g, '')}*/ $x */`, names: [] })),
  fc.constantFrom('?', '?|', '@>', '::', ':', '#>>').map((sql) => ({ sql, names: [] })),
]

function pieces(own: fc.Arbitrary<Piece>[]): fc.Arbitrary<Piece[]> {
  return fc.array(fc.oneof(...commonPieces, ...own), { maxLength: 12 })
}

for (const [dialect, lexis, own] of [
  ['SQLite', SQLITE_LEXIS, sqlitePieces],
  ['PostgreSQL', POSTGRES_LEXIS, postgresPieces],
] as const) {
  test(`property: of any pieces of ${dialect} put together, the placeholders are those of the pieces [fuzz 4]`, async (context) => {
    const property = fc.property(pieces(own), (parts) => {
      const sql = `select ${parts.map((part) => part.sql).join(' ')}`
      assert.deepEqual(mistakes(sql, lexis), [])
      assert.deepEqual(names(sql, lexis), [...new Set(parts.flatMap((part) => part.names))])
      assert.equal(mistakes(`${sql} ; a`, lexis).length, 1)
      assert.equal(mistakes(`${sql} ; -- a`, lexis).length, 0)
    })
    await holds(context, property, 500)
  })
}

test('property: any text at all is read without throwing, and each mistake lies in it', async (context) => {
  const anything = fc.oneof(junk, fc.string({ unit: 'binary' }))
  const property = fc.property(anything, fc.constantFrom(...both), (sql, lexis) => {
    const lines = sql.split('\n')
    for (const { line, column } of readQueryText(sql, lexis).mistakes) {
      assert.ok(column >= 1 && column <= (lines[line - 1]?.length ?? -1) + 1)
    }
  })
  await holds(context, property, 2_000)
})

test('property: SQLite finds the same placeholders and the same end of the statement [fuzz 4, D16]', async (context) => {
  const database = new DatabaseSync(':memory:')
  context.after(() => database.close())
  const fragments = [
    '$a',
    '$b',
    "'",
    '"',
    '`',
    '[',
    ']',
    '--',
    '\n',
    '\r',
    '/*',
    '*/',
    ';',
    ',',
    '1',
    '(',
    ')',
    ' ',
    '|| $c ||',
  ]
  const more = [
    '::',
    ':',
    '?',
    '@x',
    '$',
    'x',
    'é',
    '\v',
    '\u00a0',
    '\ufeff',
    '#',
    ' as x',
    "'$.a'",
    '+',
    '-',
    '/',
    '*',
  ]
  const tail = fc.array(fc.constantFrom(...fragments, ...more), { maxLength: 8 })
  let compared = 0
  const property = fc.property(tail, (parts) => {
    const text = readQueryText(`select $a, 1 ${parts.join('')}`, SQLITE_LEXIS)
    if (text.mistakes.length > 0) return
    const statement = prepareIfValid(database, text.statement)
    if (statement === undefined) return
    compared += 1
    assert.equal(statement.sourceSQL, text.statement)
    statement.get(Object.fromEntries(placeholderNames(text).map((each) => [`$${each}`, 7]))) // throws for a name unknown
    assert.doesNotMatch(statement.expandedSQL, /NULL/) // what stays unbound is written as NULL
  })
  const expected = await holds(context, property, 20_000)
  assert.ok(compared > expected(500), `only ${compared} texts were valid`)
})

function prepareIfValid(database: DatabaseSync, sql: string) {
  try {
    return database.prepare(sql)
  } catch {
    return undefined
  }
}
