/** PostgreSQL through the conformance kit of stores. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postgresStore } from './postgres.ts'
import type { Store } from '../store.ts'
import { type StoreHarness, testStore } from '../../testing/conformance/store.ts'
import { begin, database, entry, newJob } from '../../testing/conformance/store-fixtures.ts'
import { testBlocksAgainstMemory } from '../../testing/conformance/store-block-random.ts'
import { testAgainstMemory } from '../../testing/conformance/store-random.ts'
import { emptySchema } from '../../../../../test/postgres/support/stores.ts'

const places = new WeakMap<Store, { url: string; schema: string }>()

async function openAt(place: { url: string; schema: string }): Promise<Store> {
  const store = postgresStore(place)
  await store.open()
  places.set(store, place)
  return store
}

const harness: StoreHarness = {
  name: 'postgres',
  open: async (context) => openAt(await emptySchema(context)),
  async reopen(store) {
    await store.close()
    return openAt(places.get(store) ?? assert.fail())
  },
  second: (store) => openAt(places.get(store) ?? assert.fail()),
}

testStore(harness)
testAgainstMemory(harness, 25)
testBlocksAgainstMemory(harness, 15)

test('postgres: eight claimers on two stores at once share nothing [D6]', async (context) => {
  const place = await emptySchema(context)
  const stores = [await openAt(place), await openAt(place)] as const
  const { conversation } = await begin(stores[0], { id: 'j1' })
  const claimers = Array.from({ length: 8 }, (_, index) => `w${index}`)
  const claim = (owner: string, index: number) =>
    stores[index % 2 === 0 ? 0 : 1].claimJobs({ owner, leaseMs: 600_000, limit: 5 })
  await Promise.all(claimers.map(claim)) // every connection is open
  for (let round = 0; round < 10; round += 1) {
    const ids = Array.from({ length: 60 }, (_, index) => `t${round} ${index}`)
    const jobs = ids.map((id) => newJob({ id, kind: 'task', owner: null }))
    assert.ok((await stores[0].append({ database, conversation, entries: [entry('spawn')], jobs })).ok)
    const taken: string[] = []
    while (taken.length < ids.length) {
      const claims = await Promise.all(claimers.map(claim))
      taken.push(...claims.flat().map(({ id }) => id))
    }
    assert.deepEqual(taken.toSorted(), ids.toSorted())
  }
  for (const store of stores) await store.close()
})
