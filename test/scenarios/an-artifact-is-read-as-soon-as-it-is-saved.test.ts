/** A tool that follows the save at once reads the artifact, though no commit has stored it yet. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createRuntime, defineAgent, defineTool, memoryStore, type Store, sqliteStore } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { z } from 'zod'

const measure = defineTool({
  name: 'measure',
  description: 'Measures a file.',
  parameters: z.object({ artifact_id: z.string() }),
  effect: 'none',
  execute: async ({ artifact_id }, { artifacts }) => `${(await artifacts.read(artifact_id)).bytes.length} bytes`,
})

/** Saves, then reads with this tool, in replies that take no time. */
async function readsWith(tool: string, store: Store): Promise<string> {
  const script = scriptedModel((request, turn) => {
    const [last = ''] = toolResults(request)
    if (turn === 0) return call('save_artifact', { name: 'a.txt', media_type: 'text/plain', text: 'abc' })
    return turn === 1 ? call(tool, { artifact_id: JSON.parse(last).artifact_id }) : last
  })
  const agent = defineAgent({ id: 'a', instructions: 'Save.', artifacts: true, tools: [measure], model: script })
  const runtime = createRuntime({ agents: [agent], store })
  const { text } = await runtime.conversation('a').run('Go.')
  await runtime.close()
  return text
}

test('[T31] a function tool and a model read an artifact right after it was saved, in memory and on disk', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'witan-artifacts-'))
  const onDisk = (name: string) => sqliteStore({ file: join(folder, name) })
  assert.deepEqual(await readsWith('measure', memoryStore()), '3 bytes')
  assert.deepEqual(await readsWith('measure', onDisk('one.db')), '3 bytes')
  assert.deepEqual(await readsWith('read_artifact', memoryStore()), 'abc')
  assert.deepEqual(await readsWith('read_artifact', onDisk('two.db')), 'abc')
  rmSync(folder, { recursive: true })
})
