/** Conformance of stores: sums of usage, which follow the log in the same append [T27]. */
import assert from 'node:assert/strict'
import type { EmbeddingUse, Entry, ModelEndBody, ModelUsage } from '@witan/protocol/entries'
import type { UsageDimension } from '@witan/protocol/schemas'
import type { Store } from '../../store/store.ts'
import { usageOfEmbeddings } from '../../store/usage-count.ts'
import type { UsagePage, UsageRow } from '../../store/usage-records.ts'
import {
  assertRefused,
  begin,
  by,
  type Check,
  type CheckTwo,
  conversation,
  database,
  entry,
  past,
  rest,
} from './store-fixtures.ts'

const dayMs = 86_400_000
const used: ModelUsage = { inputTokens: 7, outputTokens: 5, cachedInputTokens: 3, reasoningTokens: 1, costUsd: 0.25 }

interface Made {
  readonly agent?: string
  readonly day?: number
  readonly job?: string
}

function placed({ agent = 'clerk', day = 1, job = 'job' }: Made): Omit<Entry, 'type' | 'kind' | 'body'> {
  const from = entry('', job)
  return { ...from, at: day * dayMs + 5, place: { ...from.place, author: agent } }
}

/** A model's reply. */
function reply(
  made: Made & { readonly model?: string; readonly asked?: string; readonly usage?: ModelUsage | null } = {},
): Entry {
  const { model = 'local/small', asked, usage = used } = made
  const more = { finishReason: 'stop', text: 'x', toolCalls: [], taken: 0, startedAt: 1, attempt: 1 }
  const body: ModelEndBody = {
    model,
    usage,
    ...more,
    offered: true,
    accepted: true,
    ...(asked === undefined ? {} : { asked }),
  }
  return { ...placed(made), type: 'end', kind: 'model', body } as Entry
}

function tool(made: Made = {}): Entry {
  const body = { name: 'look', toolCallId: 't1', arguments: {}, bound: [] }
  return { ...placed(made), type: 'start', kind: 'tool', body } as Entry
}

function lost(made: Made & { readonly model?: string } = {}): Entry {
  const { model } = made
  const body = { code: 'USAGE_INCOMPLETE', detail: 'lost', ...(model === undefined ? {} : { model }) }
  return { ...placed(made), type: 'notice', kind: null, body } as Entry
}

/** A search by itself, by a tool, and by a tool that failed, with what embedding models used for it. */
function searches(embedded: readonly EmbeddingUse[], made: Made = {}): readonly Entry[] {
  const from = placed(made)
  return [
    { ...from, type: 'retrieval', kind: null, body: { query: 'q', passages: [], embedded } },
    { ...from, type: 'end', kind: 'tool', body: { result: null, truncated: false, embedded } },
    { ...from, type: 'error', kind: 'tool', body: { code: 'TOOL_FAILED', detail: 'no', embedded } },
  ] as readonly Entry[]
}

interface Given {
  readonly entries: readonly Entry[]
  readonly at?: string
  /** Null for copies. */
  readonly usedBy?: string | null
  readonly expiresAt?: number
}

const isList = (given: readonly Entry[] | Given): given is readonly Entry[] => Array.isArray(given)

async function append(store: Store, id: string, given: readonly Entry[] | Given) {
  const all: Given = isList(given) ? { entries: given } : given
  const { entries, at = database, usedBy = 'user:anna', expiresAt = null } = all
  const exists = (await store.getConversation(at, id)) !== null
  const create = exists ? {} : { create: conversation(id, { database: at, expiresAt }) }
  return store.append({ database: at, conversation: id, ...create, entries, ...(usedBy === null ? {} : { usedBy }) })
}

async function rowsBy(store: Store, dimension: UsageDimension, page: Partial<UsagePage> & { at?: string } = {}) {
  const { at = database, ...rest } = page
  return store.listUsage(at, { by: dimension, after: null, limit: 100, ...rest })
}

/** Key, day, replies and calls of tools. */
const counted = (rows: readonly UsageRow[]) =>
  rows.map(({ key, day, modelCalls, toolCalls }) => [key, day, modelCalls, toolCalls])
const countedBy = async (...of: Parameters<typeof rowsBy>) => counted(await rowsBy(...of))
const none = { modelCalls: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 }
const zero = { ...none, cacheWriteTokens: 0, costUsd: 0, unpriced: 0, incomplete: 0, priceDate: null }

