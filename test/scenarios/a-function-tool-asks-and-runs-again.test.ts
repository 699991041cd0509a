/** Function tools that wait: a question or an approval ends their run, and they run again from the beginning with the answer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool, type FunctionContext, memoryStore, type Store } from '@witan/core'
import { call, toolResults } from '@witan/core/testing'
import type { RunResult } from '@witan/protocol'
import { z } from 'zod'
import { assertSound } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { outliving } from '../support/reopen.ts'
import { createStage, type Stage, until } from '../support/stage.ts'

type Execute = (context: FunctionContext) => unknown

/** A root whose one tool does this; `effect` is the default, `once`, unless said. */
function stageOf(
  execute: Execute,
  more: { store?: Store; effect?: 'none'; agent?: object; clock?: ReturnType<typeof fakeClock> } = {},
) {
  const tool = defineTool({
    name: 'work',
    description: 'Works.',
    parameters: z.object({}),
    effect: more.effect ?? 'once',
    execute: (_, context) => execute(context),
  })
  return createStage({
    agents: [{ id: 'root', tools: ['work'], ...more.agent }],
    plays: { root: (request) => toolResults(request)[0] ?? call('work') },
    options: {
      tools: [tool],
      ...(more.store === undefined ? {} : { store: more.store }),
      ...(more.clock === undefined ? {} : { clock: more.clock }),
    },
  })
}

const question = (id: string) => ({ id, text: `What about ${id}?` })
const answering = (result: RunResult, answer: unknown) => ({
  answers: [{ id: result.interruptions[0]?.id ?? '', answer }],
})

async function sound(stage: Stage): Promise<void> {
  assertSound(await stage.events('chats/1'))
  assert.deepEqual(stage.reports, [])
}

test('[F29] a function tool asks, the run waits, and the tool runs again with the answer', async () => {
  let runs = 0
  const stage = stageOf(async ({ ask }) => {
    runs += 1
    const { size } = await ask([{ ...question('size'), options: [{ id: 's', label: 'small' }] }])
    return `ordered ${size?.options?.[0]}`
  })
  const waiting = await stage.ask('root', 'go', { id: 'chats/1' })
  assert.equal(waiting.status, 'waiting')
  const [asked] = waiting.interruptions
  assert.deepEqual([asked?.kind, asked?.path, asked?.agent], ['question', 'work', 'root'])
  const done = await stage.run('chats/1', answering(waiting, { size: { options: ['s'] } }))
  assert.deepEqual([done.status, done.text, runs], ['completed', 'ordered s', 2])
  const tools = (await stage.events('chats/1')).filter(({ kind }) => kind === 'tool')
  assert.deepEqual(
    tools.map(({ type }) => type),
    ['start', 'end'],
    'it is one call, however often the function ran',
  )
  await sound(stage)
})

test('[F29] several questions of one call are asked one after the other, each once', async () => {
  const stage = stageOf(async ({ ask }) => {
    const first = await ask([question('one')])
    const second = await ask([question('two')], { to: 'local' })
    const again = await ask([question('one')])
    return [first['one']?.text, second['two']?.text, again['one']?.text].join(' ')
  })
  const first = await stage.ask('root', 'go', { id: 'chats/1' })
  const second = await stage.run('chats/1', answering(first, { one: { text: 'a' } }))
  assert.deepEqual(
    second.interruptions.map(({ addressee }) => addressee),
    ['local'],
  )
  const done = await stage.run('chats/1', answering(second, { two: { text: 'b' } }))
  assert.deepEqual([done.status, done.text], ['completed', 'a b a'])
  await sound(stage)
})

test('[F29] two calls that wait at once each get their own answer, in whatever order the answers come', async () => {
  const ordered: string[] = []
  const order = defineTool({
    name: 'order',
    description: 'Orders.',
    parameters: z.object({ what: z.string() }),
    execute: async ({ what }, { ask }) => {
      const { size } = await ask([{ id: 'size', text: `Which size of ${what}?` }])
      ordered.push(`${what}: ${size?.text}`)
      return ordered.at(-1)
    },
  })
  const orders = ['tea', 'milk'].map((what) => ({ name: 'order', arguments: { what } }))
  for (const isReversed of [false, true]) {
    ordered.length = 0
    const stage = createStage({
      agents: [{ id: 'root', tools: ['order'] }],
      plays: { root: (request) => toolResults(request).join(', ') || { toolCalls: orders } },
      options: { tools: [order] },
    })
    const waiting = await stage.ask('root', 'go', { id: 'chats/1' })
    const answers = waiting.interruptions.map((asked) => {
      const isTea = asked.kind === 'question' && asked.questions[0]?.text.includes('tea') === true
      return { id: asked.id, answer: { size: { text: isTea ? 'small' : 'large' } } }
    })
    const [first, second] = isReversed ? answers.toReversed() : answers
    const half = await stage.run('chats/1', { answers: [first] })
    assert.deepEqual([half.status, half.interruptions.map(({ id }) => id)], ['waiting', [second?.id]])
    const done = await stage.run('chats/1', { answers: [second] })
    assert.deepEqual([done.status, done.text], ['completed', 'tea: small, milk: large'])
    assert.deepEqual(ordered.toSorted(), ['milk: large', 'tea: small'], 'each is ordered once')
    await sound(stage)
  }
})

