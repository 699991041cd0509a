/** Runs on PostgreSQL: a page of them costs no look at tasks, also on a schema that was made before there was an index for it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordTables } from '../../record-tables.ts'
import { asAdmin, freshSchema } from '../../../../../../test/postgres/support/stores.ts'
import { addJob, begin, by, database, entry, idsOf, newJob, rest } from '../../../testing/conformance/store-fixtures.ts'
import { jobSql, runsOfSql } from '../../sql/postgres/jobs.ts'
import { migrations } from '../../sql/postgres/schema.ts'
import type { Store } from '../../store.ts'
import { type PostgresStoreOptions, postgresStore } from '../postgres.ts'

const at = 'chats/1'

/** Three runs, with six hundred tasks behind each of them. */
async function fill(store: Store): Promise<void> {
  for (const id of ['j1', 'j2', 'j3']) {
    const run = id === 'j1' ? await begin(store, { id, in: at }) : await addJob(store, { id, in: at })
    const tasks = Array.from({ length: 600 }, (_, index) =>
      newJob({ id: `t ${id} ${index}`, kind: 'task', owner: null }),
    )
    assert.ok((await store.append({ ...by(run), entries: [entry('spawn')], jobs: [...tasks, rest(id)] })).ok)
  }
}

/** What the server plans for a statement on that schema, as text. */
async function planOf({ url, schema }: PostgresStoreOptions, sql: string, values: readonly unknown[]): Promise<string> {
  return asAdmin(url, async (client) => {
    await client.query(`analyze "${schema}".jobs, "${schema}".ended_runs`)
    const { rows } = await client.query(`explain ${sql.replaceAll('{s}', `"${schema}"`)}`, [...values])
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  })
}

test('pages of runs, and their number, are read from an index that has no tasks', async (context) => {
  const place = await freshSchema(context)
  const store = postgresStore(place)
  await store.open()
  context.after(() => store.close())
  await fill(store)
  assert.deepEqual(idsOf(await store.listRuns(database, at, { limit: 2, after: 'j3' })), ['j2', 'j1'])
  assert.equal(await store.countRuns(database, at), 3)
  assert.match(await planOf(place, jobSql.listRuns, [database, at, 1e9, 50]), /jobs_runs/)
  assert.match(await planOf(place, jobSql.countRuns, [database, at]), /jobs_runs/)
  await asAdmin(place.url, (client) =>
    client.query(`insert into "${place.schema}".ended_runs (database, maker, changed_at, id)
      select '${database}', 'user:bob', i, 'e' || i from generate_series(1, 5000) i`),
  )
  assert.match(await planOf(place, runsOfSql.lastLooked, [database, 'user:anna', 1e9, '', 50]), /ended_runs_pkey/)
})

test('a schema of the version before, with what is in it, is brought up to date', async (context) => {
  const place = await freshSchema(context)
  const old = postgresStore(place)
  await old.open()
  await fill(old)
  const before = migrations.findIndex(({ sql }) => sql.includes('jobs_runs'))
  await asAdmin(place.url, async (client) => {
    await client.query(`drop index "${place.schema}".jobs_runs`)
    await client.query(`drop table "${place.schema}".notice_key`) // which a later step makes
    const later = [
      'contents',
      'content_uses',
      'participants',
      'artifacts',
      'usage',
      'usage_waiting',
      'live_jobs',
      'ended_runs',
      ...recordTables.map(({ name }) => name),
    ].map((table) => `"${place.schema}".${table}`)
    await client.query(`drop table ${later.join(', ')}`) // likewise
    await client.query(`alter table "${place.schema}".agent_revisions drop column changed`)
    await client.query(
      `alter table "${place.schema}".jobs drop column maker, drop column changed_at, add column due_at bigint`,
    )
    await client.query(`update "${place.schema}".schema_version set version = $1`, [before])
  })
  const store = postgresStore(place)
  await store.open()
  context.after(() => store.close())
  assert.deepEqual(idsOf(await store.listRuns(database, at, { limit: 9, after: null })), ['j3', 'j2', 'j1'])
  const createdBy = (await store.getConversation(database, at))?.createdBy ?? ''
  const of = { createdBy, agents: null, conversation: at, live: null, status: null, since: null, look: 9 }
  assert.deepEqual(idsOf((await store.listRunsOf(database, { ...of, limit: 9, after: null })).rows), ['j3', 'j2', 'j1'])
  assert.deepEqual(idsOf(await old.listRuns(database, at, { limit: 9, after: 'j2' })), ['j1'], 'the old one goes on')
  await old.close()
  const { rows } = await asAdmin(place.url, (client) =>
    client.query(`select version, works_from from "${place.schema}".schema_version`),
  )
  assert.deepEqual(rows, [{ version: migrations.length, works_from: migrations.at(-1)?.worksFrom }])
})
