/** Conformance of stores: records beside the log, and the audit that is stored with each change. */
import assert from 'node:assert/strict'
import type { AgentData } from '@witan/protocol'
import type { AgentRow } from '../../agent/records.ts'
import type { Changed } from '../../identity/changed.ts'
import { auditOf, auditOfDefinitions, auditTable } from '../../store/audit.ts'
import { keyTable, putKey } from '../../store/keys.ts'
import { type AnyRow, addition, type RecordPage, type RecordRow, type RecordTable } from '../../store/record.ts'
import { recordTables } from '../../store/record-tables.ts'
import type { Store } from '../../store/store.ts'
import type { Check, CheckTwo } from './store-fixtures.ts'
import { database, idsOf, key, wholePage } from './store-fixtures.ts'

type Row = RecordRow<typeof auditTable>
type Where = RecordPage<typeof auditTable>['where']

const other = 'other'
const changed: Changed = { by: 'user:anna', via: 'key', at: 5 }

function row(id: string, over: Partial<Row> = {}): Row {
  const what = { kind: 'agent', name: 'a', action: 'change' } as const
  return { id, ...changed, ...what, before: 1, after: 2, ...over }
}

const add = (store: Store, one: Row, at = database) => store.addRecord(at, addition(auditTable, one))
const all = (store: Store, at = database, where: Where = {}) =>
  store.listRecords(at, auditTable, { ...wholePage, where: where ?? {} })

function agent(id: string, revision: number): AgentRow {
  const data = { id, instructions: '' } as unknown as AgentData
  return { database, id, revision, source: 'data', data, warnings: [], changed }
}

/** Every filter alone, and all of them together. Each names a part of the rows of `filtered`. */
const filters: readonly (readonly [where: NonNullable<Where>, ids: readonly string[]])[] = [
  [{ kind: 'key' }, ['6', '5', '4']],
  [{ name: 'b' }, ['6', '3']],
  [{ by: 'user:bob' }, ['6', '5', '2']],
  [{ kind: 'key', name: 'a' }, ['5', '4']],
  [{ kind: 'key', by: 'user:bob' }, ['6', '5']],
  [{ name: 'a', by: 'user:bob' }, ['5', '2']],
  [{ kind: 'key', name: 'a', by: 'user:bob' }, ['5']],
  [{ kind: 'none' }, []],
  [{ name: 'A' }, []],
  [{}, ['6', '5', '4', '3', '2', '1']],
]
const [anna, bob] = ['user:anna', 'user:bob']
const filtered = [
  row('1', { kind: 'agent', name: 'a', by: anna }),
  row('2', { kind: 'agent', name: 'a', by: bob }),
  row('3', { kind: 'agent', name: 'b', by: anna }),
  row('4', { kind: 'key', name: 'a', by: anna }),
  row('5', { kind: 'key', name: 'a', by: bob }),
  row('6', { kind: 'key', name: 'b', by: bob }),
]

/** A row with a value in each column; texts hold what a database may not take. */
function rowOf({ columns, secret }: RecordTable, id: string, of: string): AnyRow {
  const values = Object.entries(columns).map(([name, type]): [string, unknown] => {
    if (name === secret) return [name, `sha256:${id}-${of}`]
    if (type === 'json') return [name, [of, { é: null, 'a\0': [1.5, '☔\ud800'] }]]
    return [name, type.startsWith('integer') ? 2 ** 40 : `${of}'\0\u001b[31m☔ ; -- $1 ?1`]
  })
  return { ...Object.fromEntries(values), id }
}

/** Rows of a kind of record: three of one database, and one of another. */
function rowsOf(table: RecordTable) {
  const [one, two, three] = ['x', 'y', 'x'].map((of, index) => rowOf(table, String(index), of)) as [
    AnyRow,
    AnyRow,
    AnyRow,
  ]
  const elsewhere = rowOf(table, '0', 'z')
  const filled = async (store: Store) => {
    for (const row of [one, two, three]) assert.equal(await store.addRecord(database, { table, row }), true)
    assert.equal(await store.addRecord(other, { table, row: elsewhere }), true)
  }
  const list = (store: Store, at = database, where = {}) => store.listRecords(at, table, { ...wholePage, where })
  return { one, two, three, elsewhere, filled, list }
}

