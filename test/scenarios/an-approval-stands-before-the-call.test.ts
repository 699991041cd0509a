/** Approvals: a person releases a call with exactly its arguments before anything of it happens, at any depth, while its siblings go on. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool, memoryStore, type RuntimeOptions } from '@witan/core'
import { call } from '@witan/core/testing'
import type { Interruption, RunResult } from '@witan/protocol'
import { z } from 'zod'
import { assertAlternates, assertEpochs, assertSound, storedEntries } from '../support/claims.ts'
import { outliving } from '../support/reopen.ts'
import { actionsIn, type AgentDraft, createStage, type Play, type Stage } from '../support/stage.ts'

interface Paid {
  readonly amount: number
  readonly account: unknown
}

/** A tool that must never run unasked, and what it did. */
function payment() {
  const ledger: Paid[] = []
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ amount: z.number().max(100), note: z.string().default('none') }),
    execute: ({ amount }, { parameters }) => {
      ledger.push({ amount, account: parameters['account'] })
      return `paid ${amount}`
    },
  })
  return { ledger, pay }
}

const account = { name: 'account', type: 'string' as const, sendToModel: false }

/** Two branches of three levels pay at once, each below an approval; a third does not ask. */
const deep: readonly AgentDraft[] = [
  { id: 'root', subAgents: [{ agent: 'left' }, { agent: 'right' }, { agent: 'free' }] },
  { id: 'left', subAgents: [{ agent: 'leaf' }] },
  { id: 'right', subAgents: [{ agent: 'leaf' }] },
  { id: 'leaf', parameters: [account], tools: ['pay'], approvals: ['pay'] },
  { id: 'free', tools: ['pay'] },
]
const deepPlays = (): Record<string, Play> => ({
  root: [
    {
      toolCalls: ['left', 'right', 'free'].map((name) => ({ name, arguments: { message: `${name} pays` } })),
    },
    'all paid',
  ],
  left: [call('leaf', { message: 'pay 1' }), 'left paid'],
  right: [call('leaf', { message: 'pay 2' }), 'right paid'],
  leaf: (request) => {
    const last = request.messages.at(-1)
    if (last?.role === 'tool') return `leaf: ${last.content}`
    return call('pay', { amount: last?.content.endsWith('1') ? 1 : 2, account: 'mine' })
  },
  free: [call('pay', { amount: 3 }), 'free paid'],
})

function deepStage(options: RuntimeOptions = {}): Stage & { readonly ledger: readonly Paid[] } {
  const { ledger, pay } = payment()
  return { ...createStage({ agents: deep, plays: deepPlays(), options: { tools: [pay], ...options } }), ledger }
}

const start = (stage: Stage, id = 'chats/1') =>
  stage.ask('root', 'pay', { id, parameters: { account: { value: 'acc-7', sendToModel: false } } })

const asApproval = (one: Interruption | undefined): Interruption & { kind: 'approval' } => {
  assert.equal(one?.kind, 'approval')
  return one as Interruption & { kind: 'approval' }
}
const byAmount = ({ interruptions }: RunResult, amount: number) =>
  asApproval(interruptions.find((one) => one.kind === 'approval' && one.arguments['amount'] === amount))

test('[D11] [Fb06] approvals of every level wait at the root while the siblings go on, and nothing runs unasked', async () => {
  const stage = deepStage()
  const waiting = await start(stage)
  assert.equal(waiting.status, 'waiting')
  assert.deepEqual(
    waiting.interruptions.map(({ kind, path, agent }) => `${kind} ${agent} ${path}`),
    ['approval leaf left/leaf/pay', 'approval leaf right/leaf/pay'],
  )
  const one = byAmount(waiting, 1)
  assert.deepEqual([one.tool, one.arguments, one.state, one.addressee], ['pay', { amount: 1 }, 'open', null])
  assert.match(one.digest, /^[0-9a-f]{64}$/)
  assert.deepEqual(stage.ledger, [{ amount: 3, account: undefined }], 'the sibling without an approval went on')
  const asked = await stage.events('chats/1')
  const held = asked.filter(({ type }) => type === 'approval_required')
  assert.equal(held.length, 2)
  for (const { callId } of held)
    assert.ok(!asked.some((event) => event.callId === callId && event.type === 'start'), 'a held call has not started')
  assert.deepEqual(
    JSON.stringify(held).match(/acc-7|mine/g),
    null,
    'neither what is bound nor what the model wrote for it',
  )
  const { tree } = await stage.runtime.getRun(waiting.runId)
  assert.match(JSON.stringify(tree), /"status":"waiting"[^{}]*\{[^{}]*\},"children":\[\],"kind":"tool","name":"pay"/)
  assert.equal((await stage.document('chats/1/left/leaf')).openCalls[0]?.id, one.id)
})

