/** A call to a domain that shares budgets sends what it may spend, which is held until it ends; what it says that it has spent counts here. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRemoteCaller } from '@witan/core/tooling'
import { memoryStore, type Store } from '@witan/core'
import { readReplaySource, replay } from '@witan/core/export'
import { lastUserMessage } from '@witan/core/testing'
import type { RunResult } from '@witan/protocol'
import { assertGapFree } from '../support/claims.ts'
import { fakeClock, type FakeClock } from '../support/clock.ts'
import { playedRemote, type PlayedRemote, type Turn } from '../support/played-remote.ts'
import { outliving } from '../support/reopen.ts'
import { createStage, settle, type Stage, until } from '../support/stage.ts'

interface Given {
  readonly turn: Turn
  readonly shares?: boolean
  /** How many calls each reply of the agent asks for. */
  readonly rounds?: readonly number[]
  readonly limits?: object
  readonly blocking?: 'always' | 'never'
  readonly store?: Store
  readonly clock?: FakeClock
  readonly remote?: PlayedRemote
}

const limits = { maxModelCalls: 20, maxCostUsd: 8, maxSeconds: 100, maxDepth: 5 }

function staged(given: Given): Stage & { readonly remote: PlayedRemote } {
  const { turn, shares = true, rounds = [1], blocking = 'always', clock = fakeClock() } = given
  const remote = given.remote ?? playedRemote(turn)
  const endpoint = {
    url: 'http://b.test/',
    binding: 'JSONRPC',
    tenant: null,
    isStreaming: true,
    isIdempotent: true,
  } as const
  const remotes = createRemoteCaller(
    {
      find: async () => ({ ok: true, endpoint, notice: null }),
      sign: async () => ({ bearer: null, metadata: { mentionable: { agent_chain: {} } }, extensions: [] }),
      sharesBudget: () => shares,
      passesIssuers: () => false,
      newId: () => 'read',
      clock,
      fetch: remote.fetch,
    },
    (error) => assert.fail(String(error)),
  )
  const stage = createStage({
    agents: [
      {
        id: 'desk',
        limits: given.limits ?? limits,
        remotes: [{ name: 'docs', address: '@docs@b.test', description: 'Knows.', blocking, history: 'isolated' }],
      },
    ],
    plays: {
      desk: (request, turn) => {
        const count = lastUserMessage(request) === 'go' ? (rounds[turn] ?? 0) : 0
        const toolCalls = Array.from({ length: count }, (_, n) => ({
          name: 'docs',
          arguments: { message: `Find ${n}.` },
        }))
        if (count > 0) return { toolCalls }
        return `Told: ${request.messages
          .filter(({ role }) => role === 'tool')
          .map(({ content }) => String(content))
          .join(' | ')}`
      },
    },
    options: { store: given.store ?? memoryStore({ now: clock.now }), clock, remotes },
  })
  return { ...stage, remote }
}

const budgets = ({ tasks }: PlayedRemote) => tasks.map(({ messages }) => messages[0]?.metadata?.witan?.budget)
const usage = (modelCalls: number, totalTokens: number, costUsd: number | null = 0) => ({
  ...{ modelCalls, toolCalls: 0, inputTokens: totalTokens, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 },
  ...{ totalTokens, costUsd, complete: true },
})
const dropped = '@docs@b.test sent what it may not set here: metadata.witan.usage. It was left out.'
const done = (said?: unknown): ReturnType<Turn> => ({ state: 'COMPLETED', parts: [{ text: 'Here.' }], usage: said })

async function comesAgain({ runtime }: Stage): Promise<void> {
  const lines: string[] = []
  for await (const line of runtime.exportConversation('chats/1')) lines.push(line)
  const { difference } = await replay(await readReplaySource(ReadableStream.from(lines)))
  assert.equal(difference, null, JSON.stringify(difference))
}

/** The lists of usage say what the run says, and name the agent elsewhere by its address. */
async function addsUp({ runtime }: Stage, { usage: whole }: RunResult): Promise<void> {
  const { items } = await runtime.usage({ by: 'agent' })
  const sumOf = (key: 'modelCalls' | 'totalTokens') => items.reduce((sum, item) => sum + item[key], 0)
  const docs = items.find(({ key }) => key === '@docs@b.test')
  const isComplete = items.every(({ complete }) => complete)
  assert.deepEqual(
    [sumOf('modelCalls'), sumOf('totalTokens'), isComplete],
    [whole.modelCalls, whole.totalTokens, whole.complete],
  )
  assert.equal(docs?.modelCalls, whole.byAgent['desk/docs']?.modelCalls)
  for (const by of ['conversation', 'user', 'day'] as const) {
    const [only] = (await runtime.usage({ by })).items
    assert.deepEqual([only?.modelCalls, only?.complete], [whole.modelCalls, whole.complete], by)
  }
}

