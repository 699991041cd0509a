/** What is told of ended tasks, to whom, and when: the corners of follow-up runs, and what waits within a task. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertEvents, assertNeverSaw, assertSaw } from './support/claims.ts'
import { createGate } from './support/model-server.ts'
import { agent, createStage, type Stage, until } from './support/stage.ts'
import { background, type TaskDoors, taskDoors, taskIdIn } from './support/tasks.ts'
import { spoken, toolContents } from './support/transcript.ts'
import type { RunResult } from './support/wire.ts'

let stage: Stage
let tasks: TaskDoors
before(async () => {
  stage = await createStage()
  tasks = taskDoors(stage)
})
after(() => stage?.close())

/** The last thing that a model was told as a user. */
function lastWords(model: string, nth: number): string {
  const last = spoken(stage.model.of(model)[nth - 1]).at(-1)
  assert.ok(last && 'user' in last, `request ${nth} of ${model} ends with words: ${JSON.stringify(last)}`)
  return last.user
}

test('a run that failed is followed up all the same, and the follow-up says so [E52]', async () => {
  const gate = createGate()
  await stage.save(agent('breaks', { subAgents: [background('lasts')] }), agent('lasts'))
  stage.model.script(
    'breaks',
    { calls: [{ name: 'lasts', args: { message: 'm' } }] },
    { status: 400, text: 'no more' },
    { text: 'It was finished after all.' },
  )
  stage.model.script('lasts', { text: 'lasting', hold: gate })
  const run = await stage.ask('breaks', 'Go.')
  assert.equal(run.status, 'failed')
  gate.open()
  const { runs } = await tasks.quiet(run.conversationId)
  assert.deepEqual(
    runs.map(({ status, hidden }) => [status, hidden]),
    [
      ['failed', false],
      ['completed', true],
    ],
  )
  const told = lastWords('breaks', 3)
  assert.match(told, /^\[from @witan to @breaks\] The run that started this failed: /)
  assert.match(told, /\[from @lasts to @breaks\] Task \S+ is completed: lasting$/)
  assertEvents(await stage.events(run.conversationId))
})

test('a task that fails is told of as failed, with the reason [F22]', async () => {
  await stage.save(agent('trusts', { subAgents: [background('fails')] }), agent('fails'))
  stage.model.script('trusts', { calls: [{ name: 'fails', args: { message: 'm' } }] }, { text: 'a' }, { text: 'b' })
  stage.model.script('fails', { status: 400, text: 'out of order' })
  const run = await stage.ask('trusts', 'Go.')
  await tasks.quiet(run.conversationId)
  const task = await tasks.get(run.tasks[0]?.taskId ?? '')
  assert.equal(task.status, 'failed')
  assert.equal(task.error?.code, 'MODEL_CALL_FAILED')
  assert.match(lastWords('trusts', 3), /^\[from @fails to @trusts\] Task \S+ failed: .*out of order/)
  const [call] = (await stage.document(run.conversationId)).messages.flatMap(({ toolCalls }) => toolCalls ?? [])
  assert.match(JSON.stringify(call?.result), /out of order/)
})

test('a prompt while the follow-up is live joins it: one run tells both [E53] [D12]', async () => {
  const gate = createGate()
  await stage.save(agent('meets', { subAgents: [background('brings')] }), agent('brings'))
  stage.model.script(
    'meets',
    { calls: [{ name: 'brings', args: { message: 'm' } }] },
    { text: 'under way' },
    { text: 'It is done.', hold: gate },
    { text: 'It is done, and hello.' },
  )
  stage.model.script('brings', { text: 'brought' })
  const run = await stage.ask('meets', 'Go.')
  await gate.entered
  const next = stage.run(run.conversationId, { prompt: 'Hello?' })
  await until(
    () => stage.events(run.conversationId),
    (events) => events.some(({ type, content }) => type === 'message' && content.text === 'Hello?'),
  )
  gate.open()
  const joined = await next
  assert.equal(joined.text, 'It is done, and hello.')
  const { runs } = await tasks.quiet(run.conversationId)
  assert.equal(runs.length, 2)
  assert.equal(runs[1]?.runId, joined.runId)
  assertEvents(await stage.events(run.conversationId))
})