test('[D11] approved calls run once with the bound values, and their callers go on', async () => {
  const stage = deepStage()
  const waiting = await start(stage)
  const [one, two] = [byAmount(waiting, 1), byAmount(waiting, 2)]
  const half = await stage.run('chats/1', { answers: [{ id: two.id, answer: { decision: 'approved' } }] })
  assert.equal(half.status, 'waiting')
  assert.deepEqual(
    half.interruptions.map(({ id }) => id),
    [one.id],
  )
  assert.deepEqual(stage.ledger.slice(1), [{ amount: 2, account: 'acc-7' }])
  const done = await stage.run('chats/1', { answers: [{ id: one.id, answer: { decision: 'approved' } }] })
  assert.deepEqual([done.status, done.text, done.runId], ['completed', 'all paid', waiting.runId])
  assert.deepEqual(
    stage.ledger.map(({ amount }) => amount),
    [3, 2, 1],
  )
  const events = await stage.events('chats/1')
  assertSound(events)
  const started = events.find(({ type, callId }) => type === 'start' && callId === one.callId)
  assert.equal(started?.content['name'], 'pay', 'the call starts under the id it was asked for with')
  for (const request of stage.requests) assertAlternates(request)
  assert.deepEqual(
    stage
      .seenBy('root')[1]
      ?.messages.slice(-3)
      .map(({ content }) => content),
    ['left paid', 'right paid', 'free paid'],
  )
})

test('[Fb06] several are answered at once, all or none', async () => {
  const stage = deepStage()
  const waiting = await start(stage)
  const [one, two] = [byAmount(waiting, 1).id, byAmount(waiting, 2).id]
  const approved = { decision: 'approved' }
  const bad = {
    answers: [
      { id: one, answer: approved },
      { id: two, answer: { decision: 'maybe' } },
    ],
  }
  await assert.rejects(stage.run('chats/1', bad), { code: 'ANSWER_INVALID', path: 'answer.decision' })
  const foreign = {
    answers: [
      { id: one, answer: approved },
      { id: 'i_none', answer: approved },
    ],
  }
  await assert.rejects(stage.run('chats/1', foreign), { code: 'ACTION_NOT_FOUND' })
  assert.equal((await stage.runtime.listInterruptions({ state: 'open' })).items.length, 2)
  assert.equal(stage.ledger.length, 1)
  const done = await stage.run('chats/1', {
    answers: [
      { id: one, answer: approved },
      { id: two, answer: { decision: 'denied', reason: 'twice' } },
    ],
  })
  assert.equal(done.status, 'completed')
  assert.deepEqual(
    stage.ledger.map(({ amount }) => amount),
    [3, 1],
  )
})