/** Registers the tests of a kind of record, which its declaration makes. */
function checkDeclared(check: Check, table: RecordTable): void {
  const { name, columns, filters, secret, isDeleted, beginsDatabase } = table
  const { one, two, three, elsewhere, filled, list } = rowsOf(table)

  check(`${name}: rows come back as they were, of their database alone`, async (store) => {
    await filled(store)
    assert.deepEqual([await list(store), await list(store, other)], [[three, two, one], [elsewhere]])
    assert.equal(await store.addRecord(database, { table, row: { ...two, id: one.id } }), false)
    for (const filter of filters) {
      const same = [three, two, one].filter((row) => row[filter] === one[filter])
      assert.deepEqual(await list(store, database, { [filter]: one[filter] }), same, filter)
    }
    assert.deepEqual(await store.listRecords(database, table, { limit: 1, after: three.id }), [two])
    assert.deepEqual(await store.listDatabases(), beginsDatabase === true ? [database, other].sort() : [])
    const none = Object.keys(columns).filter((column) => columns[column]?.endsWith('?'))
    const bare = { ...rowOf(table, '9', 'x'), ...Object.fromEntries(none.map((column) => [column, null])) }
    await store.addRecord(database, { table, row: bare })
    assert.deepEqual((await list(store))[0], bare)
  })

  if (secret !== undefined)
    check(`${name}: rows are found by their secrets in any database, and no two have the same`, async (store) => {
      await filled(store)
      const [first, second] = [one, elsewhere].map((row) => row[secret] as string) as [string, string]
      const found = await store.findRecords(table, [first, second, first, 'none'])
      assert.deepEqual(
        found.toSorted((row) => (row.database === database ? -1 : 1)),
        [
          { ...one, database },
          { ...elsewhere, database: other },
        ],
      )
      for (const at of [database, other])
        assert.equal(await store.addRecord(at, { table, row: { ...rowOf(table, '9', 'x'), [secret]: first } }), false)
    })

  if (isDeleted === true)
    check(`${name}: a deleted row is gone, of its database alone`, async (store) => {
      await filled(store)
      const remove = (at: string, { id }: AnyRow) => store.deleteRecord(at, { table, id })
      assert.deepEqual(
        [await remove(other, two), await remove(database, two), await remove(database, two)],
        [false, true, false],
      )
      assert.deepEqual([await list(store), await list(store, other)], [[three, one], [elsewhere]])
      assert.equal(await store.addRecord(database, { table, row: two }), true)
      assert.deepEqual(await list(store), [two, three, one])
    })
}

/** Registers the tests of a kind of record with a time that moves on, or until which a row is kept. */
function checkTimes(check: Check, table: RecordTable): void {
  const { name, latest, until } = table
  const { one, two, three, elsewhere, filled, list } = rowsOf(table)
  if (latest !== undefined)
    check(`${name}: a time moves on, of rows that are there`, async (store) => {
      await filled(store)
      const at = (one[latest] as number) + 1
      const uses = [at, at - 2].map((moment) => ({ database, id: one.id, at: moment }))
      await store.useRecords(table, [...uses, { database: other, id: two.id, at }])
      assert.deepEqual(
        [await list(store), await list(store, other)],
        [[three, two, { ...one, [latest]: at }], [elsewhere]],
      )
    })

  if (until !== undefined)
    check(`${name}: rows that have ended are forgotten, of one database alone`, async (store) => {
      await filled(store)
      const ends = one[until] as number
      const late = { ...rowOf(table, '9', 'x'), [until]: ends + 1 }
      await store.addRecord(database, { table, row: late })
      await store.forgetRecords(database, table, ends)
      assert.deepEqual(await list(store), [late, three, two, one])
      await store.forgetRecords(database, table, ends + 1)
      assert.deepEqual([await list(store), await list(store, other)], [[late], [elsewhere]])
      assert.equal(await store.addRecord(database, { table, row: one }), true)
    })
}

