/** Tb29: logs that were hard to follow are kept, and come to the same log. Each is named for what happens in it. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { readReplaySource, replay, replayFrom, type ReplaySource } from '@witan/core/export'
import { scriptedModel } from '@witan/core/testing'
import { rewordedSource } from '../support/reworded.ts'

const folder = join(import.meta.dirname, '../regressions')

async function kept(name: string): Promise<ReplaySource> {
  const lines = gunzipSync(readFileSync(join(folder, name)))
  return readReplaySource(ReadableStream.from(lines.toString().trim().split('\n')))
}

for (const name of readdirSync(folder).filter((one) => one.endsWith('.jsonl.gz'))) {
  test(`[Tb29] ${name.replaceAll('-', ' ').replace('.jsonl.gz', '')} is replayed`, async () => {
    const source = await kept(name)
    for (const one of [source, rewordedSource(source)]) assert.equal((await replay(one)).difference, null)
  })
}

test('[Tb29] a step of a log of several processes is reached for another model too', async () => {
  const source = await kept('tasks-in-two-processes.jsonl.gz')
  const steps = source.whole.entries.filter(({ type, kind }) => type === 'end' && kind === 'model').length
  const asked: number[] = []
  const model = scriptedModel((_request, turn) => {
    asked.push(turn)
    return 'Enough.'
  })
  const { difference } = await replayFrom(source, { model, from: steps - 1 })
  assert.equal(difference, null)
  assert.ok(asked.length > 0)
})