test('a run that interrupts the follow-up takes in what it had to tell, and no third run follows [E53]', async () => {
  const gate = createGate()
  await stage.save(agent('cuts', { subAgents: [background('late-one')] }), agent('late-one'))
  stage.model.script(
    'cuts',
    { calls: [{ name: 'late-one', args: { message: 'm' } }] },
    { text: 'under way' },
    { text: 'never heard', hold: gate },
    { text: 'You want that, and it is done.' },
  )
  stage.model.script('late-one', { text: 'late result' })
  const run = await stage.ask('cuts', 'Go.')
  await gate.entered
  const next = await stage.run(run.conversationId, { prompt: 'Something else.', onActive: 'interrupt' })
  assert.equal(next.status, 'completed')
  gate.open()
  assert.match(lastWords('cuts', 4), /Task \S+ is completed: late result[\s\S]*Something else\.$/)
  const { runs } = await tasks.quiet(run.conversationId)
  assert.deepEqual(
    runs.map(({ status, hidden }) => [status, hidden]),
    [
      ['completed', false],
      ['cancelled', true],
      ['completed', false],
    ],
  )
  assertEvents(await stage.events(run.conversationId))
})

test('a task’s own task is told to it while it lives, and to the root when it has ended [E55]', async () => {
  const early = createGate()
  const late = createGate()
  const own = createGate()
  await stage.save(
    agent('top', { subAgents: [background('between')] }),
    agent('between', { subAgents: [background('deep-early'), background('deep-late')] }),
    agent('deep-early'),
    agent('deep-late'),
  )
  stage.model.on('top', ({ nth }) =>
    nth === 1 ? { calls: [{ name: 'between', args: { message: 'm' } }] } : { text: `top ${nth}` },
  )
  stage.model.script(
    'between',
    { calls: ['deep-early', 'deep-late'].map((name) => ({ name, args: { message: name } })) },
    { text: 'not yet the end', hold: own },
    { text: 'the end' },
  )
  stage.model.script('deep-early', { text: 'early result', hold: early })
  stage.model.script('deep-late', { text: 'late result', hold: late })
  const run = await stage.ask('top', 'Go.')
  await own.entered
  const { items } = await tasks.list()
  const find = (id: string) => items.find((task) => task.agent === id && task.conversationId === run.conversationId)
  early.open()
  await tasks.reaches(find('deep-early')?.taskId ?? '', 'completed')
  own.open()
  await tasks.reaches(find('between')?.taskId ?? '', 'completed')
  assert.match(lastWords('between', 3), /^\[from @deep-early to @between\] Task \S+ is completed: early result$/)
  late.open()
  const { runs } = await tasks.quiet(run.conversationId)
  assert.deepEqual(
    runs.map(({ hidden, originRunId }) => [hidden, originRunId]),
    [
      [false, null],
      [true, run.runId],
      [true, run.runId],
    ],
  )
  assert.match(lastWords('top', 3), /^\[from @between to @top\] Task \S+ is completed: the end$/)
  assert.match(lastWords('top', 4), /^\[from @deep-late to @top\] Task \S+ is completed: late result$/)
  assert.equal(find('deep-late')?.path, 'between/deep-late')
  assertEvents(await stage.events(run.conversationId))
})

