/** What a store does when what is stored may have gone back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asAdmin, freshSchema, openStore } from '../../../../../../test/postgres/support/stores.ts'
import { entry, start } from '../../../testing/conformance/store-fixtures.ts'
import { createHistories } from './history.ts'

test('another origin begins another history, also one that was there before', () => {
  let changes = 0
  const histories = createHistories(() => {
    changes += 1
  })
  const seen = ['a', 'a', 'b', 'b', 'a'].map((origin) => {
    histories.observe(origin)
    return histories.current()
  })
  assert.deepEqual(seen, [0, 0, 1, 1, 2])
  assert.deepEqual([histories.of('a'), histories.of('b'), changes], [2, 1, 2])
})

test('in a new history an append is decided on what it follows, and in the same one nothing is looked for', async (context) => {
  const { url, schema } = await freshSchema(context)
  const store = await openStore(context, { url, schema })
  await start(store, 'chats/1')
  const at = { database: 'default', conversation: 'chats/1' }
  const known = entry('known')
  await store.append({ ...at, entries: [known] })
  const history = store.history
  const change = (sql: string) => asAdmin(url, (client) => client.query(sql.replaceAll('{s}', `"${schema}"`)))
  const append = (follows: { history: number; entry: typeof known | null }) =>
    store.append({ ...at, follows, entries: [entry('more')] }).then((result) => (result.ok ? 'stored' : result.reason))
  assert.equal(await append({ history, entry: { ...known, at: known.at + 1 } }), 'stored', 'it is not looked for')
  await change('update {s}.schema_version set version = version')
  assert.equal(await append({ history, entry: { ...known, at: known.at + 1 } }), 'went-back')
  assert.equal(store.history, history + 1)
  assert.equal(await append({ history, entry: known }), 'stored')
  assert.equal(await append({ history, entry: null }), 'went-back', 'whoever knows nothing looks again')
  assert.equal(await append({ history: history + 1, entry: null }), 'stored')
})
