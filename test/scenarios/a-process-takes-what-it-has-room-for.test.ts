/** Load: a process at its limit leaves the tasks it makes to others, and takes them itself as soon as it has room. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineAgent, memoryStore, type Model, type Runtime, type Store } from '@witan/core'
import { isWitanError } from '@witan/protocol'
import { watchNoise } from '../support/noise.ts'

const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 }

interface Told {
  readonly runtime: Runtime
  /** Resolves when the task's model is asked here. */
  readonly asked: Promise<void>
  /** Lets the root say its last words. */
  letGo(): void
}

/** A process whose root starts one task and stays at work until it is let go. */
function openProcess(store: Store, maxJobs?: number): Told {
  const [asked, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const rootModel: Model = {
    id: 'play/root',
    async *stream({ messages }) {
      const isFirst = messages.at(-1)?.role === 'user' && messages.at(-1)?.content === 'go'
      if (!isFirst) await letGo.promise
      const toolCalls = isFirst ? [{ id: 'c1', name: 'worker', arguments: '{"message":"work"}' }] : []
      yield { type: 'reply', reply: { text: 'ok', toolCalls, finishReason: 'stop', usage, model: null } }
    },
  }
  const workerModel: Model = {
    id: 'play/worker',
    async *stream() {
      asked.resolve()
      yield { type: 'reply', reply: { text: 'done', toolCalls: [], finishReason: 'stop', usage, model: null } }
    },
  }
  const worker = defineAgent({ id: 'worker', instructions: 'Work.', model: workerModel })
  const subAgents = [{ agent: 'worker', description: 'Works.', blocking: 'never' }] as const
  const root = defineAgent({ id: 'root', instructions: 'Ask.', model: rootModel, subAgents })
  const runtime = createRuntime({ store, agents: [root, worker], ...(maxJobs === undefined ? {} : { maxJobs }) })
  return { runtime, asked: asked.promise, letGo: letGo.resolve }
}

test('a process without room leaves its task to one that has it, at once', async (context) => {
  const store = memoryStore()
  const full = openProcess(store, 1)
  context.after(() => full.runtime.close())
  await full.runtime.ready
  const other = openProcess(memoryStore({ beside: store }))
  context.after(() => other.runtime.close())
  await other.runtime.ready
  const opened = await full.runtime.start({ agent: 'root', prompt: 'go' })
  await other.asked
  for (const { letGo } of [full, other]) letGo()
  assert.equal((await opened.run?.result)?.status, 'completed')
})

test('alone, it takes the task as soon as its own run has ended, and not at the next round', async (context) => {
  const alone = openProcess(memoryStore(), 1)
  context.after(() => alone.runtime.close())
  const opened = await alone.runtime.start({ agent: 'root', prompt: 'go' })
  let isAsked = false
  void alone.asked.then(() => {
    isAsked = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isAsked, false, 'there is no room yet')
  const noise = watchNoise()
  const from = performance.now()
  alone.letGo()
  await opened.run?.result
  await alone.asked
  const took = performance.now() - from
  noise.stop()
  assert.ok(took < 2_500 + noise.worst(), 'a round is three seconds')
})

test('a limit that is no number of jobs is refused', () => {
  for (const maxJobs of [0, -1, 1.5, Number.NaN])
    assert.throws(
      () => createRuntime({ maxJobs }),
      (error) => isWitanError(error) && error.code === 'CONFIG_INVALID' && error.path === 'maxJobs',
    )
})
