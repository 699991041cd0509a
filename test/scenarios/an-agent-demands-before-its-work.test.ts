/** What an agent demands as data: nobody's model is asked for it before that is met, however its call began. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConversationFold } from '@witan/client'
import { defineTool, memoryStore, type RuntimeOptions, type Store } from '@witan/core'
import { readReplaySource, replay } from '@witan/core/export'
import { call, toolResults } from '@witan/core/testing'
import type { AgentInput, RunResult } from '@witan/protocol'
import type { InterruptionAnswer } from '@witan/protocol/schemas'
import { z } from 'zod'
import { assertSound } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { outliving } from '../support/reopen.ts'
import { type AgentDraft, createStage, type Play, settle, type Stage, until } from '../support/stage.ts'

type Demands = NonNullable<AgentInput['demands']>

const consent = { kind: 'consent_required', message: 'cny-may-i' }
const paid = { answer: { resolution: { paid: true } } }

/** An agent `shop` that demands something, and whoever calls it. */
function stageOf(
  demands: Demands,
  {
    callers = [],
    plays = {},
    shop = {},
    ...options
  }: {
    callers?: readonly AgentDraft[]
    plays?: Readonly<Record<string, Play>>
    shop?: object
    store?: Store
    clock?: ReturnType<typeof fakeClock>
    tools?: readonly ReturnType<typeof defineTool>[]
    protocols?: NonNullable<RuntimeOptions['protocols']>
  } = {},
): Stage {
  return createStage({
    agents: [{ id: 'shop', demands, ...shop }, ...callers],
    plays: { shop: () => 'sold', ...plays },
    options,
  })
}

async function meet(
  { runtime }: Stage,
  { interruptions }: Pick<RunResult, 'interruptions'>,
  answer: InterruptionAnswer = paid,
) {
  for (const { id } of interruptions) await runtime.answerInterruption(id, answer)
}

async function ended({ runtime }: Stage, run: string) {
  await until(async () => !['running', 'waiting'].includes((await runtime.getRun(run)).status))
  const { status, result } = await runtime.getRun(run)
  return { status, text: result?.text, code: result?.error?.code }
}

async function sound(stage: Stage, { hasTasks = false } = {}): Promise<void> {
  if (!hasTasks) assertSound(await stage.events('chats/1'))
  assert.deepEqual(stage.reports, [])
  assert.equal(JSON.stringify(stage.requests).includes('cny-'), false, 'no model reads what is demanded')
  const { difference } = await replay(await readReplaySource(stage.runtime.exportConversation('chats/1')))
  assert.equal(difference, null)
}

test('[C21] all that an agent demands is asked at once, before its first model call and in its own name', async () => {
  const price = { kind: 'payment_required', message: 'cny-pay' }
  const stage = stageOf([{ ...consent, per: 'conversation' }, price])
  const first = await stage.ask('shop', 'go', { id: 'chats/1' })
  assert.deepEqual(
    first.interruptions.map((one) => [one.kind, one.path, one.agent, one.kind === 'policy' && one.issuer]),
    Array(2).fill(['policy', 'shop', 'shop', 'shop']),
  )
  assert.deepEqual(
    first.interruptions.map((one) => one.kind === 'policy' && one.policy),
    [consent, price],
  )
  const [one, two] = first.interruptions
  await meet(stage, { interruptions: one === undefined ? [] : [one] })
  await settle()
  assert.deepEqual([(await stage.runtime.getRun(first.runId)).status, stage.requests.length], ['waiting', 0])
  await meet(stage, { interruptions: two === undefined ? [] : [two] })
  assert.deepEqual(await ended(stage, first.runId), { status: 'completed', text: 'sold', code: undefined })
  const second = await stage.run('chats/1', { prompt: 'more' })
  assert.deepEqual(
    second.interruptions.map((open) => open.kind === 'policy' && open.policy['kind']),
    ['payment_required'],
    'consent was given once for the conversation; the price is for each call',
  )
  await meet(stage, second)
  assert.equal((await ended(stage, second.runId)).status, 'completed')
  await sound(stage)
})

test('[C21] consent for a conversation outlives a process, and holds for no other words and no other conversation', async () => {
  const clock = fakeClock()
  const store = outliving(memoryStore({ now: clock.now }))
  const of = (message: string) => stageOf([{ ...consent, message, per: 'conversation' }], { store, clock })
  const first = of('cny-may-i')
  const asked = await first.ask('shop', 'go', { id: 'chats/1' })
  await first.runtime.close()
  const second = of('cny-may-i')
  await meet(second, asked)
  assert.equal((await ended(second, asked.runId)).text, 'sold')
  assert.equal((await second.run('chats/1', { prompt: 'more' })).status, 'completed')
  assert.equal((await second.ask('shop', 'go', { id: 'chats/2' })).status, 'waiting')
  await second.runtime.close()
  const third = of('cny-may-i-now')
  const reworded = await third.run('chats/1', { prompt: 'more' })
  assert.equal(reworded.status, 'waiting')
  await third.runtime.cancelRun(reworded.runId)
  await sound(third)
})

