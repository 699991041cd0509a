/** PgBouncer in transaction mode: refused by name, or used with `listenUrl`; nothing of ours stays on a connection. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createPostgresSource, postgresStore } from '@witan/core'
import { inspectStoreServer } from '@witan/core/tooling'
import { isWitanError } from '@witan/protocol'
import { testServer } from '../postgres/support/server.ts'
import { asAdmin, freshSchema } from '../postgres/support/stores.ts'
import { settingsInside } from './support/inside.ts'
import { leftBehind, startBouncer, untouched } from './support/pgbouncer.ts'
import { talkInTwo } from './support/processes.ts'

async function assertUntouched(through: string): Promise<void> {
  const found = await leftBehind(through)
  const { jit: _, 'witan.database': database, ...rest } = found
  assert.deepEqual([rest, database ?? ''], [untouched, ''])
}

for (const size of [2, 8])
  test(`it is refused by name, with what to do, and nothing stays behind: ${size} connections`, async (context) => {
    const { url, schema } = await freshSchema(context)
    const through = await startBouncer(context, { mode: 'transaction', url, size })
    for (const place of [{ url: through }, { url: through, listenUrl: through }])
      await assert.rejects(postgresStore({ ...place, schema }).open(), (error) => {
        assert.ok(isWitanError(error))
        assert.equal(error.code, 'STORE_UNREACHABLE')
        assert.match(`${error.message} ${error.hint}`, /pooler.*transaction.*listenUrl/s)
        return true
      })
    await assertUntouched(through)
    assert.deepEqual(
      await asAdmin(
        url,
        async (admin) => (await admin.query('select 1 from pg_namespace where nspname = $1', [schema])).rows,
      ),
      [],
      'nothing was made',
    )
  })

test('with a separate address for listening two processes work through it, notified, with time-outs in every transaction', async (context) => {
  const { url, schema } = await freshSchema(context)
  const through = await startBouncer(context, { mode: 'transaction', url, size: 4 })
  const place = { url: through, listenUrl: url, schema }
  const inside = settingsInside()
  context.after(() => inside.end())
  assert.deepEqual(await talkInTwo(place, 40), ['Noted.'])
  assert.deepEqual([...inside.seen], ['3s 3s 1min off'])
  await assertUntouched(through)
})

test('content is read through it in binary, byte for byte, by many at once', async (context) => {
  const { url, schema } = await freshSchema(context)
  const through = await startBouncer(context, { mode: 'transaction', url, size: 3 })
  const store = postgresStore({ url: through, listenUrl: url, schema })
  await store.open()
  context.after(() => store.close())
  const [database, id, digest] = ['default', 'chats/1', 'd1']
  const bytes = new Uint8Array(randomBytes(700_000))
  await store.putContent(database, digest, bytes)
  const row = { database, id, agent: 'a', createdBy: 'user:a', createdAt: 1, lastMessageAt: 1, lastSeq: 0 }
  const create = { ...row, parameters: {}, maxModelIterationsPerCall: null, expiresAt: null }
  const contents = [{ digest, mediaType: 'image/png', name: null }]
  assert.ok((await store.append({ database, conversation: id, create, entries: [], contents })).ok)
  const read = await Promise.all(Array.from({ length: 8 }, () => store.readContent(database, id, digest)))
  for (const one of read) assert.ok(one !== null && Buffer.from(one.bytes).equals(bytes))
  assert.equal(await store.readContent(database, id, 'none'), null)
})

test('an address for listening that leads to another database is refused', async (context) => {
  const server = await testServer()
  const name = `${(await freshSchema(context)).schema}_other`
  await asAdmin(server, (admin) => admin.query(`create database "${name}"`))
  context.after(() => asAdmin(server, (admin) => admin.query(`drop database "${name}" with (force)`)))
  const { schema } = await freshSchema(context)
  const through = await startBouncer(context, { mode: 'transaction', url: server })
  const straight = postgresStore({ url: server, schema })
  await straight.open()
  await straight.close()
  const elsewhere = new URL(server)
  elsewhere.pathname = `/${name}`
  await assert.rejects(postgresStore({ url: through, listenUrl: elsewhere.href, schema }).open(), (error) => {
    assert.ok(isWitanError(error))
    assert.match(error.message, /listenUrl.*another/)
    return true
  })
})

test('a source of queries leaves nothing behind: the next client of its connection writes', async (context) => {
  const { url, schema } = await freshSchema(context)
  const through = await startBouncer(context, { mode: 'transaction', url, size: 1 })
  const source = createPostgresSource({ url: through })
  context.after(() => source.close())
  const run = (sql: string) => source.run({ sql, bindings: new Map() }, { signal: new AbortController().signal })
  for (const sql of ['select 1 as a', 'select 1 / 0 as a', 'select nothing', 'select pg_sleep(9)']) {
    await source.check(sql)
    await run(sql)
    await assertUntouched(through)
    await asAdmin(through, (admin) => admin.query(`create schema "${schema}"; drop schema "${schema}"`))
  }
})

test('what `witan doctor` asks refuses what `serve` would refuse, and leaves nothing behind', async (context) => {
  const { url, schema } = await freshSchema(context)
  const through = await startBouncer(context, { mode: 'transaction', url, size: 4 })
  await assert.rejects(inspectStoreServer({ url: through, schema }), (error) => {
    assert.ok(isWitanError(error))
    assert.match(`${error.message} ${error.hint}`, /pooler.*transaction.*listenUrl/s)
    return true
  })
  const { version, connections } = await inspectStoreServer({ url: through, listenUrl: url, schema })
  assert.deepEqual([version, connections.free >= connections.needed], [0, true])
  await assertUntouched(through)
})
