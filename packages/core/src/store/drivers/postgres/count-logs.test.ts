/** The usage in logs of earlier versions, on PostgreSQL. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { recordTables } from '../../record-tables.ts'
import { asAdmin, freshSchema } from '../../../../../../test/postgres/support/stores.ts'
import { assertCounted, uncounted } from '../../../testing/conformance/store-usage.ts'
import { database, start } from '../../../testing/conformance/store-fixtures.ts'
import { migrations, usageVersion } from '../../sql/postgres/schema.ts'
import { postgresStore } from '../postgres.ts'

/** A schema as an earlier version left it, with a run whose usage is in the log only. */
async function oldSchema(context: TestContext, version = usageVersion - 1) {
  const place = await freshSchema(context)
  const { url, schema } = place
  const store = postgresStore(place)
  await store.open()
  await uncounted(store)
  await start(store, 'chats/2')
  await store.close()
  await asAdmin(url, async (client) => {
    if (version < usageVersion) {
      const later = [
        'usage',
        'usage_waiting',
        ...recordTables.flatMap(({ name, since }) => (since === null ? [] : [name])),
      ]
      await client.query(`drop table ${later.map((table) => `"${schema}".${table}`).join(', ')}`)
      await client.query(`alter table "${schema}".agent_revisions drop column changed`)
    }
    await client.query(`drop table "${schema}".live_jobs, "${schema}".ended_runs`)
    await client.query(
      `alter table "${schema}".jobs drop column maker, drop column changed_at, add column due_at bigint`,
    )
    await client.query(`update "${schema}".schema_version set version = $1, works_from = $1`, [version])
  })
  return place
}

test('the usage in the logs of an earlier version is counted once, when its schema is brought up to date [T27]', async (context) => {
  const place = await oldSchema(context)
  const stores = [postgresStore(place), postgresStore(place)]
  await Promise.all(stores.map((store) => store.open()))
  for (const store of stores) {
    await assertCounted(store)
    await store.close()
  }
})

for (const version of [usageVersion - 1, migrations.findIndex(({ sql }) => sql.includes('jobs_by_maker'))])
  test(`a user of the server who is no superuser brings version ${version} up to date, and is kept out again`, async (context) => {
    const { schema, ...place } = await oldSchema(context, version)
    const user = `${schema}_owner`
    const sql = [
      `create role "${user}" login nosuperuser password 'x'`,
      `grant "${schema}_app", "${schema}_worker" to "${user}" with admin option`,
      `alter schema "${schema}" owner to "${user}"`,
      `grant create on database postgres to "${user}"`,
    ]
    await asAdmin(place.url, async (client) => {
      for (const one of sql) await client.query(one)
      const { rows } = await client.query('select tablename from pg_tables where schemaname = $1', [schema])
      for (const { tablename } of rows) await client.query(`alter table "${schema}"."${tablename}" owner to "${user}"`)
    })
    context.after(() =>
      asAdmin(place.url, async (client) => {
        await client.query(`drop owned by "${user}" cascade`)
        await client.query(`drop role "${user}"`)
      }),
    )
    const url = new URL(place.url)
    Object.assign(url, { username: user, password: 'x' })
    const store = postgresStore({ ...place, schema, url: url.href })
    await store.open()
    if (version < usageVersion) await assertCounted(store, database)
    await store.close()
    const jobs = await asAdmin(place.url, (client) =>
      client.query(`select id from "${schema}".jobs where maker is null or changed_at is null`),
    )
    assert.deepEqual(jobs.rows, [], 'every run is in the list of who began it')
    const { rows } = await asAdmin(place.url, (client) =>
      client.query(
        `select relname from pg_class where relnamespace = $1::regnamespace and relkind = 'r' and not relforcerowsecurity`,
        [`"${schema}"`],
      ),
    )
    assert.deepEqual(rows.map(({ relname }) => relname).toSorted(), ['notice_key', 'schema_version'])
  })
