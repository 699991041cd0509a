/** Saves the outcome of a set-up to files. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Runtime } from '@witan/core'
import { drawingName, modelName } from '../model/tools.ts'
import type { Measured } from './measured.ts'

/** Writes the last model and its last drawing into a folder, as `team-process-model.json` and `team-process-model.mmd`. */
export async function saveModel(
  runtime: Runtime,
  { setup, conversation }: Pick<Measured, 'setup' | 'conversation'>,
  folder: string,
): Promise<void> {
  await mkdir(folder, { recursive: true })
  const { items } = await runtime.artifacts.list(conversation, { limit: 200 })
  for (const wanted of [modelName, drawingName]) {
    const last = items.findLast(({ name }) => name === wanted)
    if (last === undefined) continue
    const { bytes } = await runtime.artifacts.read(last.id)
    await writeFile(join(folder, `${setup}-${wanted}`), bytes)
  }
}