test('[F29] [D11] nothing waits in a process: another runtime takes the answer, and a `once` tool goes on there', async () => {
  const clock = fakeClock()
  const store = outliving(memoryStore({ now: clock.now }))
  const execute: Execute = async ({ ask }) => (await ask([question('one')]))['one']?.text
  const first = stageOf(execute, { store, clock })
  const waiting = await first.ask('root', 'go', { id: 'chats/1' })
  await first.runtime.close()
  const second = stageOf(execute, { store, clock })
  const done = await second.run('chats/1', answering(waiting, { one: { text: 'from afar' } }))
  assert.deepEqual([done.status, done.text], ['completed', 'from afar'])
  await sound(second)
})

test('[Fb06] a function tool asks for approval of what it is about to do; a denial comes with its reason', async () => {
  const stage = stageOf(async ({ approve }) => {
    const { approved, reason } = await approve({ amount: 12 })
    return approved ? 'paid' : `not paid: ${reason}`
  })
  const waiting = await stage.ask('root', 'go', { id: 'chats/1' })
  const [asked] = waiting.interruptions
  assert.ok(asked?.kind === 'approval')
  assert.deepEqual([asked.tool, asked.arguments], ['work', { amount: 12 }])
  const done = await stage.run('chats/1', answering(waiting, { decision: 'denied', reason: 'too much' }))
  assert.equal(done.text, 'not paid: too much')
  const changed = await stage.run('chats/1', { prompt: 'again' })
  const wrong = stage.run('chats/1', answering(changed, { decision: 'approved', arguments: { amount: 1 } }))
  await assert.rejects(wrong, { code: 'ANSWER_INVALID' })
  const paid = await stage.run('chats/1', answering(changed, { decision: 'approved' }))
  assert.equal(paid.text, 'paid')
  await sound(stage)
})

test('[Fb06] what a tool was allowed to do once is not allowed for anything else: each act is released on its own', async () => {
  const stage = stageOf(async ({ approve }) => {
    const acts: string[] = []
    for (const amount of [1, 1000]) {
      const { approved } = await approve({ amount })
      acts.push(`${amount}: ${approved}`)
    }
    return acts.join(', ')
  })
  const first = await stage.ask('root', 'go', { id: 'chats/1' })
  const second = await stage.run('chats/1', answering(first, { decision: 'approved' }))
  assert.equal(second.status, 'waiting')
  const [asked] = second.interruptions
  assert.deepEqual(asked?.kind === 'approval' && asked.arguments, { amount: 1000 })
  const done = await stage.run('chats/1', answering(second, { decision: 'denied' }))
  assert.equal(done.text, '1: true, 1000: false')
  await sound(stage)
})

test('[E59] a question that nobody answers in time throws in the tool, which may go on without', async () => {
  const clock = fakeClock()
  const stage = stageOf(
    ({ ask }) =>
      ask([question('one')]).then(
        () => 'answered',
        (error: Error) => `went on: ${error.message}`,
      ),
    { clock, agent: { interruptionExpiresInSeconds: 60 } },
  )
  const waiting = await stage.ask('root', 'go', { id: 'chats/1' })
  clock.advance(61_000)
  await until(async () => (await stage.runtime.getRun(waiting.runId)).status === 'completed')
  const { result } = await stage.runtime.getRun(waiting.runId)
  assert.equal(result?.text, 'went on: nobody answered in time')
  await sound(stage)
})

test('what a tool catches or gives after it has asked counts for nothing: the question stands', async () => {
  const stage = stageOf(async ({ ask }) => {
    try {
      return (await ask([question('one')]))['one']?.text
    } catch {
      return 'swallowed'
    }
  })
  const waiting = await stage.ask('root', 'go', { id: 'chats/1' })
  assert.equal(waiting.status, 'waiting')
  assert.equal((await stage.run('chats/1', answering(waiting, { one: { text: 'heard' } }))).text, 'heard')
  await sound(stage)
})

test('a cancel ends a call that waits, and its question', async () => {
  const stage = stageOf(({ ask }) => ask([question('one')]))
  const waiting = await stage.ask('root', 'go', { id: 'chats/1' })
  await stage.runtime.cancelRun(waiting.runId)
  const late = stage.run('chats/1', answering(waiting, { one: { text: 'too late' } }))
  await assert.rejects(late, { code: 'RUN_FINISHED' })
  await sound(stage)
})

test('a call that is over leaves no checkpoint', async () => {
  let late: () => Promise<void> = () => Promise.resolve()
  const stage = stageOf(({ checkpoint }) => {
    late = () => checkpoint.save('too late')
    return 'worked'
  })
  assert.equal((await stage.ask('root', 'go', { id: 'chats/1' })).text, 'worked')
  await assert.rejects(late(), { message: 'The call is over: it can leave no checkpoint.' })
  await sound(stage)
})

test('questions that cannot be asked, and checkpoints that cannot be kept, are errors in the tool', async () => {
  const wrong: Execute[] = [
    ({ ask }) => ask([]),
    ({ ask }) => ask([question('same'), question('same')]),
    ({ checkpoint }) => checkpoint.save('x'.repeat(20_000)),
    ({ checkpoint }) => checkpoint.save(undefined),
  ]
  for (const [index, execute] of wrong.entries()) {
    const done = await stageOf(execute).ask('root', 'go', { id: 'chats/1' })
    assert.match(done.text, index < 2 ? /cannot be asked/ : /A checkpoint is JSON of at most 16000 characters/)
  }
})
