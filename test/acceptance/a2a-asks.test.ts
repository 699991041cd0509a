/** What a task asks its caller over A2A: questions and actions, and what stays with the people here. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type A2aClient, type A2aTask, a2aClient, answerOf, errorOf, message } from './support/a2a.ts'
import { createDesk, type Script, scriptNext } from './support/a2a-desk.ts'
import { agent, type Stage, until } from './support/stage.ts'
import type { Interruption, Page } from './support/wire.ts'

let stage: Stage
let key: string
let desk: A2aClient

const at = (path: string, token: string | null = key) => a2aClient(() => stage.witan, path, token)
const next = (...script: Script): void => scriptNext(stage, ...script)

before(async () => {
  ;({ stage, key, desk } = await createDesk())
})
after(() => stage?.close())

const ask = (...questions: object[]) => ({ calls: [{ name: 'ask_question', args: { questions } }] })
const free = { id: 'q1', text: 'How many?', options: [], multiple: false, freeText: true, required: true }

const stateOf = ({ status }: A2aTask) => status.state

describe('what a task asks its caller', () => {
  test('a question with free text is answered by a text on the same task', async () => {
    next('desk', ask(free), { text: 'Three it is.' })
    const frames = await desk.frames('SendStreamingMessage', { message: message('order') })
    const status = frames.at(-1)?.statusUpdate?.status
    assert.equal(status?.state, 'TASK_STATE_INPUT_REQUIRED')
    const [words, data] = status?.message?.parts ?? []
    assert.equal(words?.text, 'How many?')
    const asked = (data?.data ?? {}) as { questions?: unknown }
    assert.deepEqual(asked.questions, [free])
    const { id: taskId, contextId } = frames[0]?.task ?? { id: '', contextId: '' }
    const task = await desk.send(message('3', { taskId, contextId }))
    assert.equal(task.id, taskId)
    assert.equal(answerOf(task), 'Three it is.')
    const said = task.history?.map(({ role, parts }) => `${role} ${parts[0]?.text ?? JSON.stringify(parts[0]?.data)}`)
    assert.equal(said?.length, 3)
    assert.equal(said?.[0], 'ROLE_USER order')
    assert.equal(said?.[1], 'ROLE_AGENT How many?')
    assert.match(said?.[2] ?? '', /^ROLE_USER .*"type":"answer".*"3"/)
  })

  test('the list of tasks has the last changed first: one that was answered stands before one that began later', async () => {
    next('desk', ask(free), { text: 'Later.' })
    const first = await desk.send(message('asks'))
    next('desk', { text: 'Done.' })
    const second = await desk.send(message('asks nothing'))
    const listed = async () => {
      const { body } = await desk.rpc<{ tasks: A2aTask[] }>('ListTasks', { pageSize: 2 })
      return body.result?.tasks.map(({ id }) => id)
    }
    assert.deepEqual(await listed(), [second.id, first.id])
    await desk.send(message('7', { taskId: first.id }))
    assert.deepEqual(await listed(), [first.id, second.id])
  })

  test('a choice is answered as data; a wrong answer changes nothing, and a right one counts once', async () => {
    const choice = {
      ...free,
      options: [
        { id: 'a', label: 'A' },
        { id: 'b', label: 'B' },
      ],
      freeText: false,
    }
    next('desk', ask(choice), { text: 'B, then.' })
    const task = await desk.send(message('choose'))
    assert.equal(stateOf(task), 'TASK_STATE_INPUT_REQUIRED')
    const asked = task.status.message?.parts[1]?.data as { id: string }
    const { id: taskId } = task
    const answer = (options: string[], id = asked.id) =>
      message([{ data: { type: 'answer', id, answer: { q1: { options } } } }], { taskId })
    const wrong = await desk.rpc('SendMessage', { message: answer(['c']) })
    assert.equal(errorOf(wrong), '-32602 ANSWER_INVALID witan.dev')
    assert.equal(
      errorOf(await desk.rpc('SendMessage', { message: answer(['a'], 'i_none') })),
      '-32602 ANSWER_INVALID witan.dev',
    )
    const right = answer(['b'])
    assert.equal(answerOf(await desk.send(right)), 'B, then.')
    assert.equal((await desk.send(right)).id, taskId)
    assert.equal((await desk.rpc('SendMessage', { message: answer(['a']) })).body.error?.code, -32004)
  })

  test('an action shows what the model wrote and no bound value, and is answered or reported as failed', async () => {
    await stage.save(
      agent('teller', {
        address: 'teller',
        actions: [
          {
            name: 'Pay',
            description: 'Pays.',
            parametersSchema: { type: 'object', properties: { amount: { type: 'integer' } } },
          },
        ],
      }),
    )
    const pay = { calls: [{ name: 'Pay', args: { amount: 5 } }] }
    next('teller', pay, { text: 'paid' }, pay, { text: 'not paid' })
    const teller = at('/a2a/teller')
    for (const [more, text] of [
      [{ answer: { ok: true } }, 'paid'],
      [{ error: 'no money' }, 'not paid'],
    ] as const) {
      const task = await teller.send(message('pay'))
      const asked = task.status.message?.parts[1]?.data as { id: string; path: string; name: string; arguments: object }
      assert.deepEqual([asked.path, asked.name, asked.arguments], ['Pay', 'Pay', { amount: 5 }])
      const done = await teller.send(
        message([{ data: { type: 'answer', id: asked.id, ...more } }], { taskId: task.id }),
      )
      assert.equal(answerOf(done), text)
    }
    assert.match(JSON.stringify(stage.model.of('teller').at(-1)?.body.messages.at(-1)), /no money/)
  })

  test('an approval and a message to a person stay here: the task works, and its caller answers neither', async () => {
    next('guarded', { calls: [{ name: 'Pay', args: { amount: 1 } }] }, { text: 'well' })
    const guarded = at('/a2a/guarded')
    const task = await guarded.send(message('pay'), { returnImmediately: true })
    const inbox = await until(
      async () => (await stage.witan.call<Page<Interruption>>('GET', '/api/v1/interruptions')).body.items,
      (items) => items.some(({ kind }) => kind === 'approval'),
    )
    const approval = inbox.find(({ kind }) => kind === 'approval')
    const working = await guarded.task(task.id)
    assert.equal(stateOf(working), 'TASK_STATE_WORKING')
    assert.equal(working.status.message, undefined)
    const data = { type: 'answer', id: approval?.id, answer: { decision: 'approved' } }
    const answer = await guarded.rpc('SendMessage', { message: message([{ data }], { taskId: task.id }) })
    assert.equal(errorOf(answer), '-32602 ANSWER_INVALID witan.dev')
    assert.ok(approval?.expiresAt !== null, 'it expires after a day')
    const left = Date.parse(approval?.expiresAt ?? '') - Date.now()
    assert.ok(left > 86_000_000 && left <= 86_400_000, String(left))
    const denied = { answer: { decision: 'denied' } }
    const waiting = guarded.frames('SubscribeToTask', { id: task.id })
    await stage.witan.call('POST', `/api/v1/interruptions/${approval?.id}/answer`, { body: denied })
    assert.equal((await waiting).at(-1)?.statusUpdate?.status.state, 'TASK_STATE_COMPLETED')
    next('people', { calls: [{ name: 'ask_user', args: { message: 'secret?' } }] }, { text: 'done' })
    const people = at('/a2a/people')
    const other = await people.send(message('ask'), { returnImmediately: true })
    await until(
      async () => (await stage.witan.call<Page<Interruption>>('GET', '/api/v1/interruptions')).body.items,
      (items) => items.some(({ kind }) => kind === 'message'),
    )
    const shown = await people.task(other.id)
    assert.equal(stateOf(shown), 'TASK_STATE_WORKING')
    assert.ok(!JSON.stringify(shown).includes('secret'))
    assert.equal(stateOf(await people.cancel(other.id)), 'TASK_STATE_CANCELED')
  })

  test('a question waits through a restart, and so does its caller’s right to answer it', async () => {
    next('desk', ask(free), { text: 'after all' })
    const task = await desk.send(message('wait'))
    await stage.witan.kill()
    await stage.witan.start()
    assert.deepEqual(await desk.task(task.id), task)
    const done = await desk.send(message('9', { taskId: task.id }))
    assert.equal(answerOf(done), 'after all')
  })
})