test('depth counts through tasks [E55] [F36]', async () => {
  await stage.save(
    agent('shallow', { subAgents: [background('second')], limits: { maxDepth: 1 } }),
    agent('second', { subAgents: [background('third')] }),
    agent('third'),
  )
  stage.model.on('shallow', ({ nth }) =>
    nth === 1 ? { calls: [{ name: 'second', args: { message: 'm' } }] } : { text: 'ok' },
  )
  stage.model.script('second', { calls: [{ name: 'third', args: { message: 'm' } }] }, { text: 'did it myself' })
  const run = await stage.ask('shallow', 'Go.')
  await tasks.quiet(run.conversationId)
  assert.match(toolContents(stage.model.of('second')[1])[0] ?? '', /"error":".*deeper than 1/)
  assert.equal(
    (await tasks.list()).items.filter(({ conversationId }) => conversationId === run.conversationId).length,
    1,
  )
})

test('an action within a task surfaces at the conversation although no run is live; its answer moves the task on [E54] [F34]', async () => {
  await stage.save(
    agent('hosts', { subAgents: [background('needs')] }),
    agent('needs', { actions: [{ name: 'sign', description: 'Signs.' }] }),
  )
  stage.model.script(
    'hosts',
    { calls: [{ name: 'needs', args: { message: 'm' } }] },
    { text: 'a' },
    { text: 'signed, it is' },
  )
  stage.model.script('needs', { calls: [{ name: 'sign', args: { page: 3 } }] }, { text: 'signed' })
  const run = await stage.ask('hosts', 'Go.')
  const taskId = run.tasks[0]?.taskId ?? ''
  await tasks.reaches(taskId, 'waiting')
  const waiting = await stage.conversation(run.conversationId)
  assert.equal(waiting.status, 'idle')
  assert.equal(waiting.activeRunId, null)
  assert.deepEqual(
    waiting.interruptions.map(({ path, agent: id }) => [path, id]),
    [['needs/sign', 'needs']],
  )
  assert.deepEqual(
    waiting.tasks.map(({ status }) => status),
    ['waiting'],
  )
  // A prompt is no answer to what the task waits for, and needs none.
  stage.model.on('hosts', ({ nth }) => ({ text: nth === 3 ? 'we talk on' : 'signed, it is' }))
  const other: RunResult = await stage.run(run.conversationId, { prompt: 'Meanwhile?' })
  assert.equal(other.text, 'we talk on')
  const [open] = waiting.interruptions
  const answer = await stage.witan.call('POST', `/api/v1/interruptions/${open?.id}/answer`, { body: { answer: 'S' } })
  assert.equal(answer.status, 200, answer.text)
  await tasks.quiet(run.conversationId)
  assert.deepEqual(toolContents(stage.model.of('needs')[1]), ['S'])
  const terse = await stage.events(run.conversationId, 'verbose=false')
  const ofTask = terse.filter(({ callId, rootCallId }) => callId !== rootCallId)
  assert.deepEqual(
    ofTask.map(({ type }) => type),
    ['action_required', 'resolved'],
    'of a task a terse reader sees what it asks for, and nothing else',
  )
  assertEvents(await stage.events(run.conversationId))
})

test('two tasks of one agent work side by side, each in a document of its own [E44]', async () => {
  const gates = [createGate(), createGate()]
  await stage.save(agent('doubles', { subAgents: [background('twin')] }), agent('twin'))
  stage.model.on('doubles', ({ nth }) => {
    const calls = ['first', 'second'].map((message) => ({ name: 'twin', args: { message } }))
    return nth === 1 ? { calls } : { text: 'ok' }
  })
  stage.model.on('twin', ({ nth }) => {
    const gate = gates[nth - 1]
    return { text: `twin ${nth}`, ...(gate === undefined ? {} : { hold: gate }) }
  })
  const run = await stage.ask('doubles', 'Go.')
  await Promise.all(gates.map(({ entered }) => entered))
  assert.deepEqual(
    stage.model
      .of('twin')
      .map((seen) => spoken(seen))
      .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    [[{ user: 'first' }], [{ user: 'second' }]],
  )
  for (const gate of gates) gate.open()
  await tasks.quiet(run.conversationId)
  const { linkedConversations } = await stage.document(run.conversationId)
  assert.deepEqual(linkedConversations, [`${run.conversationId}/twin`, `${run.conversationId}/twin~2`])
})

test('a value that the root must not see stays below it, whatever the task says of it; and so for words to a task [D15] [C17]', async () => {
  const hidden = { name: 'pin', type: 'string', sendToModel: false, policy: 'forbidModelGeneration' }
  const shown = { ...hidden, sendToModel: true }
  await stage.save(
    agent('blind', { parameters: [hidden], subAgents: [background('sees')] }),
    agent('sees', { parameters: [shown], subAgents: [background('blinded')] }),
    agent('blinded', { parameters: [hidden] }),
  )
  const gate = createGate()
  stage.model.on('blind', ({ nth }) =>
    nth === 1 ? { calls: [{ name: 'sees', args: { message: 'm' } }] } : { text: 'ok' },
  )
  stage.model.on('sees', (seen) => {
    if (seen.nth === 1) return { calls: [{ name: 'blinded', args: { message: 'm' } }] }
    if (seen.nth > 2) return { text: 'the pin is 4711-0815' }
    const args = { task_id: taskIdIn(seen), message: 'the pin is 4711-0815', mode: 'send' }
    return { calls: [{ name: 'message_sub_agent', args }] }
  })
  stage.model.on('blinded', ({ nth }) => ({ text: 'done', ...(nth === 1 ? { hold: gate } : {}) }))
  const run = await stage.ask('blind', 'Go.', { parameters: { pin: '4711-0815' } })
  await tasks.reaches(run.tasks[0]?.taskId ?? '', 'completed')
  gate.open()
  await tasks.quiet(run.conversationId)
  assertSaw(stage.model.of('sees'), '4711-0815')
  assert.match(lastWords('blind', 3), /Task \S+ is completed: the pin is /)
  assertNeverSaw(stage.model.of('blind'), '4711-0815')
  assert.match(JSON.stringify(stage.model.of('blinded').at(-1)?.body), /from @sees to @blinded/)
  assertNeverSaw(stage.model.of('blinded'), '4711-0815')
})
