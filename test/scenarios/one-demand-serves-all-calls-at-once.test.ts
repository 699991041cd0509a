/** Calls that begin at the same time, of an agent that demands something once in a conversation: one demand is made, and what is answered counts for all. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, type Store } from '@witan/core'
import { readReplaySource, replay } from '@witan/core/export'
import { toolResults } from '@witan/core/testing'
import type { AgentInput } from '@witan/protocol'
import { assertSound } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { outliving } from '../support/reopen.ts'
import { type AgentDraft, createStage, type Play, settle, type Stage, until } from '../support/stage.ts'

type Demands = NonNullable<AgentInput['demands']>

const consent = { kind: 'consent_required', message: 'cny-may-i', per: 'conversation' as const }
const price = { kind: 'payment_required', message: 'cny-pay' }
const isolated = [{ agent: 'shop', history: 'isolated' as const }]

/** Says what its calls came to, once they are over. */
const asking =
  (...calls: readonly { readonly name: string; readonly topic?: string }[]): Play =>
  (request) => {
    if (request.messages.at(-1)?.role === 'tool') return toolResults(request).join(' + ')
    return {
      toolCalls: calls.map(({ name, topic }) => ({
        name,
        arguments: { message: 'go', ...(name === 'shop' ? { topic: topic ?? 'owls' } : {}) },
      })),
    }
  }

/** How two calls of the shop may be at work at once. */
const casts: Readonly<Record<string, { agents: readonly AgentDraft[]; plays: Readonly<Record<string, Play>> }>> = {
  'two calls of one reply, one after the other in one document': {
    agents: [{ id: 'root', subAgents: isolated }],
    plays: { root: asking({ name: 'shop' }, { name: 'shop' }) },
  },
  'two siblings below another agent each': {
    agents: [
      { id: 'root', subAgents: [{ agent: 'left' }, { agent: 'right' }] },
      { id: 'left', subAgents: isolated },
      { id: 'right', subAgents: isolated },
    ],
    plays: {
      root: asking({ name: 'left' }, { name: 'right' }),
      left: asking({ name: 'shop' }),
      right: asking({ name: 'shop' }),
    },
  },
  'two steps of a parallel workflow': {
    agents: [
      { id: 'root', workflow: { kind: 'parallel', agents: ['left', 'right'] } },
      { id: 'left', subAgents: isolated },
      { id: 'right', subAgents: isolated },
    ],
    plays: { left: asking({ name: 'shop' }), right: asking({ name: 'shop' }) },
  },
}

function stageOf(
  { agents, plays }: (typeof casts)[string],
  demands: Demands,
  options: { store?: Store; clock?: ReturnType<typeof fakeClock>; shop?: object } = {},
): Stage {
  const { shop, ...more } = options
  return createStage({
    agents: [{ id: 'shop', demands, parameters: [{ name: 'topic' }], ...shop }, ...agents],
    plays: { shop: () => 'sold', ...plays },
    options: more,
  })
}

const open = async ({ runtime }: Stage) => (await runtime.getConversation('chats/1')).interruptions
const kindsOf = async (stage: Stage) =>
  (await open(stage)).map((one) => one.kind === 'policy' && String(one.policy['kind']))

async function answer(stage: Stage, value: object): Promise<void> {
  for (const { id } of await open(stage)) await stage.runtime.answerInterruption(id, { answer: value })
}

async function ended({ runtime }: Stage): Promise<string> {
  await until(async () => (await runtime.getConversation('chats/1')).activeRunId === null)
  const [run] = (await runtime.getConversation('chats/1')).runs
  return (await runtime.getRun(run?.runId ?? '')).result?.text ?? ''
}

/** Its log is sound and replays, no model read a word, and so many demands were made. */
async function sound(stage: Stage, made: number): Promise<void> {
  assertSound(await stage.events('chats/1'))
  await toldOnce(stage, made)
}

