/** Words to a task and questions about it: when they are read, which reply counts, and what a question changes. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertEvents } from './support/claims.ts'
import type { Gate } from './support/exchange.ts'
import { createGate } from './support/model-server.ts'
import { agent, createStage, type Stage, sub, until } from './support/stage.ts'
import { background, type TaskDoors, taskDoors, taskIdIn } from './support/tasks.ts'
import { spoken, toolContents } from './support/transcript.ts'

let stage: Stage
let tasks: TaskDoors
before(async () => {
  stage = await createStage()
  tasks = taskDoors(stage)
})
after(() => stage?.close())

const saves = { actions: [{ name: 'save-it', description: 'Saves.' }] }

/** A task whose first model call stands at a gate: then it asks its helper, and then it answers. */
async function hold(
  word: string,
  more: Record<string, unknown> = {},
): Promise<{ id: string; taskId: string; gate: Gate }> {
  const gate = createGate()
  const worker = `${word}-worker`
  const helper = `${word}-helper`
  await stage.save(
    agent(word, { subAgents: [background(worker)] }),
    agent(worker, { subAgents: [sub(helper)], ...more }),
    agent(helper),
  )
  stage.model.on(word, ({ nth }) =>
    nth === 1 ? { calls: [{ name: worker, args: { message: 'the task' } }] } : { text: `said ${nth}` },
  )
  stage.model.on(worker, ({ nth }) => {
    if (nth === 1) return { text: 'first thoughts', calls: [{ name: helper, args: { message: 'h' } }], hold: gate }
    return { text: `reply ${nth}` }
  })
  stage.model.on(helper, () => ({ text: 'helped' }))
  const run = await stage.ask(word, 'Go.')
  await gate.entered
  return { id: run.conversationId, taskId: run.tasks[0]?.taskId ?? '', gate }
}

test('a message is stored at once and seen at the next step, attributed; the task goes on with its own work [F27] [F28] [E48]', async () => {
  const { id, taskId, gate } = await hold('sends')
  const { status, body } = await tasks.message(taskId, { text: 'Only whole boxes.' })
  assert.equal(status, 200)
  assert.deepEqual(body, { status: 'saved', reply: null }, '`send` is the default')
  const stored = (await stage.events(id)).find(({ type, callId }) => type === 'message' && callId === taskId)
  assert.match(String(stored?.content.text), /^\[from @\S+ to @sends-worker\] Only whole boxes\.$/)
  gate.open()
  await tasks.quiet(id)
  assert.deepEqual(spoken(stage.model.of('sends-worker')[1]), [
    { user: 'the task' },
    { assistant: 'first thoughts', calls: [{ 'sends-helper': { message: 'h' } }] },
    { tool: 'sends-helper', content: 'helped' },
    { assistant: 'Noted.' },
    { user: stored?.content.text },
  ])
  const document = await stage.document(`${id}/sends-worker`)
  assert.ok(
    document.messages.some(({ text }) => text === stored?.content.text),
    'it stands in the task’s document',
  )
  assertEvents(await stage.events(id))
})

test('send_and_wait gives the first text that was said having read it, not what was under way [F28] [E50]', async () => {
  const { id, taskId, gate } = await hold('waits')
  const asked = tasks.message(taskId, { text: 'How far?', mode: 'send_and_wait' })
  await until(
    () => stage.events(id),
    (events) => events.some(({ type, callId }) => type === 'message' && callId === taskId),
  )
  gate.open()
  assert.deepEqual((await asked).body, { status: 'replied', reply: 'reply 2' })
  await tasks.quiet(id)
})

test('send_and_wait gives `waiting` when the time is over, and the words stay [E50]', async () => {
  const { id, taskId, gate } = await hold('hurries')
  const { body } = await tasks.message(taskId, { text: 'Quick!', mode: 'send_and_wait', timeoutSeconds: 0.05 })
  assert.deepEqual(body, { status: 'waiting', reply: null })
  gate.open()
  await tasks.quiet(id)
  assert.ok(JSON.stringify(spoken(stage.model.of('hurries-worker')[1])).includes('Quick!'))
})

test('send_and_wait to a task that waits for somebody gives `waiting` at once [E50]', async () => {
  await stage.save(agent('parks', { subAgents: [background('parked')] }), agent('parked', saves))
  stage.model.on('parks', ({ nth }) =>
    nth === 1 ? { calls: [{ name: 'parked', args: { message: 'm' } }] } : { text: 'ok' },
  )
  stage.model.script('parked', { calls: [{ name: 'save-it' }] }, { text: 'saved' })
  const run = await stage.ask('parks', 'Go.')
  const taskId = run.tasks[0]?.taskId ?? ''
  await tasks.reaches(taskId, 'waiting')
  const started = Date.now()
  const { body } = await tasks.message(taskId, { text: 'Hello?', mode: 'send_and_wait', timeoutSeconds: 28 })
  assert.deepEqual(body, { status: 'waiting', reply: null })
  assert.ok(Date.now() - started < 25_000, 'it did not wait for the whole time')
  const [open] = (await stage.conversation(run.conversationId)).interruptions
  await stage.witan.call('POST', `/api/v1/interruptions/${open?.id}/answer`, { body: { answer: 'done' } })
  await tasks.quiet(run.conversationId)
  assert.match(JSON.stringify(spoken(stage.model.of('parked')[1])), /Hello\?/)
})

