/** How tasks end, and what they outlive: a cancel, the end of a conversation, a fork, a budget, and the loss of their server. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { assertEvents, assertProblem } from './support/claims.ts'
import type { Gate } from './support/exchange.ts'
import { createGate } from './support/model-server.ts'
import { agent, createStage, segment, type Stage, sub, until } from './support/stage.ts'
import { background, type TaskDoors, taskDoors } from './support/tasks.ts'
import { spoken } from './support/transcript.ts'
import type { Conversation, RunResult, WitanEvent } from './support/wire.ts'

let stage: Stage
let tasks: TaskDoors
beforeEach(async () => {
  stage = await createStage({ store: 'file', hosted: true })
  tasks = taskDoors(stage)
})
afterEach(() => stage?.close())

interface Held {
  id: string
  run: RunResult
  taskId: string
  /** The task stands in a model call of its helper until this opens. */
  gate: Gate
}

/** A run that has ended, and its task that has not. */
async function hold(): Promise<Held> {
  const gate = createGate()
  await stage.save(
    agent('root', { subAgents: [background('worker')] }),
    agent('worker', { subAgents: [sub('helper')] }),
    agent('helper'),
  )
  stage.model.on('root', ({ nth }) =>
    nth === 1 ? { calls: [{ name: 'worker', args: { message: 'm' } }] } : { text: `root ${nth}` },
  )
  stage.model.on('worker', ({ nth }) =>
    nth === 1 ? { calls: [{ name: 'helper', args: { message: 'h' } }] } : { text: 'worked' },
  )
  stage.model.on('helper', ({ nth }) => ({ text: 'helped', ...(nth === 1 ? { hold: gate } : {}) }))
  const run = await stage.ask('root', 'Go.', { id: 'chats/kept' })
  await gate.entered
  return { id: run.conversationId, run, taskId: run.tasks[0]?.taskId ?? '', gate }
}

/** The ends of the agent calls of a task and below it. */
function endsBelow(events: WitanEvent[], document: string): string[] {
  return events
    .filter(({ type, kind, document: of }) => type === 'end' && kind === 'agent' && of.startsWith(document))
    .map(({ author, content }) => `${author} ${String(content.finishReason)}`)
}

test('a cancelled task closes its whole subtree, nothing is told of it, and it is done once [Fb08] [D10]', async () => {
  const { id, taskId, gate } = await hold()
  const answer = await tasks.cancel(taskId)
  assert.equal(answer.status, 202, answer.text)
  await tasks.reaches(taskId, 'cancelled')
  const [held] = stage.model.of('helper')
  await until(
    async () => held?.aborted,
    (aborted) => aborted === true,
  )
  gate.open()
  assertProblem(await tasks.cancel(taskId), { status: 409, code: 'TASK_FINISHED' })
  const events = await stage.events(id)
  assert.deepEqual(endsBelow(events, `${id}/worker`), ['helper cancelled', 'worker cancelled'])
  assert.equal(events.at(-1)?.content.status, 'cancelled')
  const { runs } = await tasks.quiet(id)
  assert.equal(runs.length, 1, 'whoever cancels it knows: no follow-up')
  assertEvents(events)
})

test('the cancel of a run leaves its tasks at work, unless they are named [E57] [C30]', async () => {
  for (const also of [false, true]) {
    const names = also ? ['taker', 'taken', 'stops'] : ['leaver', 'left', 'stays']
    const [root = '', worker = '', slow = ''] = names
    const gates = [createGate(), createGate()] as const
    await stage.save(agent(root, { subAgents: [background(worker), sub(slow)] }), agent(worker), agent(slow))
    stage.model.on(root, ({ nth }) =>
      nth === 1 ? { calls: [worker, slow].map((name) => ({ name, args: { message: 'm' } })) } : { text: 'told' },
    )
    stage.model.script(worker, { text: 'worked', hold: gates[0] })
    stage.model.script(slow, { text: 'slow', hold: gates[1] })
    const { id } = await stage.begin(root)
    const first = stage.run(id, { prompt: 'Go.' })
    await Promise.all(gates.map(({ entered }) => entered))
    const { activeRunId } = await stage.conversation(id)
    const body = also ? { tasks: true } : {}
    const answer = await stage.witan.call('POST', `/api/v1/runs/${activeRunId}/cancel`, { body })
    assert.equal(answer.status, 202)
    const cancelled = await first
    assert.equal(cancelled.status, 'cancelled')
    assert.equal(cancelled.tasks.length, 1, 'its end lists its task [F23]')
    const taskId = cancelled.tasks[0]?.taskId ?? ''
    if (!also) assert.equal((await tasks.get(taskId)).status, 'running')
    for (const gate of gates) gate.open()
    const { runs } = await tasks.quiet(id)
    assert.equal((await tasks.get(taskId)).status, also ? 'cancelled' : 'completed')
    assert.equal(runs.length, also ? 1 : 2)
    if (!also) assert.match(JSON.stringify(stage.model.of(root)[1]?.body), /The run that started this was cancelled/)
    assertEvents(await stage.events(id))
  }
})

