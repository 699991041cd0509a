/** Thirty prompts of nearly a megabyte: whoever reads them or goes on, also eight at once, the process does its other work. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createRuntime, memoryStore, type Runtime, sqliteStore, type Store } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { lengthened, longestTurn } from '../support/long-log.ts'

const runs = 30
const lastSeq = 4 * runs
/** Above what it takes on a busy machine, and below what one long log took: up to 2.5 s, and many times that by several readers at once. */
const holdMs = 100
const agents = [{ id: 'root', model: 'play/model', instructions: 'Answer.' }]

/** A runtime on a store that has the long conversation, none of it warm. */
async function open(store: Store): Promise<Runtime> {
  const runtime = createRuntime({
    store,
    models: { 'play/model': scriptedModel(() => ({ text: 'ok' }), { id: 'play/model' }) },
    agents,
    report: () => undefined,
  })
  await runtime.ready
  const started = await runtime.start({ agent: 'root', id: 'chats/short', prompt: 'hello' })
  await started.run?.result
  const one = await store.readSnapshot('default', 'chats/short')
  assert.ok(one !== null)
  await store.putSnapshot('default', lengthened(one, { id: 'chats/long', runs, characters: 900_000 }))
  return runtime
}

async function followAll(runtime: Runtime): Promise<void> {
  const stop = new AbortController()
  for await (const { seq } of runtime.followEvents('chats/long', { from: 0, verbose: true, signal: stop.signal }))
    if (seq === lastSeq) stop.abort()
}

async function readAllEvents(runtime: Runtime): Promise<void> {
  for (let from = 0, more = true; more; ) {
    const page = await runtime.readEvents('chats/long', { from, verbose: true })
    from = page.lastSeq
    more = page.more
  }
}

/** What outsiders may do with it. */
const deeds: Readonly<Record<string, (runtime: Runtime) => Promise<unknown>>> = {
  'a page of the document': (runtime) => runtime.getDocument('chats/long', { limit: 200, detail: 'full' }),
  'all events, page by page': readAllEvents,
  'the events from the first on': followAll,
  'the tree of a run': (runtime) => runtime.getRun('c_0'),
  'a run that continues it': async (runtime) => (await runtime.run('chats/long', { prompt: 'And?' })).result,
}

for (const kind of ['memory', 'SQLite']) {
  describe(`on ${kind}`, () => {
    for (const [name, act] of Object.entries(deeds)) {
      test(`[E80] ${name} holds no turn for ${holdMs} ms of CPU`, async (context) => {
        const folder = await mkdtemp(join(tmpdir(), 'witan-long-'))
        const store = kind === 'memory' ? memoryStore() : sqliteStore({ file: join(folder, 'store.db') })
        const runtime = await open(store)
        try {
          const cold = await longestTurn(() => act(runtime))
          const crowd = name === 'a run that continues it' ? 1 : 8
          let many = Number.POSITIVE_INFINITY
          // The garbage of the files before falls into one play, never into three.
          for (let plays = 0; plays < 3 && many >= holdMs; plays += 1)
            many = Math.min(
              many,
              await longestTurn(() => Promise.all(Array.from({ length: crowd }, () => act(runtime)))),
            )
          context.diagnostic(`${cold.toFixed(1)} ms cold, ${many.toFixed(1)} ms by ${crowd} at once`)
          assert.ok(cold < holdMs, `${cold} ms cold`)
          assert.ok(many < holdMs, `${many} ms by ${crowd} at once`)
        } finally {
          await runtime.close()
          await rm(folder, { recursive: true })
        }
      })
    }
  })
}
