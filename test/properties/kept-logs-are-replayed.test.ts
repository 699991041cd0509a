/** Tb29: logs that a replay could not follow once are kept, and come to the same log. Each is named for what was hard to tell from it. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { readReplaySource, replay } from '@witan/core/export'

const folder = join(import.meta.dirname, '../regressions')

for (const name of readdirSync(folder).filter((one) => one.endsWith('.jsonl.gz'))) {
  test(`[Tb29] ${name.replaceAll('-', ' ').replace('.jsonl.gz', '')} is replayed`, async () => {
    const lines = gunzipSync(readFileSync(join(folder, name)))
      .toString()
      .trim()
      .split('\n')
    const source = await readReplaySource(ReadableStream.from(lines))
    assert.equal((await replay(source)).difference, null)
  })
}
