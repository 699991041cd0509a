/** The desk as its tests use it: a folder of its own, a store in memory, and the scripts without pauses. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRuntime, memoryStore, type Runtime } from '@witan/core'
import { createReaders } from '@witan/readers'
import { makeData, type Places } from './data/make-data.ts'
import { deskOver } from './desk.ts'
import { ingestDocuments } from './ingest.ts'
import { type Environment, modelsOf } from './model.ts'

/** The account whose contract says three months. */
export const alpine = { accountId: { value: 'acct-alpine', sendToModel: false } } as const

/** The desk, and where its data lies. */
export interface Stage {
  readonly runtime: Runtime
  readonly places: Places
  close(): Promise<void>
}

/** Makes the data and the runtime. `paceMs` is what scripts wait before each reply, `env` what chooses a model. */
export async function createStage({ paceMs = 0, env = {} as Environment } = {}): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'witan-desk-'))
  const places = await makeData(folder)
  const runtime = createRuntime({
    ...deskOver(places, modelsOf(env, paceMs)),
    readers: createReaders({}),
    store: memoryStore(),
  })
  await runtime.ready
  await ingestDocuments(runtime, places.documents)
  const close = async () => {
    await runtime.close()
    await rm(folder, { recursive: true, force: true })
  }
  return { runtime, places, close }
}
