/** A process with as many jobs as it may have leaves further tasks to others at once, and takes no more itself. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineAgent, postgresStore, type RuntimeOptions, sqliteStore } from '@witan/core'
import { call, lastUserMessage, scriptedModel, toolResults } from '@witan/core/testing'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freshSchema } from '../postgres/support/stores.ts'

const full = 200

/** Agents whose `holder` waits at a gate, and whose `boss` hands a task to a clerk; `began` is told where the clerk works. */
function agents(began: () => void) {
  const gate = Promise.withResolvers<void>()
  const holder = defineAgent({
    id: 'holder',
    instructions: 'Wait.',
    model: scriptedModel(() => gate.promise.then(() => 'held'), { id: 'scripted/holder' }),
  })
  const clerk = defineAgent({
    id: 'clerk',
    instructions: 'File.',
    model: scriptedModel(
      () => {
        began()
        return 'filed'
      },
      { id: 'scripted/clerk' },
    ),
  })
  const boss = defineAgent({
    id: 'boss',
    instructions: 'Delegate.',
    subAgents: [{ agent: 'clerk', description: 'Ask.', blocking: 'never' }],
    model: scriptedModel(
      (request) => {
        if (lastUserMessage(request).startsWith('[from ') || toolResults(request).length > 0) return 'told'
        return call('clerk', { message: 'file' })
      },
      { id: 'scripted/boss' },
    ),
  })
  return { gate, agents: [holder, clerk, boss] }
}

async function fill(runtime: ReturnType<typeof createRuntime>) {
  const runs = []
  for (let at = 0; at < full; at += 1) runs.push(runtime.start({ agent: 'holder', prompt: 'go' }))
  return Promise.all(runs)
}

function runtimeOf(options: RuntimeOptions) {
  return createRuntime({ leaseMs: 60_000, retry: { tries: 1 }, ...options })
}

test('another process takes a task at once when its owner is full', async (context) => {
  const place = await freshSchema(context)
  const where: string[] = []
  const elsewhere = Promise.withResolvers<void>()
  const here = agents(() => where.push('here'))
  const there = agents(() => {
    where.push('there')
    elsewhere.resolve()
  })
  const first = runtimeOf({ store: postgresStore(place), agents: here.agents })
  const second = runtimeOf({ store: postgresStore(place), agents: there.agents })
  await Promise.all([first.ready, second.ready])
  const held = await fill(first)
  const from = performance.now()
  const asked = await first.start({ agent: 'boss', prompt: 'go' })
  await elsewhere.promise
  const took = performance.now() - from
  assert.equal((await asked.run?.result)?.status, 'completed')
  assert.deepEqual(where, ['there'])
  assert.ok(took < 15_000, `${Math.round(took)} ms, where a look comes every 20 s`)
  context.diagnostic(`handed over in ${Math.round(took)} ms`)
  here.gate.resolve()
  for (const { run } of held) assert.equal((await run?.result)?.status, 'completed')
  await Promise.all([first.close(), second.close()])
})

test('a full process that is alone takes up what it left as soon as it has room', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'witan-full-'))
  context.after(() => rm(folder, { recursive: true }))
  const began = Promise.withResolvers<void>()
  const here = agents(() => began.resolve())
  const store = sqliteStore({ file: join(folder, 'witan.db'), synchronous: 'normal' })
  const runtime = runtimeOf({ store, agents: here.agents, leaseMs: 3_000 })
  await runtime.ready
  const held = await fill(runtime)
  const asked = await runtime.start({ agent: 'boss', prompt: 'go' })
  assert.equal((await asked.run?.result)?.status, 'completed')
  const [task] = (await runtime.tasks.list({})).items
  assert.equal(task?.status, 'queued')
  here.gate.resolve()
  await began.promise
  for (const { run } of held) assert.equal((await run?.result)?.status, 'completed')
  await runtime.close()
})
