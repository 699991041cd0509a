/** Tries: a run is set aside where owners are lost with nothing to show for it, and not where it gets on in between. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import {
  createRuntime,
  defineAgent,
  defineTool,
  memoryStore,
  type ModelReply,
  type Runtime,
  type Store,
} from '@witan/core'
import type { Clock } from '@witan/core/testing'
import { z } from 'zod'
import { fakeClock } from '../support/clock.ts'
import { allEvents, until } from '../support/stage.ts'

const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 }
const leaseMs = 60_000

/** A store whose leases all lapse when it is told so, and a lost owner for each process that is opened on it. */
function openPlace(context: TestContext) {
  let now = Date.UTC(2026, 0, 1)
  const store = memoryStore({ now: () => now })
  const runtimes: Runtime[] = []
  context.after(() => Promise.all(runtimes.map((runtime) => runtime.close())))
  return {
    store,
    lapse: () => {
      now += 2 * leaseMs
    },
    /** A process whose model gives these answers and then none, and whose tool `pay` never ends. Counts how often the model is asked. */
    async open(
      answers: readonly ('pay' | 'look' | 'done')[],
      { gate, ...options }: { readonly clock?: Clock; readonly gate?: Promise<void> } = {},
    ) {
      const asked: string[] = []
      const model = {
        id: 'play/model',
        async *stream({ messages }: { readonly messages: readonly { readonly content: unknown }[] }) {
          const answer = answers[asked.length]
          asked.push(String(messages.find(({ content }) => String(content).startsWith('go'))?.content))
          await gate
          yield { type: 'reply' as const, reply: await replyOf(answer) }
        },
      }
      const silence = () => new Promise<never>(() => {})
      const tools = [
        defineTool({ name: 'pay', description: 'Pays.', parameters: z.object({}), execute: silence }),
        defineTool({ name: 'look', description: 'Looks.', parameters: z.object({}), effect: 'none', execute: () => 1 }),
      ]
      const root = defineAgent({ id: 'root', instructions: 'Work.', model, tools })
      const shared = memoryStore({ beside: store })
      const runtime = createRuntime({ store: shared, agents: [root], leaseMs, ...options })
      runtimes.push(runtime)
      await runtime.ready
      return { runtime, asked }
    },
  }
}

async function replyOf(answer: 'pay' | 'look' | 'done' | undefined): Promise<ModelReply> {
  if (answer === undefined) return new Promise<never>(() => {})
  const toolCalls = answer === 'done' ? [] : [{ id: `c-${answer}`, name: answer, arguments: '{}' }]
  return { text: answer, toolCalls, finishReason: 'stop', usage, model: null }
}

async function endOf(runtime: Runtime): Promise<readonly unknown[]> {
  await until(async () => (await runtime.getConversation('chats/c')).status === 'idle')
  const events = await allEvents(runtime, 'chats/c')
  const end = events.findLast(({ type, kind }) => (type === 'end' || type === 'error') && kind === 'agent')
  const recovered = events.filter(({ content }) => content['code'] === 'RUN_RECOVERED').length
  return [end?.content['code'] ?? 'completed', recovered]
}

async function jobOf(store: Store) {
  const [job] = await store.listJobs('default', 'chats/c')
  assert.ok(job !== undefined)
  return job
}

/** Owners that die before they write a word. */
async function loseOwners({ store, lapse }: { readonly store: Store; lapse(): void }, count: number): Promise<void> {
  for (let owner = 0; owner < count; owner += 1) {
    lapse()
    const claimed = await store.claimJobs({ owner: `lost-${owner}`, leaseMs, limit: 50 })
    assert.ok(claimed.length > 0)
  }
  lapse()
}

test('[D23] three owners lost in a row set a run aside, also such as died before they wrote a word', async (context) => {
  const place = openPlace(context)
  const first = await place.open([])
  await first.runtime.start({ agent: 'root', id: 'chats/c', prompt: 'go' })
  await loseOwners(place, 2)
  const last = await place.open(['done'])
  assert.deepEqual(await endOf(last.runtime), ['RUN_QUARANTINED', 1])
  assert.deepEqual(last.asked, [])
})

