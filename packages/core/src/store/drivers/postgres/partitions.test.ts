/** The statements of the docs that partition the entries by tenant: a store goes on with such a table. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { startServer } from '../../../../../../test/postgres/support/server.ts'
import { asAdmin } from '../../../../../../test/postgres/support/stores.ts'
import { entry, start, textsOf } from '../../../testing/conformance/store-fixtures.ts'
import { migrations } from '../../sql/postgres/schema.ts'
import { postgresStore } from '../postgres.ts'

const page = new URL('../../../../../../docs/concepts/archiving.md', import.meta.url)

test('a store goes on with entries that are partitioned by tenant, and is migrated with them', async (context) => {
  const [, sql = ''] = /```sql\n([\s\S]*?)```/.exec(await readFile(page, 'utf8')) ?? []
  assert.match(sql, /partition by list/)
  const server = await startServer()
  context.after(() => server.stop('fast'))
  const open = async () => {
    const store = postgresStore({ url: server.url })
    await store.open()
    return store
  }
  const before = await open()
  await start(before, 'chats/1')
  await before.close()
  const { version, worksFrom } = { version: migrations.length - 1, worksFrom: migrations.at(-2)?.worksFrom ?? 0 }
  await asAdmin(server.url, async (admin) => {
    await admin.query(sql)
    await admin.query('update witan.schema_version set version = $1, works_from = $2', [version, worksFrom])
  })
  const store = await open()
  context.after(() => store.close())
  const said = { conversation: 'chats/1', entries: [entry('more')] }
  assert.ok((await store.append({ ...said, database: 'default' })).ok)
  assert.deepEqual(await textsOf(store, 'chats/1'), ['hello', 'more'])
  const row = (await store.getConversation('default', 'chats/1')) ?? assert.fail()
  const create = { ...row, database: 'acme', lastSeq: 0 }
  assert.ok((await store.append({ ...said, database: 'acme', create })).ok)
  assert.ok(await store.deleteConversation('default', 'chats/1'))
  const sums = 'select tableoid::regclass::text as part, count(*)::integer as rows from witan.entries group by 1'
  const { rows } = await asAdmin(server.url, (admin) => admin.query(sums))
  assert.deepEqual(rows, [{ part: 'witan.entries_acme', rows: 1 }])
})