test('with its conversation a live task is gone, and what comes of its model call changes nothing [C30] [E57]', async () => {
  const { id, taskId, gate } = await hold()
  const path = `/api/v1/conversations/${segment(id)}`
  assert.equal((await stage.witan.call('DELETE', path)).status, 204)
  gate.open()
  assertProblem(await stage.witan.call('GET', `/api/v1/tasks/${taskId}`), { status: 404, code: 'NOT_FOUND' })
  assertProblem(await stage.witan.call('GET', path), { status: 404, code: 'NOT_FOUND' })
  assert.deepEqual((await tasks.list()).items, [])
  await until(
    async () => stage.model.of('helper')[0]?.aborted,
    (aborted) => aborted === true,
  )
  assert.equal(stage.model.of('worker').length, 1)
})

test('a fork is refused where a task is live, and goes as far back as none was [Rb55]', async () => {
  const { id, run, gate, taskId } = await hold()
  const fork = (seq: number) =>
    stage.witan.call<Conversation>('POST', `/api/v1/conversations/${segment(id)}/fork`, { body: { seq } })
  const { lastSeq } = await stage.conversation(id)
  const runEnds = (await stage.events(id)).find(
    (event) => event.callId === run.runId && event.type === 'end' && event.kind === 'agent',
  )
  for (const seq of [lastSeq, runEnds?.seq ?? 0])
    assertProblem(await fork(seq), { status: 409, code: 'FORK_OPEN_CALLS', names: ['the last legal seq is 0.'] })
  gate.open()
  await tasks.quiet(id)
  assertProblem(await fork(lastSeq), { status: 409, code: 'FORK_OPEN_CALLS' })
  const events = await stage.events(id)
  const ended = events.find(({ type, content }) => type === 'task' && content.status === 'completed')
  stage.model.on('root', ({ nth }) => ({ text: `root ${nth}` }))
  const made = await fork(ended?.seq ?? 0)
  assert.equal(made.status, 201, made.text)
  assert.deepEqual(made.body.tasks, [], 'a copied task is history')
  // What nobody was told of before the cut is told in the fork.
  await stage.run(made.body.id, { prompt: 'And?' })
  const told = stage.model.of('root').at(-1)
  assert.match(JSON.stringify(spoken(told).at(-1)), new RegExp(`Task ${taskId} is completed: worked.*And\\?`))
  const whole = await fork(events.at(-1)?.seq ?? 0)
  assert.equal(whole.status, 201, whole.text)
  await stage.run(whole.body.id, { prompt: 'And?' })
  assert.deepEqual(spoken(stage.model.of('root').at(-1)).at(-1), { user: 'And?' })
})

test('a task whose server is killed goes on with the next start, ends once, and is told of once [E51] [F31]', async () => {
  const { id, run, taskId, gate } = await hold()
  const before = await stage.events(id)
  await stage.witan.kill()
  gate.open()
  await stage.witan.start()
  const { runs } = await tasks.quiet(id)
  assert.deepEqual(
    runs.map(({ hidden, originRunId, status }) => [hidden, originRunId, status]),
    [
      [false, null, 'completed'],
      [true, run.runId, 'completed'],
    ],
  )
  const ended = await tasks.get(taskId)
  assert.equal(ended.status, 'completed')
  assert.equal(ended.text, 'worked')
  const events = await stage.events(id)
  assertEvents(events)
  assert.deepEqual(events.slice(0, before.length), before, 'the log only grows')
  assert.deepEqual(endsBelow(events, `${id}/worker`), ['helper stop', 'worker stop'])
  assert.equal(stage.model.of('worker').length, 2, 'a stored reply is not asked for again [D2]')
  assert.equal(stage.model.of('root').length, 3)
})

test('a message that was acknowledged before a kill is read after it, once [I1] [F27]', async () => {
  const { id, taskId, gate } = await hold()
  assert.equal((await tasks.message(taskId, { text: 'Mind the step.' })).status, 200)
  await stage.witan.kill()
  gate.open()
  await stage.witan.start()
  await tasks.quiet(id)
  const text = JSON.stringify(stage.model.of('worker')[1]?.body.messages)
  assert.equal(text.split('Mind the step.').length, 2)
})

