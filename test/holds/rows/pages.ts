/** Readers of a long conversation: what one page holds is bounded, also when many ask for one at once. */
import type { Runtime, Store } from '@witan/core'
import { type Length, openLong, openStore, stores } from '../support/long.ts'
import type { Row } from '../support/row.ts'

type Long = Parameters<Store['putSnapshot']>[1]

/** The seq of the last entry of thirty prompts. */
const lastSeq = 120

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

/** What readers ask for. */
const asked: Readonly<Record<string, (runtime: Runtime) => Promise<unknown>>> = {
  'a page of the document': (runtime) => runtime.getDocument('chats/long', { limit: 200, detail: 'full' }),
  'a page of the events': (runtime) => runtime.readEvents('chats/long', { from: 0, verbose: true }),
  'all events, page by page,': readAllEvents,
  'the events from the first on': followAll,
  'the tree of a run': (runtime) => runtime.getRun('c_0'),
  'a run that continues it': async (runtime) => (await runtime.run('chats/long', { prompt: 'And?' })).result,
}

/** What readers of its model calls ask for. */
const computed: Readonly<Record<string, (runtime: Runtime) => Promise<unknown>>> = {
  'a page of the model calls': (runtime) => runtime.modelCalls.list('chats/long', { limit: 200 }),
  'the last model call': async (runtime) => {
    const { lastSeq } = await runtime.getConversation('chats/long')
    const { items } = await runtime.modelCalls.list('chats/long', { limit: 1 })
    const ends = Number(items[0]?.id)
    return runtime.modelCalls.get('chats/long', String(lastSeq - (await entriesOfRun(runtime)) + ends))
  },
  'the readers of the first entry': (runtime) => runtime.modelCalls.readers('chats/long', 1),
}

/** How many entries each of its runs has. */
async function entriesOfRun(runtime: Runtime): Promise<number> {
  const { lastSeq, runCount } = await runtime.getConversation('chats/long')
  return lastSeq / runCount
}

/** Long conversations by their names. */
const lengths: Readonly<Record<string, Length>> = {
  'thirty prompts of 0.9 MB': { runs: 30, characters: 900_000 },
  '5,000 short prompts': { runs: 5_000, characters: 100 },
}

/** One with a value that stands in each line of its prompts and is hidden: readers of model calls do not get it. */
const masked: Readonly<Record<string, Length>> = {
  'two prompts of 2 MiB and a hidden value': { runs: 2, characters: 2_097_152, hidden: 'goes on for a while' },
}

/** What copies it whole. */
const copied: Readonly<Record<string, (runtime: Runtime) => Promise<unknown>>> = {
  'an export': async (runtime) => {
    for await (const line of runtime.exportConversation('chats/long')) void line
  },
  'a fork': async (runtime) => {
    const { lastSeq } = await runtime.getConversation('chats/long')
    await runtime.forkConversation('chats/long', { seq: lastSeq })
  },
}

/** What moves it in or out of a store, without a runtime. */
const moved: Readonly<Record<string, (store: Store, long: Long) => Promise<() => Promise<unknown>>>> = {
  'an import': async (store, long) => () => store.putSnapshot('default', long),
  async 'a delete'(store, long) {
    await store.putSnapshot('default', long)
    return () => store.deleteConversation('default', long.row.id)
  },
  async 'a sweep'(store, long) {
    await store.putSnapshot('default', { ...long, row: { ...long.row, expiresAt: 1 } })
    return async () => {
      const swept = await store.sweepConversations(100)
      if (swept.length !== 1) throw new Error(`${swept.length} conversations were swept`)
    }
  },
}

function moving(what: string, { name, ...long }: Length & { readonly name: string; readonly kind: string }): Row {
  return {
    name: `${what} of a conversation with ${name} by the store ${long.kind}`,
    setUp: async (play) => {
      const opened = await openStore(play, long)
      const act = await moved[what]?.(opened.store, opened.long)
      if (act === undefined) throw new Error(`nothing is called "${what}"`)
      return act
    },
  }
}

/** Rows of pages. */
export const pages: readonly Row[] = [
  ...['memory', 'SQLite'].flatMap((kind) =>
    Object.entries(asked).flatMap(([what, ask]) =>
      [1, 8].map(
        (times): Row => ({
          name: `${times} × ${what} of a conversation with thirty prompts of 0.9 MB in ${kind}`,
          setUp: async (play) => {
            const runtime = await openLong(play, { runs: 30, characters: 900_000 }, kind)
            return () => Promise.all(Array.from({ length: times }, () => ask(runtime)))
          },
        }),
      ),
    ),
  ),
  ...Object.entries({ ...lengths, ...masked }).flatMap(([long, length]) =>
    Object.entries(computed).map(
      ([what, ask]): Row => ({
        name: `${what} of a conversation with ${long}`,
        setUp: async (play) => {
          const runtime = await openLong(play, length)
          return () => ask(runtime)
        },
      }),
    ),
  ),
  ...Object.keys(stores).flatMap((kind) =>
    Object.entries(lengths).flatMap(([long, length]) =>
      Object.entries(copied).map(
        ([what, copy]): Row => ({
          name: `${what} of a conversation with ${long} on ${kind}`,
          setUp: async (play) => {
            const runtime = await openLong(play, length, kind)
            return () => copy(runtime)
          },
        }),
      ),
    ),
  ),
  ...Object.keys(stores).flatMap((kind) =>
    Object.entries(lengths).flatMap(([name, length]) =>
      Object.keys(moved).map((what) => moving(what, { name, kind, ...length })),
    ),
  ),
  ...['a delete', 'a sweep'].map((what) =>
    moving(what, { name: '20,000 short prompts', kind: 'SQLite', runs: 20_000, characters: 100 }),
  ),
]