test('a message that comes while the final answer is on its way gets one more turn [E49]', async () => {
  const gate = createGate()
  await stage.save(agent('late', { subAgents: [background('ending')] }), agent('ending'))
  stage.model.on('late', ({ nth }) =>
    nth === 1 ? { calls: [{ name: 'ending', args: { message: 'm' } }] } : { text: 'ok' },
  )
  stage.model.script('ending', { text: 'the end', hold: gate }, { text: 'the end, with that in mind' })
  const run = await stage.ask('late', 'Go.')
  const taskId = run.tasks[0]?.taskId ?? ''
  await gate.entered
  await tasks.message(taskId, { text: 'One more thing.' })
  gate.open()
  const ended = await tasks.reaches(taskId, 'completed')
  assert.equal(ended.text, 'the end, with that in mind')
  await tasks.quiet(run.conversationId)
})

test('an agent talks to its task with message_sub_agent: send, and send_and_wait [F27] [F28] [E49]', async () => {
  const gate = createGate()
  await stage.save(agent('talks', { subAgents: [background('listens')] }), agent('listens'))
  stage.model.on('talks', (seen) => {
    if (seen.nth === 1) return { calls: [{ name: 'listens', args: { message: 'm' } }] }
    if (seen.nth > 3) return { text: `said ${seen.nth}` }
    const mode = seen.nth === 2 ? 'send' : 'send_and_wait'
    const args = { task_id: taskIdIn(seen), message: `word ${seen.nth}`, mode }
    return { calls: [{ name: 'message_sub_agent', args }] }
  })
  stage.model.on('listens', ({ nth, body }) => {
    if (nth === 1) return { text: 'unheard', hold: gate }
    return { text: JSON.stringify(body.messages).includes('word 3') ? 'heard both' : 'heard one' }
  })
  const { id } = await stage.begin('talks')
  const first = stage.run(id, { prompt: 'Go.' })
  await until(
    () => stage.events(id),
    (events) => events.filter(({ type, document }) => type === 'message' && document.endsWith('/listens')).length === 2,
  )
  gate.open()
  const run = await first
  const contents = toolContents(stage.model.of('talks')[3])
  assert.deepEqual(contents.slice(1), [
    JSON.stringify({ status: 'saved' }),
    JSON.stringify({ status: 'replied', reply: 'heard both' }),
  ])
  assert.deepEqual(spoken(stage.model.of('listens')[1]).at(-1), {
    user: '[from @talks to @listens] word 2\n\n[from @talks to @listens] word 3',
  })
  await tasks.quiet(run.conversationId)
})

test('a question about a task is a model call of its own over what is stored, and changes nothing [F26]', async () => {
  const { id, taskId, gate } = await hold('asked')
  const before = await Promise.all([
    stage.conversation(id),
    stage.document(`${id}/asked-worker`),
    stage.events(id),
    tasks.get(taskId),
  ])
  stage.model.on('asked-worker', ({ nth }) => ({ text: nth === 2 ? 'It has begun.' : `reply ${nth}` }))
  const { status, body } = await tasks.progress(taskId, 'How far is it?')
  assert.equal(status, 200)
  assert.deepEqual(body, { text: 'It has begun.', asOfSeq: before[0].lastSeq })
  const after = await Promise.all([
    stage.conversation(id),
    stage.document(`${id}/asked-worker`),
    stage.events(id),
    tasks.get(taskId),
  ])
  assert.deepEqual(after, before)
  const [, asked] = stage.model.of('asked-worker')
  assert.match(JSON.stringify(asked?.body.messages), /How far is it\?/)
  assert.match(JSON.stringify(asked?.body.messages), /the task/)
  assert.equal(asked?.body.tools?.length ?? 0, 0, 'it has no tools')
  gate.open()
  await tasks.quiet(id)
  assert.equal(JSON.stringify(stage.model.of('asked-worker')[2]?.body).includes('How far is it?'), false)
})

test('an agent that asks pays for the answer, and the task does not [F26]', async () => {
  const gate = createGate()
  await stage.save(agent('curious', { subAgents: [background('busy')] }), agent('busy'))
  stage.model.on('curious', (seen) => {
    if (seen.nth === 1) return { calls: [{ name: 'busy', args: { message: 'm' } }] }
    if (seen.nth > 2) return { text: `said ${seen.nth}` }
    return { calls: [{ name: 'fetch_sub_agent_progress', args: { task_id: taskIdIn(seen), question: 'Well?' } }] }
  })
  stage.model.on('busy', ({ body }) => {
    const isQuestion = JSON.stringify(body.messages).includes('Well?')
    return isQuestion ? { text: 'Half done.', usage: { input: 70, output: 7 } } : { text: 'done', hold: gate }
  })
  const run = await stage.ask('curious', 'Go.')
  const answer = JSON.parse(toolContents(stage.model.of('curious')[2])[1] ?? '') as Record<string, unknown>
  assert.deepEqual(Object.keys(answer), ['text', 'as_of_seq'])
  assert.equal(answer['text'], 'Half done.')
  assert.equal(run.usage.modelCalls, 4, 'three of its own and the question')
  assert.equal(run.usage.inputTokens, 3 * 10 + 70)
  assert.equal(run.usage.byAgent['curious']?.modelCalls, 4)
  gate.open()
  await tasks.quiet(run.conversationId)
  const [{ taskId } = { taskId: '' }] = run.tasks
  assert.equal((await tasks.get(taskId)).usage.modelCalls, 1)
})