/** The same of a log with tasks, which may end later than the run that began them. */
async function toldOnce(stage: Stage, made: number): Promise<void> {
  const events = await stage.events('chats/1')
  assert.equal(events.filter(({ type }) => type === 'policy_required').length, made)
  assert.deepEqual(stage.reports, [])
  assert.equal(JSON.stringify(stage.requests).includes('cny-'), false)
  const { difference } = await replay(await readReplaySource(stage.runtime.exportConversation('chats/1')))
  assert.equal(difference, null)
}

for (const [title, cast] of Object.entries(casts)) {
  test(`[C21] ${title}: one demand, and once it is met both work`, async () => {
    const stage = stageOf(cast, [consent])
    await stage.ask('root', 'go', { id: 'chats/1' })
    await settle()
    assert.deepEqual([await kindsOf(stage), stage.seenBy('shop').length], [['consent_required'], 0])
    await answer(stage, { resolution: {} })
    assert.equal((await ended(stage)).match(/sold/g)?.length, 2)
    await sound(stage, 1)
  })

  test(`[C21] ${title}: one demand, and if it is declined neither works`, async () => {
    const stage = stageOf(cast, [consent])
    await stage.ask('root', 'go', { id: 'chats/1' })
    await answer(stage, { decision: 'declined' })
    await ended(stage)
    assert.equal(stage.seenBy('shop').length, 0)
    await sound(stage, 1)
  })
}

const cast = casts['two siblings below another agent each'] as (typeof casts)[string]

test('[C21] what each call demands for itself is asked of each, the common part once', async () => {
  const stage = stageOf(cast, [price, consent])
  await stage.ask('root', 'go', { id: 'chats/1' })
  const first = await open(stage)
  assert.deepEqual(await kindsOf(stage), ['payment_required', 'consent_required'])
  await stage.runtime.answerInterruption(first[1]?.id ?? '', { answer: { resolution: {} } })
  await until(async () => (await open(stage)).length === 2)
  assert.deepEqual(
    await kindsOf(stage),
    ['payment_required', 'payment_required'],
    'the second goes on with its own part',
  )
  await answer(stage, { resolution: {} })
  assert.equal(await ended(stage), 'sold + sold')
  await sound(stage, 3)
})

test('[C21] consent that was given holds on, although the call that asked for it was not paid for', async () => {
  const alone = { agents: [{ id: 'root', subAgents: isolated }], plays: { root: asking({ name: 'shop' }) } }
  const stage = stageOf(alone, [consent, price])
  await stage.ask('root', 'go', { id: 'chats/1' })
  const [may, pay] = await open(stage)
  await stage.runtime.answerInterruption(may?.id ?? '', { answer: { resolution: {} } })
  await stage.runtime.answerInterruption(pay?.id ?? '', { answer: { decision: 'declined' } })
  await ended(stage)
  await stage.run('chats/1', { prompt: 'again' })
  await settle()
  assert.deepEqual(await kindsOf(stage), ['payment_required'])
  await answer(stage, { resolution: {} })
  await ended(stage)
  assert.equal(stage.seenBy('shop').length, 1)
  await sound(stage, 3)
})

test('[C21] [D11] the call that waits for the demand of another one goes on in another process', async () => {
  const clock = fakeClock()
  const store = outliving(memoryStore({ now: clock.now }))
  const first = stageOf(cast, [consent], { store, clock })
  await first.ask('root', 'go', { id: 'chats/1' })
  await first.runtime.close()
  const second = stageOf(cast, [consent], { store, clock })
  assert.deepEqual(await kindsOf(second), ['consent_required'])
  await answer(second, { resolution: {} })
  assert.equal(await ended(second), 'sold + sold')
  await sound(second, 1)
})

test('[C21] a demand that is not met in time ends both calls', async () => {
  const clock = fakeClock()
  const stage = stageOf(cast, [consent], { clock, shop: { interruptionExpiresInSeconds: 60 } })
  await stage.ask('root', 'go', { id: 'chats/1' })
  clock.advance(61_000)
  assert.equal((await ended(stage)).match(/not met in time/g)?.length, 2)
  await sound(stage, 1)
})