/** How an agent may come to work, and whether a model above it goes on when it may not. */
const callers: Readonly<
  Record<
    string,
    { readonly callers: readonly AgentDraft[]; readonly plays?: Record<string, Play>; readonly shop?: object }
  >
> = {
  'a sub-agent': {
    callers: [{ id: 'root', subAgents: [{ agent: 'shop' }] }],
    plays: { root: (request) => toolResults(request)[0] ?? call('shop', { message: 'buy' }) },
  },
  'the target of a hand-over': {
    callers: [{ id: 'root', transfers: [{ agent: 'shop' }] }],
    plays: { root: (request) => toolResults(request)[0] ?? call('transfer_to_agent', { agent_name: 'shop' }) },
  },
  'a peer': {
    callers: [{ id: 'root', speaks: [{ protocol: 'talk', role: 'initiator', peers: ['shop'] }] }],
    plays: { root: (request) => toolResults(request)[0] ?? call('shop_ask', { text: 'buy' }) },
    shop: { speaks: [{ protocol: 'talk', role: 'responder' }] },
  },
  'a step of a workflow': { callers: [{ id: 'root', workflow: { kind: 'sequence', agents: ['shop'] } }] },
  'an agent that a tool runs': {
    callers: [{ id: 'root', tools: ['ask'] }],
    plays: { root: (request) => toolResults(request)[0] ?? call('ask') },
  },
}
const talk = {
  name: 'talk',
  messages: [
    { name: 'ask', from: 'initiator' as const, schema: { type: 'object', properties: { text: { type: 'string' } } } },
  ],
}
const ask = defineTool({
  name: 'ask',
  description: 'Asks.',
  parameters: z.object({}),
  execute: async (_, { agents }) => (await agents.run('shop', 'buy')).text,
})

for (const [what, cast] of Object.entries(callers))
  test(`[C21] ${what} demands too, and works once that is met`, async () => {
    for (const isMet of [true, false]) {
      const stage = stageOf([consent], { ...cast, tools: [ask], protocols: [talk] })
      const waiting = await stage.ask('root', 'go', { id: 'chats/1' })
      assert.deepEqual([waiting.status, waiting.interruptions.length], ['waiting', 1])
      assert.equal(stage.seenBy('shop').length, 0)
      await meet(stage, waiting, isMet ? paid : { answer: { decision: 'declined' } })
      const { text, code, status } = await ended(stage, waiting.runId)
      if (isMet) assert.deepEqual([status, text], ['completed', 'sold'])
      else assert.match(`${text} ${code}`, /A condition of `shop` was declined\.|APPROVAL_DENIED|WORKFLOW/)
      assert.equal(stage.seenBy('shop').length, isMet ? 1 : 0)
      await sound(stage)
    }
  })

test('[C21] a workflow demands before its first step', async () => {
  const workflow = { kind: 'sequence' as const, agents: ['shop'] }
  const stage = stageOf([], { callers: [{ id: 'root', workflow, demands: [consent] }] })
  const waiting = await stage.ask('root', 'go', { id: 'chats/1' })
  assert.deepEqual([waiting.status, stage.requests.length], ['waiting', 0])
  await meet(stage, waiting)
  assert.equal((await ended(stage, waiting.runId)).text, 'sold')
  await sound(stage)
})

test('[C21] [E54] a task in the background demands, and the run that reports it demands nothing again', async () => {
  const stage = stageOf([consent], {
    shop: { subAgents: [{ agent: 'clerk', blocking: 'never' }] },
    callers: [{ id: 'clerk', demands: [{ ...consent, message: 'cny-clerk' }] }],
    plays: {
      shop: (request, turn) =>
        turn === 0 ? call('clerk', { message: 'work' }) : `turn ${turn}: ${request.messages.length}`,
      clerk: () => 'worked',
    },
  })
  const waiting = await stage.ask('shop', 'go', { id: 'chats/1' })
  await meet(stage, waiting)
  await ended(stage, waiting.runId)
  await settle()
  const { interruptions } = await stage.runtime.getConversation('chats/1')
  assert.deepEqual(
    interruptions.map(({ path }) => path),
    ['clerk'],
  )
  await meet(stage, { interruptions })
  await until(async () => (await stage.runtime.listRuns('chats/1')).items.length === 2)
  await until(async () => (await stage.runtime.listRuns('chats/1')).items.every(({ status }) => status === 'completed'))
  assert.equal(stage.seenBy('clerk').length, 1)
  await sound(stage, { hasTasks: true })
})

