/** The example as a person meets it: one command on free ports, and what its logs and its archive say. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { exampleRun } from '../../test/support/example-run.ts'

describe('an archive of another server that wants consent and money', () => {
  let example: Awaited<ReturnType<typeof exampleRun>>
  before(async () => {
    example = await exampleRun(import.meta.url, 'PAID_SEARCH')
  })
  after(() => example?.remove())

  test('[C21] [M22] one command: consent is asked for once, each article is paid, and the archive knows for whom', async () => {
    const { code, out, err } = await example.start()
    assert.deepEqual([code, err], [0, ''], out)
    const [first = '', second = ''] = out.split('Again in the same conversation')
    assert.match(first, /◆ archive {2}@search@archive\.test {2}waits for an answer\n.*May it\?\n.*consent_required/)
    assert.doesNotMatch(second, /consent_required/)
    for (const [part, words] of [
      [first, 'owls'],
      [second, 'bats'],
    ] as const) {
      assert.equal(part.match(/curl -X POST http:\/\/127\.0\.0\.1:\d+\/bills\//g)?.length, 1)
      assert.match(part, new RegExp(`The archive: “On ${words}”`))
    }
    assert.match(second, /✓ search {2}← @desk@office\.test for @local@office\.test, hop 1/)
  })

  test('there is nothing to say against its agents, and a check says who may call the archive', async () => {
    for (const server of ['office', 'archive']) {
      const { out } = await example.witan(server, 'check')
      assert.match(out, /0 errors, 0 warnings/, server)
      if (server === 'archive') assert.match(out, /search +@desk@office\.test acting for @local@office\.test +yes/)
    }
  })
})
