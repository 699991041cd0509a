/** Work that nobody waits for: the handle, when an edge is one, the task over HTTP, and what is told of it when it has ended. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertEvents, assertProblem } from './support/claims.ts'
import { createGate } from './support/model-server.ts'
import { agent, createStage, type Stage, sub } from './support/stage.ts'
import { background, handlesIn, type TaskDoors, taskDoors, taskIdIn } from './support/tasks.ts'
import { offered, offeredNames, spoken, toolContents } from './support/transcript.ts'
import type { RunResult } from './support/wire.ts'

let stage: Stage
let tasks: TaskDoors
before(async () => {
  stage = await createStage()
  tasks = taskDoors(stage)
})
after(() => stage?.close())

const helperTools = [
  { name: 'cancel_background_sub_agent', properties: ['task_id'], required: ['task_id'] },
  { name: 'fetch_sub_agent_progress', properties: ['question', 'task_id'], required: ['question', 'task_id'] },
  { name: 'get_background_sub_agent_result', properties: ['task_id'], required: ['task_id'] },
  { name: 'message_sub_agent', properties: ['message', 'mode', 'task_id'], required: ['message', 'mode', 'task_id'] },
]

test('a call that nobody waits for gives the handle at once, and the task goes on after its run [F14] [F21] [F23]', async () => {
  const gate = createGate()
  await stage.save(agent('asks', { subAgents: [background('works')] }), agent('works'))
  stage.model.script(
    'asks',
    { calls: [{ name: 'works', args: { message: 'count the stock' } }] },
    { text: 'It is under way.' },
    { text: 'There are 12.' },
  )
  stage.model.script('works', { text: '12 pieces', hold: gate })
  const run = await stage.ask('asks', 'How many?')
  assert.equal(run.status, 'completed')
  assert.equal(run.text, 'It is under way.')
  const [content = ''] = toolContents(stage.model.of('asks')[1])
  const [task] = run.tasks
  assert.ok(task, 'the result lists the task')
  const expected = {
    status: 'queued',
    task_id: task.taskId,
    tool_call_id: 'call_asks_1_0',
    mode: 'non_blocking',
  }
  assert.equal(content, JSON.stringify(expected), 'the handle, exactly')
  await gate.entered
  const live = await tasks.get(task.taskId)
  assert.deepEqual(Object.keys(live).sort(), [
    'agent',
    'callId',
    'conversationId',
    'createdAt',
    'endedAt',
    'error',
    'output',
    'path',
    'startedAt',
    'status',
    'taskId',
    'text',
    'toolCallId',
    'usage',
  ])
  const { agent: id, path, status, text, toolCallId, callId, conversationId, endedAt } = live
  assert.deepEqual(
    { id, path, status, text, toolCallId, callId, conversationId, endedAt },
    {
      id: 'works',
      path: 'works',
      status: 'running',
      text: '',
      toolCallId: 'call_asks_1_0',
      callId: task.taskId,
      conversationId: run.conversationId,
      endedAt: null,
    },
  )
  const standing = await stage.conversation(run.conversationId)
  assert.equal(standing.status, 'idle', 'no run is live')
  assert.deepEqual(
    standing.tasks.map(({ taskId }) => taskId),
    [task.taskId],
  )
  const [handled] = (await stage.document(run.conversationId)).messages.flatMap(({ toolCalls }) => toolCalls ?? [])
  assert.deepEqual(handled?.result, expected, 'the document shows the handle while the task lives')
  assert.equal(handled?.document, `${run.conversationId}/works`)
  gate.open()
  await tasks.quiet(run.conversationId)
  const ended = await tasks.get(task.taskId)
  assert.equal(ended.status, 'completed')
  assert.equal(ended.text, '12 pieces')
  assert.notEqual(ended.startedAt, null)
  assert.notEqual(ended.endedAt, null)
  assert.equal(ended.usage.modelCalls, 1)
  const [answered] = (await stage.document(run.conversationId)).messages.flatMap(({ toolCalls }) => toolCalls ?? [])
  assert.equal(answered?.result, '12 pieces', 'its end stands on the original call [F22]')
  const events = await stage.events(run.conversationId)
  assertEvents(events)
  const end = events.find(({ type, kind, callId: of }) => type === 'end' && kind === 'agent' && of === run.runId)
  assert.deepEqual(end?.content.backgroundTasks, [task.taskId])
  assert.deepEqual(
    events.filter(({ type }) => type === 'task').map(({ content: told }) => told),
    ['queued', 'running', 'completed'].map((one) => ({ taskId: task.taskId, status: one })),
  )
})

test('the end of a task starts one hidden run of the root that tells of it, linked to where it began [F22] [Fb15] [C29]', async () => {
  const gate = createGate()
  await stage.save(agent('tells', { subAgents: [background('one'), background('two')] }), agent('one'), agent('two'))
  stage.model.script(
    'tells',
    { calls: ['one', 'two'].map((name) => ({ name, args: { message: `do ${name}` } })) },
    { text: 'Both are under way.' },
    { text: 'Never heard: two came while this was said.', hold: gate },
    { text: 'And that was two.' },
  )
  const second = createGate()
  stage.model.script('one', { text: 'one is done' })
  stage.model.script('two', { text: 'two is done', hold: second })
  const run = await stage.ask('tells', 'Go.')
  const [one, two] = run.tasks
  await gate.entered
  const { runs, activeRunId } = await stage.conversation(run.conversationId)
  const hidden = runs.find(({ runId }) => runId === activeRunId)
  assert.equal(hidden?.hidden, true)
  assert.equal(hidden?.originRunId, run.runId)
  second.open()
  await tasks.reaches(two?.taskId ?? '', 'completed')
  gate.open()
  const { runs: all } = await tasks.quiet(run.conversationId)
  assert.deepEqual(
    all.map((each) => [each.hidden, each.originRunId, each.status]),
    [
      [false, null, 'completed'],
      [true, run.runId, 'completed'],
      [true, run.runId, 'completed'],
    ],
  )
  const [, , third, fourth] = stage.model.of('tells')
  assert.deepEqual(spoken(third).at(-1), {
    user: `[from @one to @tells] Task ${one?.taskId} is completed: one is done`,
  })
  assert.deepEqual(spoken(fourth).at(-1), {
    user: `[from @two to @tells] Task ${two?.taskId} is completed: two is done`,
  })
  const events = await stage.events(run.conversationId)
  assertEvents(events)
  const start = events.find(({ type, kind, callId }) => type === 'start' && kind === 'agent' && callId === activeRunId)
  assert.equal(start?.content.hidden, true)
  assert.equal(start?.content.originRunId, run.runId)
})

test('tasks that end while a run is live are told together by one hidden run behind it [C29] [D13]', async () => {
  const gate = createGate()
  await stage.save(
    agent('batches', { subAgents: [background('left'), background('right'), sub('slow')] }),
    agent('left'),
    agent('right'),
    agent('slow'),
  )
  stage.model.script(
    'batches',
    { calls: ['left', 'right', 'slow'].map((name) => ({ name, args: { message: name } })) },
    { text: 'slow is done' },
    { text: 'Both came in.' },
  )
  stage.model.script('left', { text: 'L' })
  stage.model.script('right', { text: 'R' })
  stage.model.script('slow', { text: 'S', hold: gate })
  const { id } = await stage.begin('batches')
  const first = stage.run(id, { prompt: 'Go.' })
  await gate.entered
  const { items } = await tasks.list()
  const own = items.filter(({ conversationId }) => conversationId === id)
  assert.equal(own.length, 2)
  for (const { taskId } of own) await tasks.reaches(taskId, 'completed')
  gate.open()
  const run = await first
  assert.equal(run.text, 'slow is done')
  assert.equal(run.usage.modelCalls, 5, 'what ended while its caller lived is on its bill')
  const { runs } = await tasks.quiet(id)
  assert.deepEqual(
    runs.map(({ hidden }) => hidden),
    [false, true],
  )
  const told = spoken(stage.model.of('batches')[2]).at(-1)
  const text = told !== undefined && 'user' in told ? told.user : ''
  assert.match(text, /\[from @left to @batches\] Task \S+ is completed: L/)
  assert.match(text, /\[from @right to @batches\] Task \S+ is completed: R/)
  assertEvents(await stage.events(id))
})

test('with blocking: model the calling model chooses; without a word it waits [F14] [F21]', async () => {
  await stage.save(agent('chooses', { subAgents: [background('either', { blocking: 'model' })] }), agent('either'))
  const ask = (blocking?: boolean) => ({
    calls: [{ name: 'either', args: { message: 'm', ...(blocking === undefined ? {} : { blocking }) } }],
  })
  stage.model.script('chooses', ask(), ask(true), ask(false), { text: 'done' }, { text: 'told' })
  stage.model.on('either', ({ nth }) => ({ text: `answer ${nth}` }))
  const run = await stage.ask('chooses', 'Go.')
  const [, second, third, fourth] = stage.model.of('chooses')
  assert.deepEqual(toolContents(second), ['answer 1'])
  assert.deepEqual(toolContents(third), ['answer 1', 'answer 2'])
  assert.equal(handlesIn(fourth).length, 1)
  assert.equal(run.tasks.length, 1)
  assert.deepEqual(
    offered(second).find(({ name }) => name === 'either'),
    { name: 'either', properties: ['blocking', 'message'], required: ['message'] },
  )
  await tasks.quiet(run.conversationId)
})

test('with blocking: never there is no such argument, and a word of it changes nothing [F14]', async () => {
  await stage.save(agent('never', { subAgents: [background('behind')] }), agent('behind'))
  stage.model.script(
    'never',
    { calls: [{ name: 'behind', args: { message: 'm', blocking: true } }] },
    { text: 'done' },
    { text: 'told' },
  )
  stage.model.script('behind', { text: 'b' })
  const run = await stage.ask('never', 'Go.')
  assert.equal(handlesIn(stage.model.of('never')[1]).length, 1)
  assert.deepEqual(
    offered(stage.model.of('never')[0]).find(({ name }) => name === 'behind'),
    { name: 'behind', properties: ['message'], required: ['message'] },
  )
  await tasks.quiet(run.conversationId)
})

test('the four helper tools stand beside such an edge, with exactly their arguments, and nowhere else [F24]', async () => {
  await stage.save(
    agent('has-them', { subAgents: [background('free')] }),
    agent('free'),
    agent('has-none', { subAgents: [sub('free')] }),
  )
  stage.model.script('has-them', { text: 'a' })
  stage.model.script('has-none', { text: 'b' })
  await stage.ask('has-them', 'Go.')
  await stage.ask('has-none', 'Go.')
  const names = helperTools.map(({ name }) => name)
  assert.deepEqual(
    offered(stage.model.of('has-them')[0]).filter(({ name }) => names.includes(name)),
    helperTools,
  )
  assert.deepEqual(offeredNames(stage.model.of('has-none')[0]), ['free'])
})

test('a model polls a task: queued or running first, then its result [F25]', async () => {
  const gate = createGate()
  await stage.save(agent('polls', { subAgents: [background('polled'), sub('pause')] }), agent('polled'), agent('pause'))
  const poll = (seen: Parameters<typeof taskIdIn>[0]) => ({
    calls: [{ name: 'get_background_sub_agent_result', args: { task_id: taskIdIn(seen) } }],
  })
  stage.model.on('polls', (seen) => {
    if (seen.nth === 1) return { calls: [{ name: 'polled', args: { message: 'm' } }] }
    if (seen.nth === 2) return poll(seen)
    if (seen.nth === 3) return { calls: [{ name: 'pause', args: { message: 'm' } }] }
    return seen.nth === 4 ? poll(seen) : { text: seen.nth === 5 ? 'done' : 'told' }
  })
  stage.model.script('polled', { text: 'the result', hold: gate })
  const pause = createGate()
  stage.model.script('pause', { text: 'paused', hold: pause })
  const { id } = await stage.begin('polls')
  const first = stage.run(id, { prompt: 'Go.' })
  await pause.entered
  gate.open()
  const taskId = taskIdIn(stage.model.of('polls')[1])
  await tasks.reaches(taskId, 'completed')
  pause.open()
  await first
  const fifth = stage.model.of('polls')[4]
  const contents = toolContents(fifth).filter((content) => content.includes('task_id'))
  assert.match(contents[1] ?? '', /^\{"status":"(queued|running)","task_id":"[^"]+"\}$/)
  assert.equal(contents[2], JSON.stringify({ status: 'completed', task_id: taskId, result: 'the result' }))
  await tasks.quiet(id)
})

test('a model stops its task: it is told so, and nobody tells it again [Fb08] [F24]', async () => {
  const gate = createGate()
  await stage.save(agent('stopper', { subAgents: [background('stoppable')] }), agent('stoppable'))
  stage.model.on('stopper', (seen) => {
    if (seen.nth === 1) return { calls: [{ name: 'stoppable', args: { message: 'm' } }] }
    if (seen.nth > 2) return { text: 'stopped it' }
    return { calls: [{ name: 'cancel_background_sub_agent', args: { task_id: taskIdIn(seen) } }] }
  })
  stage.model.script('stoppable', { text: 'never', hold: gate })
  const run = await stage.ask('stopper', 'Go.')
  const taskId = taskIdIn(stage.model.of('stopper')[1])
  assert.equal(toolContents(stage.model.of('stopper')[2])[1], JSON.stringify({ status: 'cancelled', task_id: taskId }))
  await tasks.reaches(taskId, 'cancelled')
  gate.open()
  const { runs } = await tasks.quiet(run.conversationId)
  assert.equal(runs.length, 1)
})

test('unknown, foreign and ended tasks are told apart from live ones, and nothing leaks [E56]', async () => {
  await stage.save(agent('owner', { subAgents: [background('owned')] }), agent('owned'))
  stage.model.script('owner', { calls: [{ name: 'owned', args: { message: 'm' } }] }, { text: 'a' }, { text: 'b' })
  stage.model.script('owned', { text: 'o' })
  const first = await stage.ask('owner', 'Go.')
  await tasks.quiet(first.conversationId)
  const taskId = first.tasks[0]?.taskId ?? ''
  const helpers = [
    { name: 'get_background_sub_agent_result', args: { task_id: taskId } },
    { name: 'fetch_sub_agent_progress', args: { task_id: taskId, question: 'q' } },
    { name: 'message_sub_agent', args: { task_id: taskId, message: 'm', mode: 'send' } },
    { name: 'cancel_background_sub_agent', args: { task_id: taskId } },
  ]
  const unknown = helpers.map((one) => ({ ...one, args: { ...one.args, task_id: 'c_nothing' } }))
  await stage.save(agent('stranger', { subAgents: [background('owned')] }))
  stage.model.script('stranger', { calls: [...helpers, ...unknown] }, { text: 'gave up' })
  const other = await stage.ask('stranger', 'Go.')
  assert.equal(other.status, 'completed', 'the run goes on')
  const contents = toolContents(stage.model.of('stranger')[1])
  for (const [index, id] of [taskId, 'c_nothing'].entries()) {
    for (const content of contents.slice(index * 4, index * 4 + 4))
      assert.equal(
        content,
        JSON.stringify({ error: `unknown task ${id}; use a task_id that one of your own calls gave.` }),
      )
  }
  stage.model.on('owner', ({ nth }) => (nth === 4 ? { calls: helpers } : { text: 'c' }))
  await stage.run(first.conversationId, { prompt: 'And now?' })
  const ended = JSON.stringify({ status: 'completed', task_id: taskId, result: 'o' })
  assert.deepEqual(toolContents(stage.model.of('owner')[4]).slice(-4), [ended, ended, ended, ended])
})

test('over HTTP an unknown task is 404, an ended one 409 TASK_FINISHED, and bad bodies are refused', async () => {
  await stage.save(agent('short', { subAgents: [background('shorter')] }), agent('shorter'))
  stage.model.script('short', { calls: [{ name: 'shorter', args: { message: 'm' } }] }, { text: 'a' }, { text: 'b' })
  stage.model.script('shorter', { text: 's' })
  const run = await stage.ask('short', 'Go.')
  await tasks.quiet(run.conversationId)
  const taskId = run.tasks[0]?.taskId ?? ''
  const doors = (id: string) => [
    tasks.message(id, { text: 'm', mode: 'send' }),
    tasks.progress(id, 'q'),
    tasks.cancel(id),
  ]
  for (const answer of await Promise.all(doors(taskId))) assertProblem(answer, { status: 409, code: 'TASK_FINISHED' })
  for (const answer of await Promise.all(doors('c_nothing'))) assertProblem(answer, { status: 404, code: 'NOT_FOUND' })
  const get = await stage.witan.call('GET', `/api/v1/tasks/${run.runId}`)
  assertProblem(get, { status: 404, code: 'NOT_FOUND' })
  assertProblem(await tasks.message(taskId, { text: '' }), { status: 422, code: 'BODY_INVALID', names: ['text'] })
  assertProblem(await tasks.message(taskId, { text: 'a', kind: 'x' }), { status: 422, code: 'UNKNOWN_KEY' })
  assertProblem(await tasks.message(taskId, { text: 'a', mode: 'shout' }), { status: 422, names: ['mode'] })
  assertProblem(await stage.witan.call('GET', '/api/v1/tasks?state=running'), { status: 422, code: 'UNKNOWN_KEY' })
})

test('the list has the newest task first and comes in pages', async () => {
  await stage.save(agent('many', { subAgents: [background('each')] }), agent('each'))
  stage.model.on('many', ({ nth }) =>
    nth === 1 ? { calls: [1, 2, 3].map(() => ({ name: 'each', args: { message: 'm' } })) } : { text: 'ok' },
  )
  stage.model.on('each', () => ({ text: 'e' }))
  const run: RunResult = await stage.ask('many', 'Go.')
  await tasks.quiet(run.conversationId)
  const first = await tasks.list('?limit=2')
  assert.equal(first.items.length, 2)
  assert.notEqual(first.nextCursor, null)
  const second = await tasks.list(`?limit=2&cursor=${encodeURIComponent(first.nextCursor ?? '')}`)
  const listed = [...first.items, ...second.items].slice(0, 3).map(({ taskId }) => taskId)
  assert.deepEqual(listed.sort(), run.tasks.map(({ taskId }) => taskId).sort())
  assertProblem(await stage.witan.call('GET', '/api/v1/tasks?limit=0'), { status: 422, code: 'LIMIT_INVALID' })
})