test('[C21] the calls of a run that is cancelled end, whichever of them had asked', async () => {
  const stage = stageOf(cast, [consent])
  const { runId } = await stage.ask('root', 'go', { id: 'chats/1' })
  await stage.runtime.cancelRun(runId)
  await ended(stage)
  await sound(stage, 1)
})

/** Two tasks in the background, and a call that is waited for: each is a job of its own. */
const inTasks: (typeof casts)[string] = {
  agents: [{ id: 'root', subAgents: [{ agent: 'shop', history: 'isolated', blocking: 'model' }] }],
  plays: {
    root: (request) => {
      if (request.messages.at(-1)?.role === 'tool') return toolResults(request).join(' + ')
      // The end of each task begins a run that nobody asked for.
      if (request.messages.at(-1)?.content !== 'go') return 'nothing more'
      const args = [false, false, true].map((blocking, at) => ({ message: 'go', topic: `owls ${at}`, blocking }))
      return { toolCalls: args.map((one) => ({ name: 'shop', arguments: one })) }
    },
  },
}
const over = async ({ runtime }: Stage) => {
  await until(async () => {
    const { activeRunId, tasks } = await runtime.getConversation('chats/1')
    return activeRunId === null && tasks.length === 0
  })
}

for (const [what, value, sold] of [
  ['met', { resolution: { receipt: 'cny-r' } }, 3],
  ['declined', { decision: 'declined' }, 0],
] as const)
  test(`[C21] tasks in the background: what is ${what} for one job is ${what} for all that ask it, in any process`, async () => {
    const clock = fakeClock()
    const store = outliving(memoryStore({ now: clock.now }))
    const first = stageOf(inTasks, [consent], { store, clock })
    await first.ask('root', 'go', { id: 'chats/1' })
    await until(async () => (await open(first)).length === 3)
    await first.runtime.close()
    const stage = stageOf(inTasks, [consent], { store, clock })
    const [one, ...others] = await open(stage)
    await stage.runtime.answerInterruption(one?.id ?? '', { answer: value })
    await over(stage)
    assert.equal(stage.seenBy('shop').length, sold)
    // The same answer again changes nothing; another one comes too late.
    for (const { id } of others) {
      await stage.runtime.answerInterruption(id, { answer: value })
      await assert.rejects(stage.runtime.answerInterruption(id, { answer: { resolution: { other: true } } }), {
        code: 'ALREADY_ANSWERED',
      })
    }
    const resolved = (await stage.events('chats/1')).filter(({ type }) => type === 'resolved')
    assert.equal(resolved.length, 3)
    await toldOnce(stage, 3)
  })

test('[C21] what is demanded for each call is answered for that one alone, also beside tasks', async () => {
  const stage = stageOf(inTasks, [price, consent])
  await stage.ask('root', 'go', { id: 'chats/1' })
  await until(async () => (await open(stage)).length === 6)
  const isPrice = (one: { kind: string; policy?: { kind?: unknown } }) => one.policy?.kind === price.kind
  const [pay] = (await open(stage)).filter((one) => one.kind === 'policy' && isPrice(one))
  await stage.runtime.answerInterruption(pay?.id ?? '', { answer: { resolution: {} } })
  assert.equal((await open(stage)).length, 5)
  const [may] = (await open(stage)).filter((one) => one.kind === 'policy' && !isPrice(one))
  await stage.runtime.answerInterruption(may?.id ?? '', { answer: { resolution: {} } })
  await until(async () => stage.seenBy('shop').length === 1)
  assert.deepEqual(await kindsOf(stage), ['payment_required', 'payment_required'])
  await answer(stage, { resolution: {} })
  await over(stage)
  assert.equal(stage.seenBy('shop').length, 3)
  await toldOnce(stage, 6)
})