test('[C21] a demand that is declined or not met in time fails the run in neutral words, and a cancel ends it', async () => {
  const clock = fakeClock()
  const stage = stageOf([consent], { clock, shop: { interruptionExpiresInSeconds: 60 } })
  const declined = await stage.ask('shop', 'go', { id: 'chats/1' })
  await meet(stage, declined, { answer: { decision: 'declined' } })
  assert.equal((await ended(stage, declined.runId)).code, 'APPROVAL_DENIED')
  const late = await stage.run('chats/1', { prompt: 'again' })
  clock.advance(61_000)
  assert.equal((await ended(stage, late.runId)).code, 'QUESTION_EXPIRED')
  const cancelled = await stage.run('chats/1', { prompt: 'again' })
  await stage.runtime.cancelRun(cancelled.runId)
  assert.equal((await ended(stage, cancelled.runId)).status, 'cancelled')
  assert.equal(stage.requests.length, 0)
  await sound(stage)
})

test('[C21] the client sees a demand at the call of its agent until it is met', async () => {
  const stage = stageOf([consent], callers['a sub-agent'] ?? {})
  const waiting = await stage.ask('root', 'go', { id: 'chats/1' })
  const fold = createConversationFold()
  for (const event of await stage.events('chats/1')) fold.take(event)
  const [open, ...more] = [...fold.view.open.values()]
  assert.deepEqual([open?.kind, open?.path, open?.agent, more.length], ['policy', 'shop', 'shop', 0])
  await meet(stage, waiting)
  await ended(stage, waiting.runId)
  for (const event of (await stage.events('chats/1')).filter(({ seq }) => (seq ?? 0) > fold.view.lastSeq))
    fold.take(event)
  assert.equal(fold.view.open.size, 0)
})

test('[C21] a model that calls the demand by its name hears that there is no such tool', async () => {
  const stage = stageOf([consent], {
    plays: { shop: (request) => toolResults(request)[0] ?? call('agent/demands', { demands: [0] }) },
  })
  const waiting = await stage.ask('shop', 'go', { id: 'chats/1' })
  await meet(stage, waiting)
  assert.match((await ended(stage, waiting.runId)).text ?? '', /unknown tool agent\/demands/)
  await sound(stage)
})

test('a demand that is no demand is refused where it is saved, and addresses are kept in canonical form', async () => {
  const { runtime } = createStage({ agents: [], plays: {} })
  const draft = (...demands: readonly unknown[]) => ({ id: 'shop', model: 'play/model', instructions: 'x', demands })
  const wrong: readonly (readonly [demands: readonly unknown[], path: string, words: RegExp])[] = [
    [[{ message: 'May I?' }], 'demands.0.kind', /is missing/],
    [[{ kind: 'may i', message: 'May I?' }], 'demands.0.kind', /not a valid name/],
    [[{ ...consent, message: ' ' }], 'demands.0.message', /not valid/],
    [[{ ...consent, message: 'x'.repeat(10_001) }], 'demands.0.message', /not valid/],
    [[{ ...consent, per: 'day' }], 'demands.0.per', /call.*conversation/],
    [[{ ...consent, of: 'everybody' }], 'demands.0.of', /expected array/],
    [[{ ...consent, of: ['everybody'] }], 'demands.0.of.0', /not a valid name/],
    [[{ ...consent, of: ['@*@b test'] }], 'demands.0.of.0', /not a valid name/],
    [[{ ...consent, of: ['@a@nowhere'] }], 'demands.0.of.0', /no address/],
    [[{ ...consent, of: ['for:mailto:a@b.test'] }], 'demands.0.of.0', /beside it in a list/],
    [[consent, consent], 'demands', /are the same/],
    [Array.from({ length: 21 }, (_, index) => ({ ...consent, message: `${index}` })), 'demands', /20/],
  ]
  for (const [demands, path, words] of wrong) {
    await assert.rejects(runtime.agents.save(draft(...demands) as never), {
      code: 'AGENT_INVALID',
      path,
      message: words,
    })
    const { errors } = await runtime.agents.check([draft(...demands) as never])
    assert.ok(
      errors.some((one) => one.path === path),
      path,
    )
  }
  await assert.rejects(runtime.agents.save(draft({ ...consent, until: 1 }) as never), { code: 'UNKNOWN_KEY' })
  const saved = await runtime.agents.save(
    draft({ ...consent, of: ['@A@B.test', ['@*@B.Test', 'from:@C@d.test']] }) as never,
  )
  assert.deepEqual(saved.agent.demands, [
    { ...consent, of: ['@a@b.test', ['@*@b.test', 'from:@c@d.test']], per: 'call' },
  ])
})
