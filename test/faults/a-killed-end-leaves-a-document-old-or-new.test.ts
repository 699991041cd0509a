/** A process is killed at each of its transactions while it begins an ingest and ends its documents: each is found whole, old or new. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { postgresStore, type Store, sqliteStore } from '@witan/core'
import { freshSchema } from '../postgres/support/stores.ts'
import { programOf } from '../support/one-piece.ts'
import { assertWhole, prepare } from './support/knowledge-story.ts'

const support = join(import.meta.dirname, 'support')
const doom = join(support, 'knowledge-doom.ts')

/** Every step with `npm run test:kills`, which takes minutes; else some, others in each run. */
const killsAtEach = process.env['WITAN_KILLS'] === 'each'

/** Runs the program; true if it was killed. */
async function isKilled(place: object, at: number): Promise<boolean> {
  const victim = await programOf(join(support, 'knowledge-victim.ts'))
  const args = ['--conditions=witan-source', '--import', `file://${doom}`, victim, JSON.stringify(place)]
  const env = { ...process.env, KILL_AT: String(at) }
  const { signal, status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  assert.ok(signal === 'SIGKILL' || status === 0, stderr)
  return signal === 'SIGKILL'
}

/**
 * Kills it at each n-th step: before a transaction begins, and before it ends, in turn. Either leaves what the commit before has stored.
 * What it left is looked at and brought to an end by this process.
 */
async function killAtEach(
  context: TestContext,
  { place, open, stride }: { readonly place: object; readonly open: () => Store; readonly stride: number },
): Promise<void> {
  const seen = new Set<string>()
  // The first step is always tried, and the others from anywhere.
  const offset = killsAtEach ? 1 : randomInt(stride)
  for (let at = 1, isOver = false; !isOver; at += at === 1 ? offset || stride : stride) {
    const first = open()
    await first.open()
    await prepare(first, `before-${at}`)
    await first.close()
    isOver = !(await isKilled(place, at))
    const store = open()
    await store.open()
    seen.add(await assertWhole(store))
    await store.close()
    context.diagnostic(`killed at ${at}: ${[...seen].at(-1)}`)
  }
  assert.ok(seen.has('not begun') && seen.has('done'))
  if (killsAtEach) assert.deepEqual([...seen].sort(), ['begun', 'changed', 'done', 'not begun'])
}

test('SQLite: an end that is killed at any transaction leaves the old form or the new one', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'witan-killed-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'witan.db')
  await killAtEach(context, {
    place: { file },
    open: () => sqliteStore({ file, synchronous: 'normal' }),
    stride: killsAtEach ? 1 : 9,
  })
})

test('PostgreSQL: an end that is killed at any statement leaves the old form or the new one', async (context) => {
  const place = await freshSchema(context)
  await killAtEach(context, { place, open: () => postgresStore(place), stride: killsAtEach ? 1 : 17 })
})