/** Registers the tests of sums of usage. */
export function checkUsage(check: Check): void {
  check('usage is added up by agent, conversation, user, model and day', async (store) => {
    await append(store, 'chats/1', [
      entry('x'),
      reply(),
      tool(),
      tool({ agent: 'mate' }),
      reply({ model: 'big', day: 2 }),
    ])
    await append(store, 'chats/2', { entries: [reply(), reply({ agent: 'mate' })], usedBy: 'user:bob' })
    const two = {
      ...zero,
      modelCalls: 2,
      inputTokens: 14,
      outputTokens: 10,
      cachedInputTokens: 6,
      reasoningTokens: 2,
      costUsd: 0.5,
    }
    const [clerk] = await rowsBy(store, 'agent')
    assert.deepEqual(clerk, { by: 'agent', key: 'clerk', day: 1, ...two, toolCalls: 1 })
    assert.deepEqual(await countedBy(store, 'agent'), [
      ['clerk', 1, 2, 1],
      ['clerk', 2, 1, 0],
      ['mate', 1, 1, 1],
    ])
    assert.deepEqual(await countedBy(store, 'conversation'), [
      ['chats/1', 1, 1, 2],
      ['chats/1', 2, 1, 0],
      ['chats/2', 1, 2, 0],
    ])
    assert.deepEqual(await countedBy(store, 'user'), [
      ['user:anna', 1, 1, 2],
      ['user:anna', 2, 1, 0],
      ['user:bob', 1, 2, 0],
    ])
    assert.deepEqual(await countedBy(store, 'model'), [
      ['big', 2, 1, 0],
      ['local/small', 1, 3, 0],
    ])
    assert.deepEqual(await countedBy(store, 'day'), [
      ['', 1, 3, 2],
      ['', 2, 1, 0],
    ])
  })

  checkUnknownUsage(check)
  checkEmbeddings(check)
  checkOutside(check)
  checkUsageEnds(check)
}

function checkOutside(check: Check): void {
  check('what was used outside of runs is added by model and day, and is in no other sums', async (store) => {
    const [near, far] = [
      { model: 'near', inputTokens: 7, costUsd: 0.5, priceDate: '2026-03-01' },
      { model: 'far', inputTokens: null },
    ]
    const day = 86_400_000
    assert.deepEqual(usageOfEmbeddings([], day), [])
    for (const used of [[near, near, far], [near]]) await store.addUsage(database, usageOfEmbeddings(used, day))
    await store.addUsage('elsewhere', usageOfEmbeddings([far], 2 * day))
    const job = await begin(store, { id: 'j1', in: 'chats/1' })
    const entries = searches([near], { job: 'j1' })
    assert.ok((await store.append({ ...by(job), entries, usedBy: 'user:anna', jobs: [rest('j1')] })).ok)
    const row = (dimension: string, key: string, sums: object) => ({ by: dimension, key, day: 1, ...zero, ...sums })
    const priced = { inputTokens: 42, costUsd: 3, priceDate: '2026-03-01' }
    assert.deepEqual(await rowsBy(store, 'model'), [
      row('model', 'far', { incomplete: 1 }),
      row('model', 'near', priced),
    ])
    assert.deepEqual(await rowsBy(store, 'day'), [row('day', '', { ...priced, incomplete: 1 })])
    for (const dimension of ['agent', 'user', 'conversation'] as const)
      assert.deepEqual(
        (await rowsBy(store, dimension)).map(({ inputTokens }) => inputTokens),
        [21],
        dimension,
      )
    assert.deepEqual(await rowsBy(store, 'day', { at: 'elsewhere' }), [
      { ...row('day', '', { incomplete: 1 }), day: 2 },
    ])
    await store.deleteConversation(database, 'chats/1')
    assert.equal((await rowsBy(store, 'day'))[0]?.inputTokens, 42)
  })
}

