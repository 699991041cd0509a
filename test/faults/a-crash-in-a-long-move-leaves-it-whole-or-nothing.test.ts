/** A process is killed inside each transaction of a fork, an import and a deletion of a long log: it is whole or not there, and no row is left. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Store } from '@witan/core'
import { freshSchema } from '../postgres/support/stores.ts'
import { killedAtEnd, leaveChildren } from '../support/child.ts'
import { programOf } from '../support/one-piece.ts'
import { type Place, storeAt } from './support/held-loop.ts'
import { expired, longConversation, made, moves, original } from './support/long-moves.ts'

const folder = mkdtempSync(join(tmpdir(), 'witan-long-moves-'))
after(() => {
  leaveChildren()
  rmSync(folder, { recursive: true, force: true })
})

const kinds: Readonly<Record<string, (context: TestContext) => Place | Promise<Place>>> = {
  SQLite: ({ name }) => ({ file: join(folder, `${name}.db`) }),
  PostgreSQL: (context) => freshSchema(context),
}

const script = fileURLToPath(new URL('support/long-moves.ts', import.meta.url))

/** Runs a move that is killed at that commit; returns the signal. */
async function killAt(place: Place, name: string, at: number): Promise<unknown> {
  const words = ['--conditions=witan-source', '--no-warnings', await programOf(script), JSON.stringify(place), name]
  const env = { ...process.env, FAULTS: `committing#${at}:kill9` }
  const child = killedAtEnd(spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'inherit'], env }))
  const [code, signal] = await once(child, 'exit')
  assert.ok(signal !== null || code === 0)
  return signal
}

/** The length of a conversation that is whole, 0 for one that is not there. */
async function lengthOf(store: Store, id: string): Promise<number> {
  const row = await store.getConversation('default', id)
  const entries = await store.readEntries('default', id, { after: 0, limit: 1_000_000 })
  if (row !== null) assert.equal(entries.length, row.lastSeq, 'the log is not what its row says')
  return row?.lastSeq ?? 0
}

/** Fails if a row belongs to no conversation. */
function assertNothingLeft(place: Place): void {
  if (!('file' in place)) return
  const db = new DatabaseSync(place.file)
  for (const table of ['entries', 'jobs']) {
    const rows = db.prepare(`select 1 from ${table} where key >> 20 not in (select number from conversations)`)
    assert.deepEqual(rows.all(), [], table)
  }
  assert.deepEqual(db.prepare('select * from unlinked').all(), [])
  db.close()
}

for (const [kind, placeOf] of Object.entries(kinds))
  for (const name of Object.keys(moves)) {
    if (kind === 'PostgreSQL' && name === 'delete') continue // one statement of the server
    test(`[I1] [I2] kill -9 inside each transaction of a ${name}, ${kind}`, { timeout: 240_000 }, async (context) => {
      const place = await placeOf(context)
      const whole = await longConversation(original)
      const { length } = whole.entries
      let kills = 0
      for (let at = 1; ; at += 1) {
        const before = storeAt(place)
        await before.open()
        await before.putSnapshot('default', whole)
        await before.deleteConversation('default', made)
        if (name.includes('expired')) await before.putSnapshot('default', await expired())
        await before.close()
        const signal = await killAt(place, name, at)
        const store = storeAt(place)
        await store.open()
        const [old, fresh] = [await lengthOf(store, original), await lengthOf(store, made)]
        assert.ok([0, length].includes(old) && [0, length].includes(fresh), `${old} and ${fresh} entries, commit ${at}`)
        await store.sweepConversations(100)
        assert.deepEqual([await lengthOf(store, original), await lengthOf(store, made)], [old, fresh])
        await store.close()
        assertNothingLeft(place)
        if (signal === null) {
          assert.deepEqual([old, fresh], name === 'delete' ? [0, 0] : [length, length])
          break
        }
        kills += 1
      }
      context.diagnostic(`${kills} kills`)
      assert.ok(kills >= (name === 'delete' ? 1 : 2), 'I17: a fault did not fire')
    })
  }
