/** Thirty prompts of nearly a megabyte: whoever reads them or goes on, also eight at once, the process does its other work. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createRuntime, memoryStore, type Runtime, sqliteStore, type Store } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { lengthened } from '../support/long-log.ts'
import { assertCheap } from '../support/cpu.ts'

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
        context.after(() => rm(folder, { recursive: true }))
        const runtimes = []
        // Each play of a cold read has a store of its own.
        for (const name of ['1', '2', '3'])
          runtimes.push(await open(kind === 'memory' ? memoryStore() : sqliteStore({ file: join(folder, name) })))
        try {
          const cold = [...runtimes]
          const last = runtimes[2] as Runtime
          const { longest } = await assertCheap({ longest: holdMs }, () => act(cold.shift() as Runtime), 'cold, it')
          const crowd = name === 'a run that continues it' ? 1 : 8
          const many = await assertCheap(
            { longest: holdMs },
            () => Promise.all(Array.from({ length: crowd }, () => act(last))),
            `by ${crowd} at once, it`,
          )
          context.diagnostic(`${longest.toFixed(1)} ms cold, ${many.longest.toFixed(1)} ms by ${crowd} at once`)
        } finally {
          for (const runtime of runtimes) await runtime.close()
        }
      })
    }
  })
}
