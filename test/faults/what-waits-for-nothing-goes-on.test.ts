/** Parked work that nothing would wake is found and goes on, and a log that cannot be read is no fault of its run [D23]. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createRuntime, memoryStore, postgresStore, type Runtime, sqliteStore, type Store } from '@witan/core'
import { call, type Rule, scriptedModel, turns } from '@witan/core/testing'
import { freshSchema } from '../postgres/support/stores.ts'
import { closers, type Later } from '../support/closers.ts'
import { agent, cast } from '../support/stage.ts'

const timeout = 60_000
const leaseMs = 200

/** A store that can be opened again, and holds what it had. */
type Reopening = (context: TestContext) => Promise<() => Store>

const stores: Readonly<Record<string, Reopening>> = {
  async memory() {
    const kept = memoryStore()
    return () => memoryStore({ beside: kept })
  },
  async sqlite(context) {
    const folder = await mkdtemp(join(tmpdir(), 'witan-parked-'))
    context.after(() => rm(folder, { recursive: true, force: true }))
    return () => sqliteStore({ file: join(folder, 'witan.db'), synchronous: 'normal' })
  },
  async postgres(context) {
    const at = await freshSchema(context)
    return () => postgresStore(at)
  },
}

const agents = [
  agent('asker', { actions: [{ name: 'Ask' }] }),
  agent('boss', { subAgents: [{ agent: 'asker', blocking: 'never' }] }),
]
const boss: Rule = ({ messages }) =>
  messages.some(({ role }) => role === 'assistant') ? 'Noted.' : call('asker', { message: 'Go.' })

async function startRuntime(later: Later, store: Store, report: (error: unknown) => void = () => {}): Promise<Runtime> {
  const model = scriptedModel(cast({ asker: turns(call('Ask', {}), 'Asked.'), boss }))
  const runtime = createRuntime({ store, agents, models: { 'play/model': model }, leaseMs, report })
  later(() => runtime.close())
  await runtime.ready
  return runtime
}

/** Waits until the claim holds. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** Stores an answer as a process would, but wakes nothing: what a process did whose memory was ahead of the store. */
async function answerWithoutWaking(store: Store, conversation: string): Promise<void> {
  const database = 'default'
  const entries = await store.readEntries(database, conversation, { after: 0, limit: 100 })
  const asked = entries.find(({ type }) => type === 'action_required') ?? assert.fail()
  const { id } = asked.body as { readonly id: string }
  const to = { state: 'answered', answer: { value: 'yes' }, by: 'user:local' } as const
  const { place, job, at } = asked
  const body = { id, kind: 'action', ...to } as const
  const entry = { type: 'resolved', kind: null, body, place, job, at, epoch: 0, appendNo: -1, seq: 0 } as const
  const settle = [{ id, ...to, at }]
  assert.ok((await store.append({ database, conversation, entries: [entry], settle })).ok)
}

for (const [name, opening] of Object.entries(stores)) {
  test(`${name}: a run and a task that wait with nothing open are found at the next start`, {
    timeout,
  }, async (context) => {
    const later = closers(context)
    const open = await opening(context)
    const first = await startRuntime(later, open())
    await (await first.start({ agent: 'asker', id: 'chats/run', prompt: 'Go.' })).run?.result
    await (await first.start({ agent: 'boss', id: 'chats/task', prompt: 'Go.' })).run?.result
    const openAll = async () => (await first.listInterruptions({ state: 'open' })).items.length === 2
    await until(openAll)
    await until(async () => (await first.tasks.list({})).items.every(({ status }) => status === 'waiting'))
    await first.close()
    const store = open()
    await store.open()
    for (const id of ['chats/run', 'chats/task']) await answerWithoutWaking(store, id)
    await store.close()
    const second = await startRuntime(later, open())
    await until(async () => (await second.getConversation('chats/run')).activeRunId === null)
    await until(async () => (await second.tasks.list({})).items.every(({ status }) => status === 'completed'))
    const { messages } = await second.getDocument('chats/run')
    assert.equal(messages.at(-1)?.text, 'Asked.')
  })
}

test('[D23] a log that cannot be read is tried again, and its run is never quarantined for it', {
  timeout,
}, async (context) => {
  const later = closers(context)
  const kept = memoryStore()
  const first = await startRuntime(later, memoryStore({ beside: kept }))
  const { run } = await first.start({ agent: 'asker', id: 'chats/run', prompt: 'Go.' })
  const waiting = await run?.result
  await first.close()
  await answerWithoutWaking(kept, 'chats/run')
  let failures = 0
  const inner = memoryStore({ beside: kept })
  const broken: Store = {
    ...inner,
    async readEntries(...range) {
      failures += 1
      if (failures <= 6) throw new Error('this page cannot be read')
      return inner.readEntries(...range)
    },
  }
  const reports: unknown[] = []
  const second = await startRuntime(later, broken, (error) => reports.push(error))
  await until(async () => (await second.getConversation('chats/run')).activeRunId === null)
  const job = await kept.getJob('default', waiting?.runId ?? '')
  assert.deepEqual([job?.status, job?.attempts], ['completed', 1])
  assert.equal(reports.length, 6)
})
