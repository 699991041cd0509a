/** Stores of released versions: this version reads, exports and resumes them, and shows the same as those versions [D3]. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { exportAgain, goOn, type LogFixture } from '../fixtures/logs.ts'

const folder = new URL('../fixtures/logs/', import.meta.url)

describe('a log of an older version', () => {
  const files = globSync('*.json.gz', { cwd: folder })

  test('there is one of each release', () => {
    assert.ok(files.includes('0.1.0.json.gz'), files.join(', '))
  })

  for (const file of files) {
    const { name, stories } = JSON.parse(gunzipSync(readFileSync(new URL(file, folder))).toString()) as LogFixture
    test(`[D3] ${name}: what was imported is exported as it was`, async () => {
      for (const [index, { left }] of stories.entries()) {
        const again = await exportAgain(left)
        assert.deepEqual(again.map(parsed), left.map(parsed), `export of story ${index}`)
      }
    })

    test(`[D3] ${name}: every model is asked the same, and every document shows the same`, async () => {
      let requests = 0
      for (const [index, { system, left, after }] of stories.entries()) {
        const now = await goOn(system, left)
        // Whether the run that was left is still live when it is looked for is a matter of chance: its words are in the documents.
        assert.deepEqual(now.results.slice(-2), after.results.slice(-2), `results of story ${index}`)
        assert.deepEqual(now.requests, after.requests, `requests of story ${index}`)
        assert.deepEqual(now.documents, after.documents, `documents of story ${index}`)
        requests += after.requests.length
      }
      assert.ok(requests > 500, `only ${requests} requests were compared`)
    })
  }
})

function parsed(line: string): unknown {
  return JSON.parse(line)
}
