/** What a caller reads of a task: the form that its edge asks for, told at the end and when its model looks. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { agent, createStage, type Stage, sub } from './support/stage.ts'
import { background, type TaskDoors, taskDoors, taskIdIn } from './support/tasks.ts'
import { spoken, toolContents } from './support/transcript.ts'

let stage: Stage
let tasks: TaskDoors
before(async () => {
  stage = await createStage()
  tasks = taskDoors(stage)
})
after(() => stage?.close())

/** A root whose task says something, calls a helper that fails, and says something else; then the root looks at it. */
async function askAndLook(
  word: string,
  edge: Record<string, unknown>,
  last: Record<string, unknown> = { text: 'second' },
) {
  await stage.save(
    agent(word, { subAgents: [background(`${word}-task`, edge)] }),
    agent(`${word}-task`, { subAgents: [sub(`${word}-leaf`)] }),
    agent(`${word}-leaf`),
  )
  stage.model.on(word, (seen) => {
    if (seen.nth === 1)
      return { calls: [{ name: `${word}-task`, args: edge['style'] ? { request: 'm' } : { message: 'm' } }] }
    if (seen.nth === 2) return { text: 'begun' }
    if (seen.nth === 3)
      return { calls: [{ name: 'get_background_sub_agent_result', args: { task_id: taskIdIn(seen) } }] }
    return { text: 'told' }
  })
  stage.model.script(`${word}-task`, { text: 'first', calls: [{ name: `${word}-leaf`, args: { message: 'l' } }] }, last)
  stage.model.script(`${word}-leaf`, { status: 400, text: 'out of order' })
  const run = await stage.ask(word, 'Go.')
  await tasks.quiet(run.conversationId)
  const [, , third, fourth] = stage.model.of(word)
  const told = (spoken(third).at(-1) as { user: string }).user
  const looked = JSON.parse(toolContents(fourth).at(-1) ?? 'null') as Record<string, unknown>
  return { told: told.replace(/^.*? Task \S+ /, ''), looked, task: await tasks.get(run.tasks[0]?.taskId ?? '') }
}

test('with `collect: all` the caller reads every text of the task, in order [K20]', async () => {
  const { told, looked, task } = await askAndLook('ca', { collect: 'all' })
  assert.equal(told, 'is completed: first\nsecond')
  assert.equal(looked['result'], 'first\nsecond')
  assert.equal(task.text, 'second', 'readers of the task get its own answer')
})

test('of a wrapped agent the caller reads text and error, also of a task [K20] [K21]', async () => {
  const { told, looked } = await askAndLook('ct', { style: 'agentTool', collect: 'all' })
  const read = JSON.parse(told.replace('is completed: ', '')) as { text: string; error: string }
  assert.equal(read.text, 'first\nsecond')
  assert.match(read.error, /out of order/)
  assert.deepEqual(looked['result'], read)
})

test('a wrapped agent that fails in the background gives what it said, and what went wrong [K21]', async () => {
  const { told, looked, task } = await askAndLook(
    'cf',
    { style: 'agentTool', collect: 'all' },
    { status: 400, text: 'no more' },
  )
  const read = JSON.parse(told.replace('failed: ', '')) as { text: string; error: string }
  assert.equal(read.text, 'first')
  assert.match(read.error, /out of order[\s\S]*no more/)
  assert.equal(looked['status'], 'failed')
  assert.deepEqual(looked['result'], read)
  assert.match(String(looked['error']), /no more/)
  assert.match(task.error?.detail ?? '', /no more/)
})