test('half of what the tree has left goes out, and siblings get half of what those before them left', async () => {
  const stage = staged({ turn: () => done(usage(0, 0)), rounds: [3] })
  await stage.ask('desk', 'go', { id: 'chats/1' })
  assert.deepEqual(
    budgets(stage.remote).map((budget) => [
      budget?.['modelCalls'],
      budget?.['costUsd'],
      budget?.['seconds'],
      budget?.['depth'],
    ]),
    [
      [9, 4, 50, 4],
      [5, 2, 50, 4],
      [2, 1, 50, 4],
    ],
  )
  assertGapFree(await stage.events('chats/1'))
  await comesAgain(stage)
})

test('what is held is let go at the end, and what was spent is not', async () => {
  const stage = staged({ turn: () => done(usage(3, 50, 1)), rounds: [1, 1] })
  const ended = await stage.ask('desk', 'go', { id: 'chats/1' })
  // 20 - 1 = 19, half of it 9; then 20 - 2 - 3 = 15, half of it 7.
  assert.deepEqual(
    budgets(stage.remote).map((budget) => [budget?.['modelCalls'], budget?.['costUsd']]),
    [
      [9, 4],
      [7, 3.5],
    ],
  )
  const { modelCalls, totalTokens, costUsd, complete } = ended.usage.byAgent['desk/docs'] ?? assert.fail('no usage')
  assert.deepEqual([modelCalls, totalTokens, costUsd, complete], [6, 100, 2, true])
  assert.equal(ended.usage.modelCalls, 9)
  assert.equal(ended.usage.complete, true)
  const { tree } = await stage.runtime.getRun(ended.runId)
  assert.deepEqual(
    tree.children.map((node) => [node.usage.modelCalls, node.usage.complete]),
    [
      [3, true],
      [3, true],
    ],
  )
  await addsUp(stage, ended)
  await comesAgain(stage)
})

test('where no budget is left nothing is sent: the model reads why', async () => {
  const stage = staged({ turn: () => done(usage(0, 0)), rounds: [1], limits: { ...limits, maxModelCalls: 2 } })
  const ended = await stage.ask('desk', 'go', { id: 'chats/1' })
  assert.match(ended.text, /The budget leaves no room for `docs`; do it yourself\./)
  assert.equal(stage.remote.tasks.length, 0)
  await comesAgain(stage)
})

test('a task in the background sends its own grant', async () => {
  const stage = staged({ turn: () => done(usage(2, 10)), blocking: 'never' })
  const ended = await stage.ask('desk', 'go', { id: 'chats/1' })
  const [task] = ended.tasks
  await until(async () => (await stage.runtime.tasks.get(task?.taskId ?? '')).status === 'completed')
  assert.equal(budgets(stage.remote)[0]?.['modelCalls'], 9)
  assert.equal((await stage.runtime.tasks.get(task?.taskId ?? '')).usage.modelCalls, 2)
  await settle(50)
  await comesAgain(stage)
})

test('a domain that shares none gets none, and what it says of its usage is left out and named once', async () => {
  const stage = staged({ turn: () => done(usage(3, 50)), shares: false })
  const ended = await stage.ask('desk', 'go', { id: 'chats/1' })
  assert.deepEqual(budgets(stage.remote), [undefined])
  assert.deepEqual([ended.usage.modelCalls, ended.usage.complete], [2, false])
  const notices = (await stage.events('chats/1')).filter(({ type }) => type === 'notice')
  assert.deepEqual(
    notices.map(({ content }) => [content['code'], content['detail']]),
    [['REMOTE_FIELD_DROPPED', dropped]],
  )
})

