/** PgBouncer in session mode: the plain configuration works, and time-outs hold there too. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postgresStore } from '@witan/core'
import pg from 'pg'
import { asAdmin, freshSchema } from '../postgres/support/stores.ts'
import { settingsInside } from './support/inside.ts'
import { startBouncer } from './support/pgbouncer.ts'
import { talkInTwo } from './support/processes.ts'

test('two processes on one pooler work, notify each other, and every transaction has its time-outs', async (context) => {
  const { url, schema } = await freshSchema(context)
  const place = { url: await startBouncer(context, { mode: 'session', url, size: 40 }), schema }
  const inside = settingsInside()
  context.after(() => inside.end())
  assert.deepEqual(await talkInTwo(place, 20), ['Noted.'])
  assert.deepEqual([...inside.seen], ['3s 3s 1min off'])
})

test('a transaction whose process falls silent is ended behind the pooler too', async (context) => {
  const { url, schema } = await freshSchema(context)
  const through = await startBouncer(context, { mode: 'session', url })
  const store = postgresStore({ url: through, schema, timeouts: { silentMs: 300 } })
  await store.open()
  type Query = (config: unknown, ...rest: unknown[]) => unknown
  const client = pg.Client.prototype as unknown as { query: Query }
  const { query } = client
  context.after(() => Object.assign(client, { query }))
  const isFrozen = Promise.withResolvers<(error: Error) => void>()
  client.query = function (this: unknown, config, ...rest) {
    if ((config as { text?: string }).text !== 'commit') return query.call(this, config, ...rest)
    Object.assign(client, { query })
    return new Promise((_, reject) => isFrozen.resolve(reject)) // as a process that is frozen before it commits
  }
  const listed = store.listDatabases()
  const thaw = await isFrozen.promise
  const idle = `select count(*)::int as n from pg_stat_activity
    where state like 'idle in transaction%' and query like '%"${schema}"%'`
  const count = () => asAdmin(url, async (admin) => (await admin.query(idle)).rows[0].n as number)
  const from = performance.now()
  while ((await count()) > 0) assert.ok(performance.now() - from < 10_000, 'it still holds its transaction')
  thaw(new Error('Connection terminated unexpectedly'))
  assert.deepEqual(await listed, [])
  await store.close()
})
