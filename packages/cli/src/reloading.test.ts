/** The modules of a configuration that is edited while it is read: no change is lost. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createProjectModules } from './reloading.ts'

/** Puts the whole file in its place at once: nobody reads half of it. */
async function write(file: string, text: string): Promise<void> {
  await writeFile(`${file}.next`, text)
  await rename(`${file}.next`, file)
}

test('a change that comes while another one is taken up is told too, also in a folder that is new', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'witan-reloading-'))
  context.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'config.mjs')
  const inner = join(folder, 'inner', 'agent.mjs')
  await mkdir(join(folder, 'inner'))
  await write(inner, 'export const agent = 1')
  await write(file, 'export const agent = 0')
  const modules = createProjectModules(file)
  context.after(() => modules.close())
  const read = async () => ((await import(file)) as { agent: number }).agent
  assert.equal(await read(), 0)

  const steps: (() => Promise<void>)[] = [
    // Read, and only then changed again, before it is said to be taken up.
    () => write(file, 'export { agent } from "./inner/agent.mjs"'),
    () => write(inner, 'export const agent = 2'),
  ]
  const seen: number[] = []
  const over = Promise.withResolvers<void>()
  const takeUp = async () => {
    modules.renew()
    seen.push(await read())
    const step = steps.shift()
    if (step === undefined) over.resolve()
    else await step()
  }
  const watching = modules.watch(() => void takeUp().catch(over.reject))
  context.after(() => watching.close())
  await write(file, 'export const agent = 3')
  await over.promise
  assert.deepEqual(seen, [3, 1, 2])
})
