/** The worker's looks: what they read does not grow with what is due, or with what something keeps. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from 'pg'
import { asAdmin, openStore } from '../../../../../../test/postgres/support/stores.ts'
import { conversation, database, start } from '../../../testing/conformance/store-fixtures.ts'
import { logSql } from '../../sql/postgres/log.ts'
import { workerSql } from '../../sql/postgres/jobs.ts'
import { testServer } from '../../../../../../test/postgres/support/server.ts'
import { inSchema } from './statements.ts'

const usual = 'looks'
const schema = usual
const values = { claim: ['me', 15_000, 8], over: [-1, -1, 25] }

/** How many buffers a statement of the worker reads, and how many rows it returns. Nothing of it stays. */
async function cost(
  client: Client,
  sql: string,
  { given, schema = usual }: { readonly given: readonly unknown[]; readonly schema?: string },
): Promise<{ buffers: number; rows: number }> {
  await client.query('begin')
  await client.query(`set local role "${schema}_worker"`)
  const explain = `explain (analyze, buffers, format json) ${inSchema(sql, schema)}`
  const { rows } = await client.query({ text: explain, values: [...given] })
  await client.query('rollback')
  const { Plan: plan } = rows[0]['QUERY PLAN'][0]
  return { buffers: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], rows: plan['Actual Rows'] }
}

test('claiming beside 5,000 due jobs and looking beside 3,000 kept conversations read what they find', async (context) => {
  const url = await testServer()
  const store = await openStore(context, { url, schema })
  context.after(() => asAdmin(url, (admin) => admin.query(`drop schema ${schema} cascade`)))
  await asAdmin(url, async (admin) => {
    await admin.query(`insert into ${schema}.conversations
      (database, id, agent, created_by, created_at, last_message_at, last_seq, parameters, expires_at)
      select 'default', 'kept/' || i, 'a', 'u', 0, 0, 1, '{}', 1000 from generate_series(1, 3000) i`)
    await admin.query(`insert into ${schema}.jobs (database, id, conversation, kind, status, owner, epoch, lease_until, wake,
        attempts, created_at, first_seq, about, result, changed_at)
      select 'default', 'due' || i, 'kept/' || 1 + i % 3000, 'run', 'running', null, 0, 0, true, 0, 0, 1, repeat('x', 300),
        'null', 0 from generate_series(1, 5000) i order by random()`)
    await admin.query(`insert into ${schema}.live_jobs (database, conversation, number, id, kind, created_at, due_at)
      select database, conversation, number, id, kind, created_at, 0 from ${schema}.jobs`)
    await admin.query(`analyze ${schema}.jobs, ${schema}.live_jobs, ${schema}.conversations`)
    const claimed = await cost(admin, workerSql.claimJobs, { given: values.claim })
    assert.equal(claimed.rows, 8)
    assert.ok(claimed.buffers <= 250, `claiming eight of 5,000 read ${claimed.buffers} buffers, their updates included`)
    const looked = await cost(admin, logSql.overConversations, { given: values.over })
    assert.ok(looked.buffers <= 200, `a look beside 3,000 kept conversations read ${looked.buffers} buffers`)
  })
  const create = conversation('gone', { expiresAt: 2000 })
  await store.append({ database, conversation: 'gone', create, entries: [] })
  let looks = 0
  for (let found = 0; found === 0; looks += 1) found = (await store.sweepConversations(100)).length
  assert.equal(looks, 1 + 3000 / 25, 'each look goes on where the last one ended')
  await store.close()
})

test('a look beside 1,000 runs that ended behind an old snapshot reads at most 100 buffers', async (context) => {
  const url = await testServer()
  const place = { url, schema: 'looks_old' }
  const store = await openStore(context, place)
  context.after(() => asAdmin(url, (admin) => admin.query(`drop schema ${place.schema} cascade`)))
  await start(store, 'chats/1')
  await asAdmin(url, (old) =>
    asAdmin(url, async (admin) => {
      await old.query('begin isolation level repeatable read')
      await old.query(`select count(*) from ${place.schema}.jobs`)
      for (let index = 0; index < 1_000; index += 1) {
        const at = Date.now() - 60_000 + index
        await admin.query(`insert into ${place.schema}.jobs (database, id, conversation, kind, status, owner, epoch, lease_until,
            wake, attempts, created_at, first_seq, about, result, changed_at)
          values ('default', 'j${index}', 'chats/1', 'run', 'running', 'w', 1, ${at}, false, 1, 0, 1, '{}', 'null', 0)`)
        await admin.query(`insert into ${place.schema}.live_jobs (database, conversation, number, id, kind, created_at, due_at)
          select database, conversation, number, id, kind, created_at, lease_until from ${place.schema}.jobs where id = 'j${index}'`)
        await admin.query(`update ${place.schema}.jobs set owner = null, ended_at = ${at}, result = repeat('x', 300)
          where id = 'j${index}'`)
        await admin.query(`delete from ${place.schema}.live_jobs where id = 'j${index}'`)
      }
      const claimed = await cost(admin, workerSql.claimJobs, { given: values.claim, schema: place.schema })
      context.diagnostic(`claiming read ${claimed.buffers} buffers`)
      assert.equal(claimed.rows, 0)
      assert.ok(claimed.buffers <= 100, `claiming read ${claimed.buffers} buffers`)
      await old.query('rollback')
    }),
  )
})
