/** Records on PostgreSQL: a page among 100,000 is read from an index in its order, whatever it asks for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asAdmin, freshSchema, openStore } from '../../../../../../test/postgres/support/stores.ts'
import { recordTables } from '../../record-tables.ts'
import { dialect } from '../../sql/postgres/schema.ts'
import { columnOf, recordStatements } from '../../sql/records.ts'

const count = 100_000
/** Every value of a filter stands in half of the rows, or only in the oldest ones. */
const [common, rare] = ['common', 'rare']

interface Plan {
  readonly 'Node Type': string
  readonly 'Rows Removed by Filter'?: number
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly 'Actual Rows': number
  readonly Plans?: readonly Plan[]
}

const nodesOf = (plan: Plan): readonly Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

for (const table of recordTables)
  test(`a page of ${table.name} among ${count.toLocaleString('en')} rows is read from an index in its order`, async (context) => {
    const place = await freshSchema(context)
    await openStore(context, place)
    const at = (sql: string) => sql.replaceAll('{s}', `"${place.schema}"`)
    const filtered = new Set<string>(table.filters)
    const values = Object.entries(table.columns).map(([name, type]) => {
      if (type.startsWith('integer')) return 'at'
      if (name === table.secret) return 'at::text'
      return filtered.has(name)
        ? `case when at <= 5 then '${rare}' when at % 2 = 0 then '${common}' else 'other' end`
        : `'x'`
    })
    const columns = Object.keys(table.columns).map(columnOf)
    const { lists } = recordStatements(dialect)(table)
    await asAdmin(place.url, async (client) => {
      await client.query(
        at(`insert into {s}.${table.name} (database, id, ${columns.join(', ')})
select case when at % 10 = 0 then 'second' else 'first' end, at::text, ${values.join(', ')} from generate_series(1, ${count}) as at`),
      )
      await client.query(at(`analyze {s}.${table.name}`))
      await client.query(`set role "${place.schema}_app"; set witan.database = 'first'`)
      for (const value of [common, rare, 'none'])
        for (const before of [Number.MAX_SAFE_INTEGER, count / 2])
          for (let set = 0; set < 2 ** table.filters.length; set += 1) {
            const filters = table.filters.filter((_, index) => (set & (2 ** index)) !== 0)
            const sql = `explain (analyze, buffers, format json) ${at(lists[set] ?? assert.fail())}`
            const { rows } = await client.query(sql, ['first', before, 50, ...filters.map(() => value)])
            const plan = rows[0]['QUERY PLAN'][0].Plan as Plan
            const what = `${filters.join()} ${value} before ${before}: ${JSON.stringify(plan)}`
            const nodes = nodesOf(plan)
            assert.deepEqual(
              nodes.filter((node) => !/^(Limit|Result|Index Scan)$/.test(node['Node Type'])),
              [],
              what,
            )
            assert.ok(
              nodes.every((node) => (node['Rows Removed by Filter'] ?? 0) === 0),
              what,
            )
            assert.ok(plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] <= 120, what)
            const most = value === common || filters.length === 0 ? 50 : value === rare ? 5 : 0
            assert.ok(plan['Actual Rows'] <= 50 && (most === 50) === (plan['Actual Rows'] === 50), what)
          }
    })
  })
