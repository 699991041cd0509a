/**
 * What moves a long conversation as a whole. As a program it does so once, and prints that it did. Its arguments are a place, as JSON,
 * and the name of the move.
 */
import assert from 'node:assert/strict'
import { createRuntime, memoryStore, type Runtime, type Store } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { lengthened } from '../../support/long-log.ts'
import { type Place, storeAt } from './held-loop.ts'

type Snapshot = NonNullable<Awaited<ReturnType<Store['readSnapshot']>>>

/** The conversation that is copied or deleted, and the one that is made. */
export const [original, made] = ['chats/long', 'chats/made']

function open(store: Store): Runtime {
  const model = scriptedModel(() => 'Done.', { id: 'play/root' })
  const agents = [{ id: 'root', model: model.id, instructions: 'You do it.' }]
  return createRuntime({ store, agents, models: { [model.id]: model }, report: () => {} })
}

/** A conversation of 1.6 MB: too long for one piece. */
export async function longConversation(id: string): Promise<Snapshot> {
  const store = memoryStore()
  const runtime = open(store)
  await (await runtime.start({ agent: 'root', id: 'chats/short', prompt: 'Go.' })).run?.result
  const short = await store.readSnapshot('default', 'chats/short')
  await runtime.close()
  return lengthened(short ?? assert.fail(), { id, runs: 16, characters: 100_000 })
}

async function fork(store: Store): Promise<void> {
  const runtime = open(store)
  const { lastSeq } = await runtime.getConversation(original)
  await runtime.forkConversation(original, { seq: lastSeq, id: made })
  await runtime.close()
}

/** Every move, by its name. */
export const moves: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  fork,
  async import(store) {
    const whole = await longConversation(made)
    const renamed = whole.jobs.map((job) => ({ ...job, id: `made ${job.id}` }))
    assert.ok(await store.putSnapshot('default', { ...whole, jobs: renamed }))
  },
  delete: (store) => store.deleteConversation('default', original),
  'fork over an expired one': fork,
}

/** A conversation in the place of the one that is made, which has expired. */
export async function expired(): Promise<Snapshot> {
  const whole = await longConversation(made)
  return { ...whole, row: { ...whole.row, expiresAt: 1 }, jobs: [] }
}

if (import.meta.main) {
  const [place = '', name = ''] = process.argv.slice(2)
  const store = storeAt(JSON.parse(place) as Place)
  await store.open()
  await moves[name]?.(store)
  await store.close()
  console.log('moved')
}