/** Registers the tests of records. */
export function checkRecords(check: Check): void {
  for (const table of recordTables) {
    checkDeclared(check, table)
    checkTimes(check, table)
  }

  check('a record comes back as it was, and its id is taken once in a database', async (store) => {
    const odd = row('x', { by: "user:a'\0\u001b[31m☔", name: '', before: null, after: null, at: 2 ** 52 })
    assert.equal(await add(store, odd), true)
    assert.equal(await add(store, row('x', { name: 'second' })), false)
    assert.equal(await add(store, row('x', { name: 'elsewhere' }), other), true)
    assert.deepEqual(await all(store), [odd])
    assert.deepEqual(await all(store, other), [row('x', { name: 'elsewhere' })])
    const twice = await Promise.all([1, 2, 3].map(() => add(store, row('y'))))
    assert.deepEqual(twice.toSorted(), [false, false, true])
  })

  check('records are listed by database and filter, the latest first, page by page', async (store) => {
    for (const one of filtered) assert.equal(await add(store, one), true)
    await add(store, row('7'), other)
    for (const [where, ids] of filters) {
      assert.deepEqual(idsOf(await all(store, database, where)), ids, JSON.stringify(where))
      const paged: string[] = []
      for (let after: string | null = null; ; after = paged.at(-1) ?? null) {
        const rows = await store.listRecords(database, auditTable, { limit: 2, after, where })
        paged.push(...idsOf(rows))
        if (rows.length < 2) break
      }
      assert.deepEqual(paged, ids, JSON.stringify(where))
    }
    assert.deepEqual(await all(store, 'nobody'), [])
    for (const after of ['none', '7'])
      await assert.rejects(store.listRecords(database, auditTable, { limit: 1, after }), { code: 'BODY_INVALID' })
  })

  check('a change and the record beside it are stored both or neither', async (store) => {
    const change = (ifRevision: number, revision: number | null) => {
      const changes = [{ id: 'a', ifRevision, row: revision === null ? null : agent('a', revision) }]
      return store.changeAgents(database, changes, auditOfDefinitions(changed, changes))
    }
    const keyed = (action: 'create' | 'revoke') => [auditOf(changed, { kind: 'key', name: 'k1', action })]
    assert.deepEqual([await change(0, 1), await change(0, 1), await change(1, 2)], [true, false, true])
    assert.deepEqual([await change(1, null), await change(2, null)], [false, true])
    const put = () => putKey(store, key('k1'), keyed('create'))
    assert.deepEqual([await put(), await put()], [true, false])
    const revoke = (at = database) => store.deleteRecord(at, { table: keyTable, id: 'k1' }, keyed('revoke'))
    assert.deepEqual([await revoke(other), await revoke(), await revoke()], [false, true, false])
    const seen = (await all(store)).map(({ kind, name, action, before, after }) => [kind, name, action, before, after])
    assert.deepEqual(seen, [
      ['key', 'k1', 'revoke', null, null],
      ['key', 'k1', 'create', null, null],
      ['agent', 'a', 'delete', 2, null],
      ['agent', 'a', 'change', 1, 2],
      ['agent', 'a', 'create', null, 1],
    ])
    assert.deepEqual(await all(store, other), [])
  })

  check('a database does not begin with its records', async (store) => {
    await add(store, row('x'), 'b')
    assert.deepEqual(await store.listDatabases(), [])
  })
}

/** Registers the tests of records on two stores with the same content. */
export function checkSharedRecords(check: CheckTwo): void {
  check('a record that one store added is at once in the other, and of one id there is one', async (first, second) => {
    const both = await Promise.all([first, second].map((store) => add(store, row('x'))))
    assert.deepEqual(both.toSorted(), [false, true])
    assert.deepEqual(await all(second), [row('x')])
    assert.deepEqual(await all(first), [row('x')])
  })
}