/** A run whose owners are lost so often, each after a step, and the process that then goes on with it. */
async function goOnAfter(place: ReturnType<typeof openPlace>, losses: number) {
  const first = await place.open(['look'])
  await first.runtime.start({ agent: 'root', id: 'chats/c', prompt: 'go' })
  for (let lost = 1; lost < losses; lost += 1) {
    place.lapse()
    const next = await place.open(['look'])
    await until(() => next.asked.length === 2)
    await until(async () => (await jobOf(place.store)).attempts === 1)
  }
  place.lapse()
  return place.open(['done'])
}

test('[D23] nine losses with steps between them end well', async (context) => {
  const last = await goOnAfter(openPlace(context), 9)
  assert.deepEqual(await endOf(last.runtime), ['completed', 9])
})

test('[D23] ten owners lost in all set a run aside, however it got on between them', async (context) => {
  const last = await goOnAfter(openPlace(context), 10)
  assert.deepEqual(await endOf(last.runtime), ['RUN_QUARANTINED', 10])
  assert.deepEqual(last.asked, [])
})

const takeovers = {
  'what a takeover itself finds out is no step: an unknown outcome': [],
  'nor is a model that asks anew for what took the last worker down': ['pay'],
} as const

for (const [name, answers] of Object.entries(takeovers)) {
  test(`[D23] ${name}`, async (context) => {
    const place = openPlace(context)
    const first = await place.open(['pay'])
    await first.runtime.start({ agent: 'root', id: 'chats/c', prompt: 'go' })
    const started = async () =>
      (await place.store.readEntries('default', 'chats/c', { after: 0, limit: 50 })).filter(
        ({ type, kind }) => type === 'start' && kind === 'tool',
      ).length
    await until(async () => (await started()) === 1)
    for (let lost = 1; lost < 3; lost += 1) {
      place.lapse()
      const next = await place.open(answers)
      await until(() => next.asked.length === 1)
      await until(async () => (await started()) === 1 + lost * answers.length)
    }
    assert.equal((await jobOf(place.store)).attempts, 3)
    place.lapse()
    const last = await place.open(['done'])
    assert.deepEqual(await endOf(last.runtime), ['RUN_QUARANTINED', 3])
    assert.deepEqual(last.asked, [])
  })
}

test('[D23] two runs on their last try are never at work in one process; the second begins when the first has got on', async (context) => {
  const place = openPlace(context)
  const first = await place.open([])
  await first.runtime.start({ agent: 'root', id: 'chats/c', prompt: 'go 1' })
  await first.runtime.start({ agent: 'root', id: 'chats/d', prompt: 'go 2' })
  await loseOwners(place, 1)
  await first.runtime.close() // else it would take what is given back
  const clock = fakeClock()
  const round = () => clock.advance(leaseMs / 5)
  const { promise: gate, resolve: letGo } = Promise.withResolvers<void>()
  const last = await place.open(['look'], { clock, gate })
  await until(() => last.asked.length > 0)
  const [other] = await place.store.listJobs('default', last.asked[0] === 'go 1' ? 'chats/d' : 'chats/c')
  const epochs = async () => (await place.store.getJob('default', other?.id ?? ''))?.epoch ?? 0
  const before = await epochs()
  // It is looked at in every round, and given back each time.
  await until(async () => {
    round()
    return (await epochs()) >= before + 2
  })
  assert.equal(last.asked.length, 1)
  // A message does not begin it either, and does not hide that its worker was lost.
  await last.runtime.run(other?.conversation ?? '', { prompt: 'more', onActive: 'enqueue' })
  await until(async () => {
    round()
    return (await epochs()) >= before + 3
  })
  assert.equal(last.asked.length, 1)
  letGo()
  await until(() => {
    round()
    return last.asked.length === 3
  })
  assert.equal(new Set(last.asked).size, 2)
  const { entries = [] } = (await place.store.readSnapshot('default', other?.conversation ?? '')) ?? {}
  const said = entries.flatMap(({ type, body }) => (type === 'notice' ? (body.detail ?? '') : []))
  assert.ok(
    said.some((one) => one.includes('attempt 3')),
    said.join(' | '),
  )
})