test('an action that a task waits for outlives a restart [E54] [F31]', async () => {
  await stage.save(
    agent('root', { subAgents: [background('asker')] }),
    agent('asker', { actions: [{ name: 'sign', description: 'Signs.' }] }),
  )
  stage.model.on('root', ({ nth }) =>
    nth === 1 ? { calls: [{ name: 'asker', args: { message: 'm' } }] } : { text: 'ok' },
  )
  stage.model.script('asker', { calls: [{ name: 'sign' }] }, { text: 'signed' })
  const run = await stage.ask('root', 'Go.')
  const taskId = run.tasks[0]?.taskId ?? ''
  await tasks.reaches(taskId, 'waiting')
  await stage.witan.stop()
  await stage.witan.start()
  assert.equal((await tasks.get(taskId)).status, 'waiting')
  const [open] = (await stage.conversation(run.conversationId)).interruptions
  const answer = await stage.witan.call('POST', `/api/v1/interruptions/${open?.id}/answer`, { body: { answer: 'S' } })
  assert.equal(answer.status, 200, answer.text)
  await tasks.quiet(run.conversationId)
  assert.equal((await tasks.get(taskId)).text, 'signed')
})

test('usage of a run is the sum over its tree while it lives; a task that outlives it tells its own', async () => {
  const { id, run, taskId, gate } = await hold()
  assert.equal(run.usage.modelCalls, 2, 'the root twice; the task is still at work')
  gate.open()
  const { runs } = await tasks.quiet(id)
  const task = await tasks.get(taskId)
  assert.equal(task.usage.modelCalls, 3)
  assert.deepEqual(Object.keys(task.usage.byAgent).sort(), ['root/worker', 'root/worker/helper'])
  const usages = await Promise.all(
    runs.map(async ({ runId }) => {
      const answer = await stage.witan.call<{ result: RunResult }>('GET', `/api/v1/runs/${runId}`)
      return answer.body.result.usage.modelCalls
    }),
  )
  assert.equal(
    usages.reduce((sum, one) => sum + one, task.usage.modelCalls),
    stage.model.seen.length,
  )
})

test('background children that loop never spend more than the root’s cap, whatever they start [I10] [D13]', async () => {
  const cap = 24
  await stage.save(
    agent('greedy', { subAgents: [background('ping')], limits: { maxModelCalls: cap, maxDepth: 100 } }),
    agent('ping', { subAgents: [background('pong')] }),
    agent('pong', { subAgents: [background('ping')] }),
  )
  let spread = 0
  const more = (name: string) => {
    spread += 1
    return { calls: [1, 2].map((each) => ({ name, args: { message: `again ${spread} ${each}` } })) }
  }
  stage.model.on('greedy', ({ nth }) => (nth === 1 ? more('ping') : { text: 'enough' }))
  stage.model.on('ping', () => more('pong'))
  stage.model.on('pong', ({ nth }) => (nth % 2 === 0 ? { text: 'that will do' } : more('ping')))
  const run = await stage.ask('greedy', 'Go.')
  await tasks.quiet(run.conversationId)
  const spent = stage.model.seen.length
  assert.ok(spent <= cap, `${spent} model calls of ${cap}, all follow-ups included`)
  assert.ok(spent > cap / 2, `${spent} model calls: they were at work`)
  const listed = (await tasks.list('?limit=200')).items
  assert.ok(listed.some(({ error }) => error?.code === 'BUDGET_EXCEEDED'))
  assertEvents(await stage.events(run.conversationId))
})

test('a root that answers each follow-up with another task comes to an end without anybody [I10] [R17]', async () => {
  const cap = 15
  await stage.save(
    agent('restless', { subAgents: [background('echo')], limits: { maxModelCalls: cap } }),
    agent('echo'),
  )
  const again = (nth: number) => ({ calls: [{ name: 'echo', args: { message: `again ${nth}` } }] })
  stage.model.on('restless', ({ nth, body }) =>
    body.messages.at(-1)?.role === 'tool' ? { text: 'under way' } : again(nth),
  )
  stage.model.on('echo', () => ({ text: 'echo' }))
  const { id } = await stage.begin('restless')
  await stage.run(id, { prompt: 'Go.' })
  const { runs } = await tasks.quiet(id)
  const spent = stage.model.seen.length
  assert.ok(spent <= cap && spent > cap - 4, `${spent} model calls of ${cap}`)
  assert.equal(runs.at(-1)?.status, 'failed', 'the last one says why')
  // A person’s next words have a budget of their own, and bring what was not told.
  stage.model.on('restless', () => ({ text: 'all told' }))
  const next = await stage.run(id, { prompt: 'And?' })
  assert.equal(next.text, 'all told')
  assert.match(JSON.stringify(spoken(stage.model.of('restless').at(-1)).at(-1)), /is completed: echo.*And\?/)
  assertEvents(await stage.events(id))
})
