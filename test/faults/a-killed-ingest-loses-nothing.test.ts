/** A process is killed at each step of an ingest: what it has acknowledged is read by the next, once, and no document is ever half of one form. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createRuntime, type Runtime, type Store } from '@witan/core'
import { createReaders } from '@witan/readers'
import { freshSchema } from '../postgres/support/stores.ts'
import { killedAtEnd, leaveChildren } from '../support/child.ts'
import { programOf } from '../support/one-piece.ts'
import { together } from './rig/score.ts'
import { leaseMs, type Place, storeAt } from './support/held-loop.ts'
import { ingested, knowledge } from './support/ingested.ts'

const folder = mkdtempSync(join(tmpdir(), 'witan-ingest-'))
const program = fileURLToPath(new URL('./support/ingesting.ts', import.meta.url))
const scope = { base: 'b', filter: [] }

const places: Readonly<Record<string, (context: TestContext, name: string) => Place | Promise<Place>>> = {
  SQLite: (_, name) => ({ file: join(folder, `${name}.db`) }),
  PostgreSQL: (context) => freshSchema(context),
}

/** One process that reads, for all runtimes of this one: each would start its own. */
const shared = createReaders()
const readers = { ...shared, close: async () => {} }

/** Does something with a runtime in this process. */
async function withRuntime(place: Place, work: (runtime: Runtime, store: Store) => Promise<void>): Promise<void> {
  const store = storeAt(place)
  const runtime = createRuntime({ store, leaseMs, knowledge, readers })
  try {
    await runtime.ready
    await work(runtime, store)
  } finally {
    await runtime.close()
  }
}

/** A store that has the first version. */
async function prepared(context: TestContext, kind: string, name: string): Promise<Place> {
  const place = await places[kind]?.(context, `${kind}-${name}`)
  if (place === undefined) throw new Error(`there is no store "${kind}"`)
  await withRuntime(place, async (runtime, store) => {
    await runtime.knowledge.documents.ingest('b', ingested('v1'))
    assert.deepEqual(await forms(store), old)
  })
  return place
}

after(async () => {
  await shared.close()
  leaveChildren()
  rmSync(folder, { recursive: true, force: true })
})

interface Kill {
  readonly version: string
  readonly env?: Readonly<Record<string, string>>
  /** Kills from outside, this long after the request was accepted. */
  readonly afterMs?: number
}

/** Ingests a version in a process of its own; what it said, and the signal that ended it. */
async function ingest(
  place: Place,
  { version, env = {}, afterMs }: Kill,
): Promise<{ said: readonly string[]; signal: unknown }> {
  const words = ['--conditions=witan-source', '--no-warnings', await programOf(program), JSON.stringify(place), version]
  const child = spawn(process.execPath, words, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  let said = ''
  child.stdout.on('data', (text) => {
    said += String(text)
    if (afterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), afterMs)
  })
  const [code, signal] = await once(killedAtEnd(child), 'close')
  assert.ok(signal !== null || code === 0)
  return { said: said.split('\n').filter((line) => line !== ''), signal }
}

/** The documents of the store, each with its form; a document whose passages are not all of one form fails. */
async function forms(store: Store): Promise<Readonly<Record<string, string>>> {
  const rows = await store.knowledge.listDocuments('default', 'b', { prefix: '', after: null, limit: 100 })
  const found: Record<string, string> = {}
  for (const { key, revision, passages } of rows) found[key] = `r${revision} p${passages}`
  for (const word of ['v1', 'v2']) {
    const search = { database: 'default', scopes: [scope], words: [word], limit: 1_000 }
    const places = await store.knowledge.rankByWords(search)
    const counts = new Map<string, number>()
    for (const { document } of places) counts.set(document, (counts.get(document) ?? 0) + 1)
    for (const [key, count] of counts) {
      assert.equal(`${found[key]?.split(' ')[1]}`, `p${count}`, `${key} is half of ${word}`)
      found[key] = `${found[key]} ${word}`
    }
  }
  for (const [key, form] of Object.entries(found))
    assert.ok(key === 'same' ? form === 'r1 p12' : /^r1 p12 v1$|^r2 p12 v2$|^r1 p12 v2$/.test(form), `${key}: ${form}`)
  return found
}

const old = { a: 'r1 p12 v1', c: 'r1 p12 v1', v1: 'r1 p12 v1', same: 'r1 p12' }
const changed = { a: 'r2 p12 v2', c: 'r2 p12 v2', v2: 'r1 p12 v2', same: 'r1 p12' }

/** What a killed process has left: each document is whole. The next process reads on. */
async function assertSound(place: Place, said: readonly string[]): Promise<void> {
  const left = storeAt(place)
  await left.open()
  await forms(left)
  await left.close()
  await withRuntime(place, async (runtime, store) => {
    const { documents } = runtime.knowledge
    const accepted = said.find((line) => line.startsWith('accepted '))?.slice('accepted '.length)
    if (accepted === undefined) {
      // The request had no reply: all of it is stored, or nothing.
      await documents.ingest('b', ingested('v2'))
      assert.deepEqual(await forms(store), changed)
      return
    }
    const signal = AbortSignal.timeout(60_000)
    for await (const _ of documents.followIngest('b', accepted, signal));
    const ingest = await documents.readIngest('b', accepted)
    const { status, total, added, changed: changes, unchanged, deleted, failed } = ingest
    assert.deepEqual(
      { status, total, added, changes, unchanged, deleted, failed: failed.map(({ key }) => key) },
      { status: 'completed', total: 5, added: 1, changes: 2, unchanged: 1, deleted: 1, failed: ['bad'] },
    )
    assert.deepEqual(await forms(store), changed)
  })
}

/** Steps between two kills: every step is tried with `npm run test:kills`, else some, others in each run. */
const killsAtEach = process.env['WITAN_KILLS'] === 'each'
const stride = killsAtEach ? 1 : 10
/** So many are killed beside each other, each in its own store: most of the time the next process waits for a lease. */
const width = 4

for (const kind of Object.keys(places)) {
  for (const moment of ['before', 'after'] as const)
    test(`killed ${moment} each thing that it asks of ${kind}`, { timeout: 600_000 }, async (context) => {
      let [next, kills, isOver] = [1 + randomInt(stride), 0, false]
      const killOneByOne = async () => {
        while (!isOver) {
          const step = next
          next += stride
          const place = await prepared(context, kind, `${moment}-${step}`)
          const env = { KILL_AT: `${step}`, KILL_MOMENT: moment }
          const { said, signal } = await ingest(place, { version: 'v2', env })
          if (signal === null) isOver = true
          else kills += 1
          await assertSound(place, said)
        }
      }
      await Promise.all(Array.from({ length: width }, killOneByOne))
      context.diagnostic(`${kills} kills`)
      assert.ok(kills >= Math.floor(12 / stride), `${kills} kills`)
    })

  test(`killed at any time after the reply, on ${kind}`, { timeout: 600_000 }, async (context) => {
    const times = Array.from({ length: killsAtEach ? 12 : 3 }, (_, index) => index * (killsAtEach ? 10 : 40))
    await together(times, width, async (afterMs) => {
      const place = await prepared(context, kind, `at-${afterMs}`)
      await assertSound(place, (await ingest(place, { version: 'v2', afterMs })).said)
    })
  })
}