function checkEmbeddings(check: Check): void {
  check('what embedding models used is counted by their names, and as no call of a model', async (store) => {
    const job = await begin(store, { id: 'j1', in: 'chats/1' })
    const priced = { model: 'near', inputTokens: 7, costUsd: 0.5, priceDate: '2026-03-01' }
    const free = { model: 'far', inputTokens: 2 }
    const unknown = { model: 'far', inputTokens: null }
    const entries = [reply({ job: 'j1' }), ...searches([priced, free, unknown], { job: 'j1' }), ...searches([], {})]
    assert.ok((await store.append({ ...by(job), entries, usedBy: 'user:anna', jobs: [rest('j1')] })).ok)
    const near = { ...zero, inputTokens: 21, costUsd: 1.5, priceDate: '2026-03-01' }
    const far = { ...zero, inputTokens: 6, unpriced: 3, incomplete: 3 }
    const all = { ...zero, ...used, modelCalls: 1, inputTokens: 34, costUsd: 1.75, unpriced: 3, incomplete: 3 }
    const whole = { ...all, priceDate: '2026-03-01' }
    const assertSums = async (at: string) => {
      const [first, , last] = await rowsBy(store, 'model', { at })
      const row = (key: string, sums: object) => ({ by: 'model', key, day: 1, ...sums })
      assert.deepEqual([first, last], [row('far', far), row('near', near)])
      for (const [dimension, key] of [
        ['agent', 'clerk'],
        ['conversation', 'chats/1'],
        ['day', ''],
      ] as const)
        assert.deepEqual(await rowsBy(store, dimension, { at }), [{ by: dimension, key, day: 1, ...whole }])
    }
    await assertSums(database)
    const snapshot = (await store.readSnapshot(database, 'chats/1')) ?? assert.fail('it is there')
    assert.equal(await store.putSnapshot('other', snapshot), true)
    await assertSums('other')
  })
}

function checkUnknownUsage(check: Check): void {
  check(
    'what is not known of usage is counted as not known, and a model by the name that was asked for',
    async (store) => {
      const priced = { ...used, cacheWriteTokens: 2, priceDate: '2026-03-01' }
      const { costUsd: _, ...free } = used
      const replies = [priced, { ...priced, priceDate: '2026-02-01' }, free, { ...free, outputTokens: null }, null]
      await append(store, 'chats/1', [
        ...replies.map((usage) => reply({ usage, model: 'x', asked: 'local/x' })),
        lost({ model: 'local/x' }),
      ])
      await append(store, 'chats/1', [lost()])
      const sums = {
        ...zero,
        modelCalls: 5,
        inputTokens: 28,
        outputTokens: 15,
        cachedInputTokens: 12,
        reasoningTokens: 4,
      }
      const more = { cacheWriteTokens: 4, costUsd: 0.5, unpriced: 3, priceDate: '2026-02-01' }
      assert.deepEqual(await rowsBy(store, 'model'), [
        { by: 'model', key: 'local/x', day: 1, ...sums, ...more, incomplete: 3 },
      ])
      assert.deepEqual(await rowsBy(store, 'day'), [{ by: 'day', key: '', day: 1, ...sums, ...more, incomplete: 4 }])
    },
  )

  check('pages of usage begin behind a key and a day, and keys are text of any kind', async (store) => {
    const agents = ['a', 'é ☔', '日本', "'; --"]
    await append(
      store,
      'chats/1',
      agents.flatMap((agent) => [reply({ agent }), reply({ agent, day: 3 })]),
    )
    const all = await rowsBy(store, 'agent')
    assert.deepEqual(all.map(({ key }) => key).toSorted(), [...agents, ...agents].toSorted())
    const walked: UsageRow[] = []
    for (let after: UsagePage['after'] = null; ; ) {
      const rows = await rowsBy(store, 'agent', { after, limit: 3 })
      walked.push(...rows)
      if (rows.length < 3) break
      after = rows.at(-1) ?? null
    }
    assert.deepEqual(walked, all)
    assert.deepEqual(await countedBy(store, 'day', { after: { key: '', day: 1 } }), [['', 3, 4, 0]])
  })
}

/** A run of `user:eve` whose usage is in the log and nowhere else, as earlier versions left it. One entry is a copy. */
export async function uncounted(store: Store): Promise<void> {
  const job = await begin(store, { id: 'j1', in: 'chats/1' })
  const body = { principal: { id: 'user:eve', roles: [] } }
  const start = { ...placed({ job: 'j1' }), type: 'start', kind: 'agent', body } as unknown as Entry
  const entries = [start, reply({ job: 'j1' }), tool({ job: 'j1' }), lost({ job: 'j1' }), reply({ job: 'copied' })]
  assert.ok((await store.append({ ...by(job), entries, jobs: [rest('j1')] })).ok)
}

