/** Conformance of stores: API keys, found by digest in all databases and otherwise only in their own. */
import assert from 'node:assert/strict'
import { findKeys, keyTable, listKeys, putKey, useKeys } from '../../store/keys.ts'
import type { Check, CheckTwo } from './store-fixtures.ts'
import { database, future, idsOf, key, past, wholePage } from './store-fixtures.ts'

const other = 'other'
const digestsOf = (rows: readonly { readonly digest: string }[]) => rows.map(({ digest }) => digest).sort()

/** Registers the tests of keys. */
export function checkKeys(check: Check): void {
  check('a key is found by its digest, whatever its database', async (store) => {
    const full = key('k2', { database: other, name: 'Anna’s ☔', address: '@anna@example.com', expiresAt: future })
    const plain = key('k1', { holder: null, roles: [] })
    for (const row of [plain, full]) assert.equal(await putKey(store, row), true)
    assert.deepEqual(await findKeys(store, [plain.digest]), [plain])
    assert.deepEqual(await findKeys(store, [full.digest, 'sha256:none']), [full])
    assert.deepEqual(
      digestsOf(await findKeys(store, [full.digest, plain.digest, full.digest])),
      digestsOf([plain, full]),
    )
    for (const none of [[], ['sha256:none'], ['k1'], [''], ['%'], [`${plain.digest},${full.digest}`]])
      assert.deepEqual(await findKeys(store, none), [])
  })

  check('an expired key is found too: its reader decides', async (store) => {
    const over = key('k1', { expiresAt: past })
    await putKey(store, over)
    assert.deepEqual(await findKeys(store, [over.digest]), [over])
    assert.deepEqual(await listKeys(store, database, wholePage), [over])
  })

  check('an id is taken once in a database, a digest once in the store', async (store) => {
    assert.equal(await putKey(store, key('k1')), true)
    assert.equal(await putKey(store, key('k1', { digest: 'sha256:new', roles: ['admin'] })), false)
    assert.equal(await putKey(store, key('k2', { digest: 'sha256:k1' })), false)
    assert.equal(await putKey(store, key('k2', { digest: 'sha256:k1', database: other })), false)
    assert.equal(await putKey(store, key('k1', { digest: 'sha256:new', database: other })), true)
    assert.deepEqual(await listKeys(store, database, wholePage), [key('k1')])
    const twice = await Promise.all([1, 2, 3].map((round) => putKey(store, key('k9', { digest: `sha256:${round}` }))))
    assert.deepEqual(twice.filter((one) => one).length, 1)
  })

  check('keys are listed by database, the latest first, page by page', async (store) => {
    for (const id of ['b', 'a', 'd', 'c']) await putKey(store, key(id))
    await putKey(store, key('x', { database: other }))
    const page = async (limit: number, after: string | null, at = database) =>
      idsOf(await listKeys(store, at, { limit, after }))
    assert.deepEqual(await page(3, null), ['c', 'd', 'a'])
    assert.deepEqual(await page(3, 'a'), ['b'])
    assert.deepEqual(await page(3, 'b'), [])
    assert.deepEqual(await page(3, null, other), ['x'])
    assert.deepEqual(await page(3, null, 'nobody'), [])
    for (const gone of ['none', 'x']) await assert.rejects(page(3, gone), { code: 'BODY_INVALID' })
  })

  check('a deleted key is gone; no other database can delete it', async (store) => {
    await putKey(store, key('k1'))
    assert.equal(await store.deleteRecord(other, { table: keyTable, id: 'k1' }), false)
    assert.equal(await store.deleteRecord(database, { table: keyTable, id: 'none' }), false)
    assert.deepEqual(await findKeys(store, ['sha256:k1']), [key('k1')])
    const both = await Promise.all([
      store.deleteRecord(database, { table: keyTable, id: 'k1' }),
      store.deleteRecord(database, { table: keyTable, id: 'k1' }),
    ])
    assert.deepEqual([...both].sort(), [false, true])
    assert.deepEqual(await findKeys(store, ['sha256:k1']), [])
    assert.deepEqual(await listKeys(store, database, wholePage), [])
    assert.equal(await putKey(store, key('k1')), true)
  })

  checkUses(check)
}

function checkUses(check: Check): void {
  check('the last use of a key only moves on, and never makes a key', async (store) => {
    await putKey(store, key('k1'))
    await putKey(store, key('k1', { database: other, digest: 'sha256:o' }))
    const use = (id: string, at: number) => ({ database, id, at })
    await useKeys(store, [use('k1', 500), use('none', 500)])
    await useKeys(store, [use('k1', 400)])
    await useKeys(store, [])
    assert.deepEqual(await listKeys(store, database, wholePage), [key('k1', { lastUsedAt: 500 })])
    assert.deepEqual(await findKeys(store, ['sha256:o']), [key('k1', { database: other, digest: 'sha256:o' })])
    await useKeys(store, [use('k1', 600), { ...use('k1', 700), database: other }])
    assert.equal((await findKeys(store, ['sha256:k1']))[0]?.lastUsedAt, 600)
    assert.equal((await findKeys(store, ['sha256:o']))[0]?.lastUsedAt, 700)
  })

  check('a database begins with its first key', async (store) => {
    await putKey(store, key('k1', { database: 'b' }))
    assert.deepEqual(await store.listDatabases(), ['b'])
    await store.deleteRecord('b', { table: keyTable, id: 'k1' })
    assert.deepEqual(await store.listDatabases(), [])
  })
}

/** Registers the tests of keys on two stores with the same content. */
export function checkSharedKeys(check: CheckTwo): void {
  check('a key that one store made or deleted is at once so in the other', async (first, second) => {
    await putKey(first, key('k1'))
    assert.deepEqual(await findKeys(second, ['sha256:k1']), [key('k1')])
    await Promise.all([first, second].map((store) => useKeys(store, [{ database, id: 'k1', at: 900 }])))
    assert.equal((await findKeys(first, ['sha256:k1']))[0]?.lastUsedAt, 900)
    assert.equal(await second.deleteRecord(database, { table: keyTable, id: 'k1' }), true)
    assert.deepEqual(await findKeys(first, ['sha256:k1']), [])
  })
}
