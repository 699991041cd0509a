/** A long conversation, or a long audit, on each kind of store. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRuntime, memoryStore, postgresStore, type Runtime, sqliteStore, type Store } from '@witan/core'
import { testServer } from '../../postgres/support/server.ts'
import { lengthened } from '../../support/long-log.ts'
import type { Play } from './row.ts'
import { saying } from './said.ts'

/** How many runs it has, and how many characters the prompt of each. */
export interface Length {
  readonly runs: number
  readonly characters: number
  /** A value of the conversation that is hidden. */
  readonly hidden?: string
}

/** Stores by their names. */
export const stores: Readonly<Record<string, (play: Play) => Store | Promise<Store>>> = {
  memory: () => memoryStore(),
  async SQLite(play) {
    const folder = await mkdtemp(join(tmpdir(), 'witan-long-'))
    play.after(() => rm(folder, { recursive: true }))
    return sqliteStore({ file: join(folder, 'store.db') })
  },
  PostgreSQL: async () => postgresStore({ url: await testServer(), schema: `t_${randomBytes(8).toString('hex')}` }),
}

/** A runtime whose conversation `chats/long` is in no cache. */
export async function openLong(play: Play, { hidden, ...length }: Length, kind = 'memory'): Promise<Runtime> {
  const store = await stores[kind]?.(play)
  if (store === undefined) throw new Error(`there is no store "${kind}"`)
  const runtime = createRuntime({
    store,
    models: { 'play/root': saying('play/root', () => ({ text: 'Done.' })) },
    agents: [{ id: 'root', model: 'play/root', instructions: 'You do it.' }],
    report: () => undefined,
  })
  play.after(() => runtime.close())
  await runtime.ready
  await (await runtime.start({ agent: 'root', id: 'chats/short', prompt: 'Go.' })).run?.result
  const short = await store.readSnapshot('default', 'chats/short')
  if (short === null) throw new Error('the store has lost a conversation')
  const long = lengthened(short, { id: 'chats/long', ...length })
  const parameters: typeof long.row.parameters = hidden === undefined ? {} : { hidden: [hidden, true] }
  await store.putSnapshot('default', { ...long, row: { ...long.row, parameters } })
  return runtime
}

/** A store, and a long conversation that it could import. */
export async function openStore(
  play: Play,
  { kind, ...length }: Length & { readonly kind: string },
): Promise<{ readonly store: Store; readonly long: Snapshot }> {
  const from = memoryStore()
  const runtime = createRuntime({
    store: from,
    models: { 'play/root': saying('play/root', () => ({ text: 'Done.' })) },
    agents: [{ id: 'root', model: 'play/root', instructions: 'You do it.' }],
    report: () => undefined,
  })
  await (await runtime.start({ agent: 'root', id: 'chats/short', prompt: 'Go.' })).run?.result
  const short = await from.readSnapshot('default', 'chats/short')
  await runtime.close()
  const store = await stores[kind]?.(play)
  if (store === undefined || short === null) throw new Error(`there is no store "${kind}", or no conversation`)
  play.after(() => store.close())
  await store.open()
  return { store, long: lengthened(short, { id: 'chats/long', ...length }) }
}

type Snapshot = NonNullable<Awaited<ReturnType<Store['readSnapshot']>>>
type Entry = Parameters<Store['addRecord']>[1]

/** At once in one transaction. */
const chunk = 5_000

/** A runtime whose audit has so many entries; the first five are by `user:first`. */
export async function openAudited(play: Play, { entries, kind }: { entries: number; kind: string }): Promise<Runtime> {
  const store = await stores[kind]?.(play)
  if (store === undefined) throw new Error(`there is no store "${kind}"`)
  const made: Entry[] = []
  const changeAgents: Store['changeAgents'] = async (_database, _changes, beside = []) => {
    made.push(...beside)
    return true
  }
  const runtime = createRuntime({
    store: { ...store, changeAgents },
    agents: [{ id: 'root', model: 'play/root', instructions: 'You do it.' }],
    models: { 'play/root': saying('play/root', () => ({ text: 'Done.' })) },
    report: () => undefined,
  })
  play.after(() => runtime.close())
  await runtime.ready
  const [entry] = made
  if (entry === undefined) throw new Error('a change has no entry')
  for (let from = 0; from < entries; from += chunk) {
    const beside = Array.from({ length: Math.min(chunk, entries - from) }, (_, at): Entry => {
      const by = from + at < 5 ? 'user:first' : 'user:other'
      return { table: entry.table, row: { ...entry.row, id: `${from + at}`, by } }
    })
    await store.changeAgents('default', [], beside)
  }
  return runtime
}