test('[Fb06] a denied call does not run: its model reads why and goes on', async () => {
  const stage = deepStage()
  const waiting = await start(stage)
  const answers = waiting.interruptions.map(({ id }, index) => ({
    id,
    answer: { decision: 'denied', ...(index === 0 ? { reason: 'not this month' } : {}) },
  }))
  const done = await stage.run('chats/1', { answers })
  assert.equal(done.status, 'completed')
  assert.deepEqual(
    stage.ledger.map(({ amount }) => amount),
    [3],
  )
  const read = stage
    .seenBy('leaf')
    .slice(2)
    .map(({ messages }) => messages.at(-1)?.content ?? '')
  assert.ok(read.includes('{"error":"denied: not this month"}'), read.join())
  assert.ok(read.some((text) => /^\{"error":"denied: /.test(text) && !text.includes('month')))
  const events = await stage.events('chats/1')
  assertSound(events)
  assert.equal(
    events.filter(({ type, content }) => type === 'error' && content['code'] === 'APPROVAL_DENIED').length,
    2,
  )
})

test('[Fb06] an approval may change the arguments, and only within the tool’s own terms', async () => {
  const stage = deepStage()
  const waiting = await start(stage)
  const { id } = byAmount(waiting, 2)
  const changed = (args: unknown) => ({ answer: { decision: 'approved', arguments: args } })
  for (const args of [{ amount: 101 }, { amount: 'all' }, { amount: 1, account: 'x' }, { amount: 1, to: 'x' }, {}])
    await assert.rejects(stage.runtime.answerInterruption(id, changed(args)), { code: 'ANSWER_INVALID' })
  assert.equal((await stage.runtime.answerInterruption(id, changed({ amount: 50 }))).state, 'answered')
  await stage.run('chats/1', { answers: [{ id: byAmount(waiting, 1).id, answer: { decision: 'approved' } }] })
  assert.deepEqual(
    stage.ledger
      .slice(1)
      .map((one) => JSON.stringify(one))
      .sort(),
    ['{"amount":1,"account":"acc-7"}', '{"amount":50,"account":"acc-7"}'],
  )
  const events = await stage.events('chats/1')
  const starts = events.filter(({ type, content }) => type === 'start' && content['name'] === 'pay')
  const told = starts.find(({ callId }) => callId === byAmount(waiting, 2).callId)
  assert.deepEqual(told?.content['arguments'], { amount: 50 })
})

test('[Fb06] changed arguments that only the tool’s own code refuses are an error to the model, and nothing runs', async () => {
  const paid: number[] = []
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ amount: z.number().refine((amount) => amount % 2 === 0, 'pays even amounts only') }),
    execute: ({ amount }) => paid.push(amount),
  })
  const stage = createStage({
    agents: [{ id: 'root', tools: ['pay'], approvals: ['pay'] }],
    plays: { root: [call('pay', { amount: 2 }), 'done'] },
    options: { tools: [pay] },
  })
  const { interruptions } = await stage.ask('root', 'pay', { id: 'chats/1' })
  const answer = { decision: 'approved', arguments: { amount: 3 } }
  const done = await stage.run('chats/1', { answers: [{ id: interruptions[0]?.id ?? '', answer }] })
  assert.equal(done.status, 'completed')
  assert.match(stage.requests[1]?.messages.at(-1)?.content ?? '', /pays even amounts only/)
  assert.deepEqual(paid, [])
})

test('[D11] [Fb06] what was approved is not released as another call, where the next process has another tool', async () => {
  const store = outliving(memoryStore())
  const paid: unknown[] = []
  const open = (parameters: z.ZodObject) =>
    createStage({
      agents: [{ id: 'root', tools: ['pay'], approvals: ['pay'] }],
      plays: { root: (request) => (request.messages.at(-1)?.role === 'tool' ? 'done' : call('pay', asked)) },
      options: {
        store,
        tools: [defineTool({ name: 'pay', description: 'Pays.', parameters, execute: (args) => paid.push(args) })],
      },
    })
  const asked = { amount: 1, to: 'the landlord' }
  const first = open(z.object({ amount: z.number(), to: z.string() }))
  const { interruptions } = await first.ask('root', 'pay', { id: 'chats/1' })
  await first.runtime.close()
  const second = open(z.object({ amount: z.number() }))
  const answers = [{ id: interruptions[0]?.id ?? '', answer: { decision: 'approved' } }]
  assert.equal((await second.run('chats/1', { answers })).status, 'completed')
  assert.match(second.requests[0]?.messages.at(-1)?.content ?? '', /the approval is for another call/)
  assert.deepEqual(paid, [])
})