/** Asserts that a store has counted that run, once. */
export async function assertCounted(store: Store, at = database): Promise<void> {
  const sums = { by: 'user', key: 'user:eve', day: 1, modelCalls: 1, toolCalls: 1, incomplete: 1, costUsd: 0.25 }
  const rows = await rowsBy(store, 'user', { at })
  assert.deepEqual(rows, [{ ...rows[0], ...sums }])
  assert.deepEqual(await countedBy(store, 'agent', { at }), [['clerk', 1, 1, 1]])
  assert.deepEqual(await countedBy(store, 'model', { at }), [['local/small', 1, 1, 0]])
  assert.deepEqual(await countedBy(store, 'conversation', { at }), [['chats/1', 1, 1, 1]])
}

function checkUsageEnds(check: Check): void {
  check('copies, refused appends and other databases do not count', async (store) => {
    await append(store, 'chats/1', [reply()])
    await append(store, 'chats/fork', { entries: [reply(), tool()], usedBy: null })
    await append(store, 'chats/1', { entries: [reply(), reply()], at: 'other' })
    const fence = { job: 'none', epoch: 1 }
    const refused = { database, conversation: 'chats/1', fence, entries: [reply()], usedBy: 'user:anna' }
    assertRefused(await store.append(refused), 'fenced')
    assert.deepEqual(await countedBy(store, 'conversation'), [['chats/1', 1, 1, 0]])
    assert.deepEqual(await countedBy(store, 'agent'), [['clerk', 1, 1, 0]])
    assert.deepEqual(await countedBy(store, 'agent', { at: 'other' }), [['clerk', 1, 2, 0]])
  })

  check('a deleted or expired conversation takes its own sums along, and no others', async (store) => {
    await append(store, 'chats/1', [reply()])
    await append(store, 'chats/2', [reply()])
    await store.deleteConversation(database, 'chats/1')
    assert.deepEqual(await countedBy(store, 'conversation'), [['chats/2', 1, 1, 0]])
    await append(store, 'chats/1', [reply({ day: 4 })])
    assert.deepEqual(await countedBy(store, 'conversation'), [
      ['chats/1', 4, 1, 0],
      ['chats/2', 1, 1, 0],
    ])
    await append(store, 'chats/over', { entries: [reply()], expiresAt: past })
    await append(store, 'chats/over', { entries: [reply({ day: 5 })], expiresAt: past })
    await store.sweepConversations(10)
    assert.deepEqual(await countedBy(store, 'conversation'), [
      ['chats/1', 4, 1, 0],
      ['chats/2', 1, 1, 0],
    ])
    assert.deepEqual(await countedBy(store, 'agent'), [
      ['clerk', 1, 3, 0],
      ['clerk', 4, 1, 0],
      ['clerk', 5, 1, 0],
    ])
  })

  check(
    'an imported conversation counts for its runs and their principals, without what a fork has copied',
    async (store) => {
      await uncounted(store)
      assert.deepEqual(await rowsBy(store, 'day'), [], 'these were copies')
      const snapshot = (await store.readSnapshot(database, 'chats/1')) ?? assert.fail('it is there')
      assert.equal(await store.putSnapshot('other', snapshot), true)
      await assertCounted(store, 'other')
      assert.equal(await store.putSnapshot('other', snapshot), false)
      await assertCounted(store, 'other')
    },
  )
}

/** Registers the test of two stores on the same data. */
export function checkSharedUsage(check: CheckTwo): void {
  check('what several stores count at once is added up', async (first, second) => {
    const ids = Array.from({ length: 20 }, (_, index) => `chats/${index}`)
    await Promise.all(ids.map((id, index) => append(index % 2 === 0 ? first : second, id, [reply(), tool()])))
    await Promise.all(ids.map((id, index) => append(index % 3 === 0 ? first : second, id, [reply()])))
    for (const store of [first, second]) {
      assert.deepEqual(await countedBy(store, 'agent'), [['clerk', 1, 40, 20]])
      assert.deepEqual((await rowsBy(store, 'day'))[0]?.costUsd, 10)
      assert.equal((await rowsBy(store, 'conversation')).length, 20)
    }
  })
}