const hostile: Readonly<Record<string, unknown>> = {
  'a negative number': usage(-1, 0),
  'a number that is none': { ...usage(0, 0), totalTokens: null, inputTokens: 'NaN' },
  'a huge number': usage(1e300, 0),
  'a number that is not whole': usage(0.5, 0),
  'a negative price': usage(1, 1, -5),
  'names that objects inherit': JSON.parse('{"__proto__":{"modelCalls":1},"constructor":1}'),
  'a list': [1],
  text: 'free',
}
for (const [what, said] of Object.entries(hostile))
  test(`[D20] usage with ${what} is no usage: nothing becomes less, and the sum is incomplete`, async () => {
    const stage = staged({ turn: () => done(said) })
    const ended = await stage.ask('desk', 'go', { id: 'chats/1' })
    assert.deepEqual([ended.status, ended.usage.modelCalls, ended.usage.complete], ['completed', 2, false])
    const [notice] = (await stage.events('chats/1')).filter(({ type }) => type === 'notice')
    assert.equal(notice?.content['detail'], dropped)
  })

const fails: readonly (readonly [string, Turn, readonly [number, boolean]])[] = [
  [
    'that says what it cost counts',
    () => ({ state: 'FAILED', parts: [{ text: 'no' }], usage: usage(4, 9) }),
    [6, true],
  ],
  ['that says nothing makes the sum incomplete', () => ({ state: 'FAILED', parts: [{ text: 'no' }] }), [2, false]],
]
for (const [what, turn, expected] of fails)
  test(`a task that fails and ${what}`, async () => {
    const stage = staged({ turn })
    const ended = await stage.ask('desk', 'go', { id: 'chats/1' })
    assert.deepEqual([ended.usage.modelCalls, ended.usage.complete], expected)
    await addsUp(stage, ended)
    await comesAgain(stage)
  })

test('a call that is cancelled leaves the sum incomplete', async () => {
  const stage = staged({ turn: () => ({ state: 'INPUT_REQUIRED', parts: [{ text: 'Which?' }] }) })
  const asked = await stage.ask('desk', 'go', { id: 'chats/1' })
  await stage.runtime.cancelRun(asked.runId)
  const ended = await (await stage.runtime.followRun(asked.runId)).result
  assert.deepEqual([ended.status, ended.usage.complete], ['cancelled', false])
  await addsUp(stage, ended)
  await comesAgain(stage)
})

test('what a task says while it waits counts at once, and nothing of it twice, also after a restart', async () => {
  const turn: Turn = ({ turn: at }) =>
    at === 0 ? { state: 'INPUT_REQUIRED', parts: [{ text: 'Which?' }], usage: usage(3, 30, 1) } : done(usage(5, 20, 2))
  const clock = fakeClock()
  const store = outliving(memoryStore({ now: clock.now }))
  const first = staged({ turn, store, clock })
  const asked = await first.ask('desk', 'go', { id: 'chats/1' })
  assert.deepEqual([asked.usage.modelCalls, asked.usage.byAgent['desk/docs']?.costUsd], [4, 1])
  await first.runtime.close()
  const second = staged({ turn, store, clock, remote: first.remote })
  const [open] = asked.interruptions
  await second.runtime.answerInterruption(open?.id ?? '', { answer: { input: { text: 'x' } } } as never)
  const ended = await (await second.runtime.followRun(asked.runId)).result
  // It says fewer tokens than before: what was said once stays.
  const { modelCalls, totalTokens, costUsd } = ended.usage.byAgent['desk/docs'] ?? assert.fail('no usage')
  assert.deepEqual([modelCalls, totalTokens, costUsd, ended.usage.complete], [5, 30, 2, true])
  await addsUp(second, ended)
  await comesAgain(second)
})

test('a task that is begun anew gets what the first one has left', async () => {
  const turn: Turn = ({ metadata }) =>
    metadata.mentionable?.policy_resolution === undefined
      ? {
          state: 'REJECTED',
          parts: [{ data: { type: 'policy', policy: { kind: 'forbidden', message: 'No.' }, state: 's' } }],
          usage: usage(2, 10, 1),
        }
      : done(usage(1, 5, 1))
  const stage = staged({ turn })
  const asked = await stage.ask('desk', 'go', { id: 'chats/1' })
  const [open] = asked.interruptions
  await stage.runtime.answerInterruption(open?.id ?? '', { answer: { resolution: {} } } as never)
  const ended = await (await stage.runtime.followRun(asked.runId)).result
  assert.deepEqual(
    budgets(stage.remote).map((budget) => [budget?.['modelCalls'], budget?.['costUsd']]),
    [
      [9, 4],
      [7, 3],
    ],
  )
  assert.deepEqual([ended.usage.byAgent['desk/docs']?.modelCalls, ended.usage.complete], [3, true])
  await addsUp(stage, ended)
})