test('[D11] [F31] another process answers after a restart, once; of two answers one wins', async () => {
  const store = outliving(memoryStore())
  const first = deepStage({ store })
  const waiting = await start(first)
  await first.runtime.close()
  const second = deepStage({ store })
  const { id } = byAmount(waiting, 1)
  const tried = await Promise.allSettled(
    [{ decision: 'approved' }, { decision: 'denied' }, { decision: 'approved', reason: 'late' }].map((answer) =>
      second.runtime.answerInterruption(id, { answer }),
    ),
  )
  assert.equal(tried.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const one of tried) if (one.status === 'rejected') assert.equal(one.reason.code, 'ALREADY_ANSWERED')
  await second.runtime.close()
  const third = deepStage({ store })
  const rest = { answers: [{ id: byAmount(waiting, 2).id, answer: { decision: 'approved' } }] }
  const done = await third.run('chats/1', rest)
  assert.deepEqual([done.status, done.runId], ['completed', waiting.runId])
  const paid = [...first.ledger, ...second.ledger, ...third.ledger].map(({ amount }) => amount)
  const wasApproved = tried[0]?.status === 'fulfilled' || tried[2]?.status === 'fulfilled'
  assert.deepEqual(paid.toSorted(), wasApproved ? [1, 2, 3] : [2, 3])
  assertSound(await third.events('chats/1'))
  assertEpochs(await storedEntries(store, 'chats/1'))
})

test('[Fb06] actions and delegates wait for their approval too, under their path', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'leaf' }], approvals: ['leaf'] },
      { id: 'leaf', actions: [{ name: 'Sign', parametersSample: { what: 'x' } }], approvals: ['Sign'] },
    ],
    plays: {
      root: [call('leaf', { message: 'sign it' }), 'signed'],
      leaf: [call('Sign', { what: 'all' }), 'done'],
    },
  })
  const first = await stage.ask('root', 'go', { id: 'chats/1' })
  const delegate = asApproval(first.interruptions[0])
  assert.deepEqual([delegate.path, delegate.agent, delegate.tool], ['leaf', 'root', 'leaf'])
  assert.deepEqual(delegate.arguments, { message: 'sign it' })
  assert.equal(stage.seenBy('leaf').length, 0)
  const more = { decision: 'approved', arguments: { message: 'sign one page' } }
  const second = await stage.run('chats/1', { answers: [{ id: delegate.id, answer: more }] })
  assert.equal(stage.seenBy('leaf')[0]?.messages.at(-1)?.content, 'sign one page')
  const gate = asApproval(second.interruptions[0])
  assert.deepEqual([gate.path, gate.agent], ['leaf/Sign', 'leaf'])
  const third = await stage.run('chats/1', { answers: [{ id: gate.id, answer: { decision: 'approved' } }] })
  const [action] = actionsIn(third.interruptions)
  assert.deepEqual([action?.path, action?.arguments, action?.callId], ['leaf/Sign', { what: 'all' }, gate.callId])
  const done = await stage.run('chats/1', { actionResponses: [{ id: action?.id, response: 'ok' }] })
  assert.deepEqual([done.status, done.text], ['completed', 'signed'])
  assertSound(await stage.events('chats/1'))
})

test('[D10] a run that is cancelled while a call is held closes it, and the call never happened', async () => {
  const stage = deepStage()
  const waiting = await start(stage)
  await stage.runtime.cancelRun(waiting.runId)
  const { result } = (await stage.runtime.getRun(waiting.runId)) ?? {}
  const ended = result ?? (await stage.runtime.liveRun('chats/1'))
  assert.ok(ended === null || 'runId' in ended)
  const { items } = await stage.runtime.listInterruptions({ state: 'cancelled' })
  assert.equal(items.length, 2)
  await assert.rejects(stage.runtime.answerInterruption(items[0]?.id ?? '', { answer: { decision: 'approved' } }), {
    code: 'RUN_FINISHED',
  })
  assert.equal(stage.ledger.length, 1)
  assertSound(await stage.events('chats/1'))
})

test('[Fb06] an approval that names no tool of its agent refuses the save and says what is near', async () => {
  const stage = createStage({ agents: [], plays: {} })
  const bad = {
    id: 'a',
    model: 'play/model',
    instructions: '',
    actions: [{ name: 'ChangeName' }],
    approvals: ['ChangeNam'],
  }
  await assert.rejects(stage.runtime.agents.save(bad), {
    code: 'TOOL_UNKNOWN',
    path: 'approvals.0',
    hint: /ChangeName/,
  })
  const { errors } = await stage.runtime.agents.check([{ ...bad, approvals: ['nothing'] }])
  assert.deepEqual(
    errors.map(({ code, path }) => `${code} ${path}`),
    ['TOOL_UNKNOWN approvals.0'],
  )
  assert.match(errors[0]?.hint ?? '', /Its tools: ChangeName/)
})
