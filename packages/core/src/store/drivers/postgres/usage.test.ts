/** Usage that waits to be added to the sums: counted once at every moment, whoever adds it, and at a cost that does not grow. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry } from '@witan/protocol/entries'
import { asAdmin, freshSchema } from '../../../../../../test/postgres/support/stores.ts'
import { conversation, database, entry } from '../../../testing/conformance/store-fixtures.ts'
import { usageSql } from '../../sql/postgres/usage.ts'
import type { Store } from '../../store.ts'
import { postgresStore } from '../postgres.ts'
import { inSchema } from './statements.ts'

function reply(agent: string): Entry {
  const usage = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, reasoningTokens: 0, costUsd: 0.1 }
  const body = { model: 'm', usage, finishReason: 'stop', text: '', toolCalls: [], taken: 0, startedAt: 0, attempt: 1 }
  const plain = entry('x')
  return { ...plain, type: 'end', kind: 'model', body, place: { ...plain.place, author: agent } } as unknown as Entry
}

async function use(store: Store, id: string, agents: readonly string[]): Promise<void> {
  const append = {
    database,
    conversation: id,
    create: conversation(id),
    entries: agents.map(reply),
    usedBy: 'user:anna',
  }
  assert.ok((await store.append(append)).ok)
}

async function sumsOf(store: Store, by: 'agent' | 'user' = 'agent') {
  const rows = await store.listUsage(database, { by, after: null, limit: 100 })
  return rows.map(({ key, modelCalls, costUsd }) => [key, modelCalls, costUsd])
}

test('what a process left that was killed is counted, and added once by the next that writes', async (context) => {
  const place = await freshSchema(context)
  const waiting = () =>
    asAdmin(place.url, async (admin) => {
      const { rows } = await admin.query(`select count(*)::integer as count from "${place.schema}".usage_waiting`)
      return rows[0].count as number
    })
  const first = postgresStore(place)
  await first.open()
  await use(first, 'chats/1', ['a', 'a', 'b\u0000"'])
  await first.close()
  assert.equal(await waiting(), 1, 'it closed before it added')
  const second = postgresStore(place)
  await second.open()
  context.after(() => second.close())
  const before = [
    ['a', 2, 0.2],
    ['b\u0000"', 1, 0.1],
  ]
  assert.deepEqual(await sumsOf(second), before)
  await second.deleteConversation(database, 'chats/1')
  assert.deepEqual(await sumsOf(second), before)
  await use(second, 'chats/2', ['a'])
  const after = [
    ['a', 3, 0.2 + 0.1],
    ['b\u0000"', 1, 0.1],
  ]
  for (const until = Date.now() + 20_000; (await waiting()) > 0; ) {
    assert.deepEqual(await sumsOf(second), after)
    assert.ok(Date.now() < until, 'nobody adds it')
  }
  assert.deepEqual(await sumsOf(second), after)
  assert.deepEqual(await sumsOf(second, 'user'), [['user:anna', 4, 0.1 + 0.2 + 0.1]])
})

test('several stores add at once, and nothing counts twice or not at all', async (context) => {
  const place = await freshSchema(context)
  const stores = [postgresStore(place), postgresStore(place)]
  for (const store of stores) await store.open()
  context.after(() => Promise.all(stores.map((store) => store.close())))
  const adding = asAdmin(place.url, async (admin) => {
    const sql = inSchema(usageSql.addWaiting, place.schema)
    for (let turn = 0; turn < 200; turn += 1) await admin.query(sql, [database, 3])
  })
  await Promise.all(
    stores.map(async (store, which) => {
      for (let index = 0; index < 100; index += 1) await use(store, `chats/${which}-${index}`, ['a'])
    }),
  )
  await adding
  for (const store of stores)
    assert.deepEqual(
      (await sumsOf(store)).map(([key, calls]) => [key, calls]),
      [['a', 200]],
    )
})

test('a page of usage reads as much beside 20,000 sums and 500 waiting rows as it shows, and what waits', async (context) => {
  const place = await freshSchema(context)
  const store = postgresStore(place)
  await store.open()
  context.after(() => store.close())
  const sums = JSON.stringify([['agent', 'w', 1, [1, 0, 0, 0, 0, 0, 0, 0, 0, 0], null]])
  await asAdmin(place.url, async (admin) => {
    await admin.query(`insert into "${place.schema}".usage
      select 'default', 'agent', 'k' || i, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, null from generate_series(1, 20000) i`)
    await admin.query(`insert into "${place.schema}".usage_waiting (database, sums)
      select 'default', '${sums}' from generate_series(1, 500)`)
    await admin.query(`analyze "${place.schema}".usage, "${place.schema}".usage_waiting`)
    const explain = `explain (analyze, buffers, format json) ${inSchema(usageSql.listUsage, place.schema)}`
    const { rows } = await admin.query(explain, [database, 'agent', '', 0, 50])
    const { Plan: plan } = rows[0]['QUERY PLAN'][0]
    const buffers = plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
    context.diagnostic(`${buffers} buffers`)
    assert.equal(plan['Actual Rows'], 50)
    assert.ok(buffers <= 60, `a page read ${buffers} buffers`)
  })
})
