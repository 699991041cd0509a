/** Updates of jobs change no column of an index, so PostgreSQL writes them in place: of every kind, counted by the server itself. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asAdmin, freshSchema } from '../../../../../../test/postgres/support/stores.ts'
import { begin, by, database, entry, rest } from '../../../testing/conformance/store-fixtures.ts'
import type { JobRow, Store } from '../../store.ts'
import { postgresStore } from '../postgres.ts'

const lease = { owner: 'w2', leaseMs: 600_000, limit: 1 }

/** What is done to a job that `w1` has, by kind; each leaves it ended. */
const lives: Readonly<Record<string, (store: Store, job: JobRow) => Promise<void>>> = {
  'it ends': end,
  'its lease is renewed': async (store, job) => {
    assert.equal((await store.heartbeat('w1', [job], 600_000)).length, 1)
    await end(store, job)
  },
  'it waits and is woken': async (store, job) => {
    await change(store, job, [rest(job.id, 'waiting')])
    const woken = { kind: 'wake', id: job.id, owner: 'w1', leaseMs: 600_000 } as const
    const { conversation } = job
    const result = await store.append({ database, conversation, entries: [entry('go on')], jobs: [woken] })
    await end(store, (result.ok && result.jobs[0]) || assert.fail())
  },
  'it is given back and claimed': async (store, job) => {
    await store.releaseJobs('w1', [job])
    const [claimed] = await store.claimJobs(lease)
    await end(store, claimed ?? assert.fail())
  },
  'it is given back with all others': async (store) => {
    await store.releaseJobs('w1')
    const [claimed] = await store.claimJobs(lease)
    await end(store, claimed ?? assert.fail())
  },
  'it waits for nothing and is found': async (store, job) => {
    await change(store, job, [rest(job.id, 'waiting')])
    assert.equal((await store.wakeStranded(null, 50)).woken, 1)
    const [claimed] = await store.claimJobs(lease)
    await end(store, claimed ?? assert.fail())
  },
}

async function change(store: Store, job: JobRow, jobs: readonly ReturnType<typeof rest>[]): Promise<void> {
  assert.ok((await store.append({ ...by(job), entries: [entry('x')], jobs })).ok)
}

async function end(store: Store, job: JobRow): Promise<void> {
  await change(store, job, [rest(job.id)])
}

for (const [name, live] of Object.entries(lives))
  test(`nearly all updates of jobs are HOT when ${name}`, async (context) => {
    const place = await freshSchema(context)
    const store = postgresStore(place)
    await store.open()
    for (let index = 0; index < 40; index += 1) await live(store, await begin(store, { id: `j${index}` }))
    await store.close()
    await asAdmin(place.url, async (admin) => {
      const sql = 'select n_tup_upd::integer as updates, n_tup_hot_upd::integer as hot from pg_stat_user_tables'
      const of = `where schemaname = '${place.schema}' and relname = 'jobs'`
      const counted = async () => (await admin.query(`${sql} ${of}`)).rows[0] as { updates: number; hot: number }
      let { updates, hot } = await counted()
      for (const until = Date.now() + 20_000; updates < 40 && Date.now() < until; ) ({ updates, hot } = await counted())
      context.diagnostic(`${updates} updates, ${hot} of them HOT`)
      assert.ok(updates >= 40 && hot >= updates * 0.9, `${updates} updates, ${hot} of them HOT`)
      const { rows } = await admin.query(`select count(*)::integer as live from "${place.schema}".live_jobs`)
      assert.deepEqual(rows, [{ live: 0 }])
      const ended = await admin.query(`select count(*)::integer as runs from "${place.schema}".ended_runs`)
      assert.deepEqual(ended.rows, [{ runs: 40 }])
    })
  })
