/** Conformance of stores: the runs of one conversation, page by page and counted, without its tasks. */
import assert from 'node:assert/strict'
import type { Store } from '../../store/store.ts'
import type { Check } from './store-fixtures.ts'
import { addJob, begin, by, change, database, idsOf, jobOf, rest, start } from './store-fixtures.ts'

const at = 'chats/1'

/** Creates ended runs with a task each, and a live run. Returns the ids in order. */
async function makeRuns(store: Store, count: number, conversation = at): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, (_, index) => `${conversation} j${(index * 5) % count}`)
  await start(store, conversation)
  for (const [index, id] of ids.entries()) {
    const run = await addJob(store, { id, in: conversation })
    await addJob(store, { id: `t ${id}`, kind: 'task', owner: null, in: conversation })
    if (index < count - 1) assert.ok((await store.append({ ...by(run), entries: [], jobs: [rest(id)] })).ok)
  }
  return ids
}

async function runs(store: Store, limit: number): Promise<readonly string[]> {
  const ids: string[] = []
  for (let after: string | null = null; ; ) {
    const page = await store.listRuns(database, at, { limit, after })
    ids.push(...idsOf(page))
    if (page.length < limit) return ids
    after = ids.at(-1) ?? null
  }
}

/** Registers the tests of the list of runs. */
export function checkRuns(check: Check): void {
  check(
    'runs of a conversation are listed newest first, page by page, without its tasks and those of others',
    async (store) => {
      await makeRuns(store, 3, 'chats/0')
      const ids = await makeRuns(store, 9)
      await makeRuns(store, 2, 'chats/2')
      for (const limit of [1, 2, 4, 9, 50]) assert.deepEqual(await runs(store, limit), ids.toReversed())
      assert.equal(await store.countRuns(database, at), 9)
      const [row] = await store.listRuns(database, at, { limit: 1, after: null })
      assert.deepEqual(row, await jobOf(store, ids.at(-1) ?? ''))
    },
  )

  check('a conversation without runs, and none at all, have no runs', async (store) => {
    await start(store, at)
    await addJob(store, { id: 't1', kind: 'task', in: at })
    for (const id of [at, 'chats/none', '', '\ud800']) {
      assert.deepEqual(await store.listRuns(database, id, { limit: 9, after: null }), [])
      assert.equal(await store.countRuns(database, id), 0)
    }
  })

  check('a list of runs goes on where it was while others begin and end', async (store) => {
    const ids = await makeRuns(store, 4)
    const first = await store.listRuns(database, at, { limit: 2, after: null })
    await store.append(change(await jobOf(store, ids[3] ?? ''), rest(ids[3] ?? '')))
    await addJob(store, { id: 'late', in: at })
    const second = await store.listRuns(database, at, { limit: 9, after: first[1]?.id ?? '' })
    assert.deepEqual(idsOf([...first, ...second]), ids.toReversed())
    assert.equal(await store.countRuns(database, at), 5)
  })

  check(
    'a list of runs goes on behind no task, no run of another conversation and nothing that is gone',
    async (store) => {
      const ids = await makeRuns(store, 2)
      const [other = ''] = await makeRuns(store, 2, 'chats/2')
      await begin(store, { id: 'elsewhere', in: at }, 'other')
      const gone = { code: 'BODY_INVALID', path: 'cursor' }
      const page = (after: string) => store.listRuns(database, at, { limit: 2, after })
      for (const after of [`t ${ids[0]}`, other, 'elsewhere', 'none', "x' or 1=1 --", '', '\ud800', '\u0000'])
        await assert.rejects(page(after), gone)
      assert.deepEqual(idsOf(await page(ids[1] ?? '')), [ids[0]])
      await store.deleteConversation(database, at)
      await assert.rejects(page(ids[1] ?? ''), gone)
      assert.equal(await store.countRuns(database, at), 0)
    },
  )

  check('a conversation that arrives as a snapshot has its runs in their order', async (store) => {
    const ids = await makeRuns(store, 7)
    const snapshot = (await store.readSnapshot(database, at)) ?? assert.fail()
    await store.deleteConversation(database, at)
    assert.equal(await store.putSnapshot(database, snapshot), true)
    assert.deepEqual(await runs(store, 3), ids.toReversed())
    assert.equal(await store.countRuns(database, at), 7)
  })
}
