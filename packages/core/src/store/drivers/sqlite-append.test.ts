/** Appends of one transaction know what the earlier ones left, and nothing that another write has changed since. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertRefused, begin, by, entry } from '../../testing/conformance/store-fixtures.ts'
import { sqliteStore } from './sqlite.ts'

test('[I7] what is appended in one turn follows on, and is fenced once another has claimed its job between', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'witan-append-'))
  const store = sqliteStore({ file: join(folder, 'witan.db'), synchronous: 'normal' })
  context.after(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  await store.open()
  const job = await begin(store, { id: 'j1' })
  const append = () => store.append({ ...by(job), entries: [entry('more', 'j1')] })
  const [first, second, , claimed, late] = await Promise.all([
    append(),
    append(),
    store.releaseJobs('w1'),
    store.claimJobs({ owner: 'w2', leaseMs: 1000, limit: 1 }),
    append(),
  ])
  assert.deepEqual(
    [first, second],
    [
      { ok: true, before: 1, lastSeq: 2, jobs: [] },
      { ok: true, before: 2, lastSeq: 3, jobs: [] },
    ],
  )
  assert.equal(claimed.length, 1)
  assertRefused(late, 'fenced')
})
