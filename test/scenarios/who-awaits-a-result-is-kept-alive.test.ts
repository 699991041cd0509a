/** A process of the library that only waits for a run: it lives until the result is there, and then ends by itself. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createRuntime, memoryStore } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { agent, until } from '../support/stage.ts'

/** Nothing here but the wait keeps the process alive: the run is at work elsewhere, as its lease was taken away. */
const script = `
import { createRuntime, memoryStore } from '@witan/core'
let now = 1_000_000
const store = memoryStore({ now: () => now })
const model = { id: 'play/model', stream: async function* () { await new Promise(() => {}) } }
const agents = [{ id: 'root', model: 'play/model', instructions: 'Wait.' }]
const runtime = createRuntime({ store: memoryStore({ beside: store }), agents, models: { 'play/model': model } })
const { run } = await runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
now += 60_000
const [job] = await store.claimJobs({ owner: 'elsewhere', leaseMs: 60_000, limit: 1 })
setTimeout(async () => {
  const { database, conversation, id, epoch } = job
  const result = { runId: id, conversationId: conversation, status: 'completed', text: 'told elsewhere', output: null,
    finishReason: 'stop', error: null, interruptions: [], tasks: [], usage: { byAgent: {} }, elapsedMs: 1 }
  const rest = { kind: 'rest', id, status: 'completed', result, at: now }
  await store.append({ database, conversation, fence: { job: id, epoch }, entries: [], jobs: [rest] })
}, 300).unref()
setInterval(() => {}, 1).unref()
console.log((await run.result).text)
`

test('a process that waits for a run of another one neither ends before it nor stays after it', () => {
  const folder = fileURLToPath(new URL('.', import.meta.url))
  const args = ['--conditions=witan-source', '--no-warnings', '--input-type=module', '-e', script]
  const child = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', timeout: 120_000 })
  assert.deepEqual([child.status, child.stdout], [0, 'told elsewhere\n'], child.stderr)
})

test('whoever waits is told when the runtime is closed, or the conversation is gone', async () => {
  let now = Date.UTC(2026, 0, 1)
  const store = memoryStore({ now: () => now })
  const models = { 'play/model': scriptedModel(() => new Promise<never>(() => {})) }
  const waiting = async (id: string) => {
    const states: string[] = []
    const working = ({ state }: { readonly state: string }) => void states.push(state)
    const options = { models, agents: [agent('root')], leaseMs: 300, working }
    const runtime = createRuntime({ store: memoryStore({ beside: store }), ...options })
    const { run } = await runtime.start({ agent: 'root', id, prompt: 'go' })
    now += 60_000
    await store.claimJobs({ owner: 'elsewhere', leaseMs: 3_600_000, limit: 1 })
    await until(() => states.includes('left'), 1_000_000)
    return { runtime, result: run?.result }
  }
  const closed = await waiting('chats/1')
  const told = assert.rejects(closed.result ?? assert.fail(), { code: 'RUNTIME_CLOSED' })
  const gone = await waiting('chats/2')
  await closed.runtime.close()
  await told
  await store.deleteConversation('default', 'chats/2')
  let why: unknown = null
  gone.result?.catch((error: unknown) => {
    why = error
  })
  await until(() => why !== null, 1_000_000)
  assert.equal((why as { readonly code?: string }).code, 'NOT_FOUND')
  await gone.runtime.close()
})
