/** The usage of a database: by agent, conversation, user, model and day, with costs, over forks, imports, deletions and pages. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, type ModelPrice, memoryStore, type Principal, type Runtime } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { fakeClock } from '../support/clock.ts'
import { agent } from '../support/stage.ts'

const usage = { inputTokens: 1000, outputTokens: 100, cachedInputTokens: 0, reasoningTokens: 0 }
const price: ModelPrice = { inputPerMillion: 1, outputPerMillion: 2 }
const dayMs = 86_400_000

function open(store = memoryStore(), more: Partial<Parameters<typeof createRuntime>[0]> = {}): Runtime {
  const models = {
    priced: scriptedModel(() => ({ text: 'ok', usage }), { id: 'priced', price }),
    unpriced: scriptedModel(
      ({ messages }) =>
        messages.at(-1)?.content === 'fail' ? { text: 'Hel', error: new Error('x') } : { text: 'ok', usage },
      {
        id: 'unpriced',
      },
    ),
  }
  const agents = ['priced', 'unpriced'].map((model) => ({ ...agent(`of-${model}`), model }))
  return createRuntime({ store, models, agents, clock: fakeClock(), retry: { tries: 1 }, ...more })
}

async function ask(witan: Pick<Runtime, 'start'>, id: string, more: Record<string, string> = {}): Promise<void> {
  const { run } = await witan.start({ agent: 'of-priced', id, prompt: 'hello', ...more })
  await run?.result
}

const listed = async (runtime: Pick<Runtime, 'usage'>, by: Parameters<Runtime['usage']>[0]['by']) =>
  (await runtime.usage({ by })).items.map(({ key, modelCalls, costUsd, complete }) => [
    key,
    modelCalls,
    costUsd,
    complete,
  ])

test('a cost is added up, and is null where a part is not known [E83]', async () => {
  const runtime = open()
  await ask(runtime, 'chats/1')
  await ask(runtime, 'chats/2')
  await ask(runtime, 'chats/3', { agent: 'of-unpriced' })
  await ask(runtime, 'chats/4', { agent: 'of-unpriced', prompt: 'fail' })
  assert.deepEqual(await listed(runtime, 'model'), [
    ['priced', 2, 0.0024, true],
    ['unpriced', 1, null, false],
  ])
  assert.deepEqual(await listed(runtime, 'conversation'), [
    ['chats/1', 1, 0.0012, true],
    ['chats/2', 1, 0.0012, true],
    ['chats/3', 1, null, true],
    ['chats/4', 0, null, false],
  ])
  assert.deepEqual(
    (await listed(runtime, 'day')).map(([, ...rest]) => rest),
    [[3, null, false]],
  )
  await runtime.close()
})

test('usage is that of whom a run works for, and only an admin and a reader see it', async () => {
  const runtime = open()
  const of = (id: string, ...roles: string[]): Principal => ({ ...runtime.principal, id, roles })
  await ask(runtime.as(of('user:anna', 'run')), 'chats/1')
  await ask(runtime.as(of('user:bob', 'run')), 'chats/2')
  await ask(runtime, 'chats/3')
  const keys = (await listed(runtime.as(of('user:eve', 'read')), 'user')).map(([key]) => key)
  assert.deepEqual(keys, ['user:anna', 'user:bob', 'user:local'])
  const mine = runtime.as(of('user:anna', 'run', 'answer'))
  await assert.rejects(mine.usage({ by: 'user' }), { code: 'NOT_FOUND' })
  const elsewhere = runtime.as({ ...runtime.principal, database: 'other' as Principal['database'] })
  assert.deepEqual(await listed(elsewhere, 'agent'), [])
  await runtime.close()
})

test('figures are those of a database, and only an admin and a reader see them', async () => {
  const runtime = open(memoryStore(), { telemetry: { metrics: true } })
  const elsewhere = { ...runtime.principal, database: 'other' as Principal['database'] }
  await ask(runtime, 'chats/1')
  await ask(runtime.as(elsewhere), 'chats/1', { agent: 'of-unpriced' })
  const [here, there] = [await runtime.metrics(), await runtime.as(elsewhere).metrics()]
  assert.deepEqual([here.includes('"priced"'), here.includes('"unpriced"')], [true, false])
  assert.deepEqual([there.includes('"priced"'), there.includes('"unpriced"')], [false, true])
  const reader = runtime.as({ ...runtime.principal, id: 'user:eve', roles: ['read'] })
  assert.equal(await reader.metrics(), here)
  const runner = runtime.as({ ...runtime.principal, id: 'user:anna', roles: ['run', 'answer'] })
  await assert.rejects(runner.metrics(), { code: 'NOT_FOUND' })
  await runtime.close()
  const off = open()
  await assert.rejects(off.metrics(), { code: 'NOT_FOUND' })
  await off.close()
})

test('a page of usage reads a bounded number of rows, and a walk finds everything once', async () => {
  const store = memoryStore()
  let read = 0
  const counting = {
    ...store,
    listUsage: async (...given: Parameters<typeof store.listUsage>) => {
      const rows = await store.listUsage(...given)
      read += rows.length
      return rows
    },
  }
  const runtime = open(counting as typeof store)
  await runtime.ready
  const place = { call: 'c', parentCall: null, run: 'c', document: 'chats/1', agentPath: 'a', invocation: 'c' }
  const body = { name: 'look', toolCallId: 't', arguments: {}, bound: [] }
  const row = {
    database: 'default',
    id: 'chats/1',
    agent: 'a',
    createdBy: 'x',
    createdAt: 1,
    lastMessageAt: 1,
    lastSeq: 0,
  }
  const create = { ...row, parameters: {}, maxModelIterationsPerCall: null, expiresAt: null }
  const keys = Array.from({ length: 9_000 }, (_, index) => `agent-${String(index).padStart(5, '0')}`)
  const entries = keys.map((author, appendNo) => ({
    ...({ type: 'start', kind: 'tool', body, seq: 0, at: appendNo < 8_999 ? 5 : 9 * dayMs } as const),
    ...{ place: { ...place, author }, job: 'c', epoch: 1, appendNo },
  }))
  await store.append({ database: 'default', conversation: 'chats/1', create, entries, usedBy: 'user:local' })
  const late = await runtime.usage({ by: 'agent', from: '1970-01-09' })
  assert.deepEqual(
    [late.items, late.nextCursor !== null, read <= 5_500],
    [[], true, true],
    'the rows before are passed over in two pages',
  )
  const rest = await runtime.usage({ by: 'agent', from: '1970-01-09', cursor: late.nextCursor })
  assert.deepEqual([rest.items.map(({ key }) => key), rest.nextCursor], [['agent-08999'], null])
  const found: string[] = []
  for (let cursor: string | null = null; ; ) {
    const page: Awaited<ReturnType<Runtime['usage']>> = await runtime.usage({ by: 'agent', limit: 200, cursor })
    found.push(...page.items.map(({ key }) => key))
    cursor = page.nextCursor
    if (cursor === null) break
  }
  assert.deepEqual(found, keys)
  const days = await runtime.usage({ by: 'day', limit: 1 })
  assert.deepEqual([days.items[0]?.key, days.nextCursor], ['1970-01-01', '1970-01-01'])
  const next = await runtime.usage({ by: 'day', limit: 1, cursor: days.nextCursor })
  assert.deepEqual([next.items[0]?.key, next.nextCursor], ['1970-01-10', null])
  await runtime.close()
})
