/** What a task asks surfaces at its conversation although no run is active, and its answer wakes the task. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool } from '@witan/core'
import { call, lastUserMessage } from '@witan/core/testing'
import { z } from 'zod'
import { assertGapFree } from '../support/claims.ts'
import { createStage, until } from '../support/stage.ts'

function staged() {
  const ran: string[] = []
  const send = defineTool({
    name: 'send',
    description: 'Sends.',
    parameters: z.object({ what: z.string() }),
    execute: ({ what }) => {
      ran.push(what)
      return 'sent'
    },
  })
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'worker', blocking: 'never' }], questions: true },
      { id: 'worker', subAgents: [{ agent: 'leaf' }], questions: true },
      { id: 'leaf', tools: ['send'], approvals: ['send'] },
    ],
    plays: {
      root: (request, turn) => {
        if (/both/.test(lastUserMessage(request)) && turn === 0)
          return {
            toolCalls: [
              { name: 'worker', arguments: { message: 'go' } },
              { name: 'ask_question', arguments: { questions: [{ id: 'q', text: 'Root?' }] } },
            ],
          }
        return turn === 0 && lastUserMessage(request) === 'start'
          ? call('worker', { message: 'go' })
          : 'started or told'
      },
      worker: [
        {
          toolCalls: [
            { name: 'leaf', arguments: { message: 'send it' } },
            { name: 'ask_question', arguments: { questions: [{ id: 'q', text: 'Ready?' }] } },
          ],
        },
        'worked',
      ],
      leaf: [call('send', { what: 'letter' }), 'leaf sent'],
    },
    options: { tools: [send] },
  })
  return { ...stage, ran }
}

test('[E54] a task’s approval and question surface at the root although no run is active, for terse readers too', async () => {
  const stage = staged()
  const ended = await stage.ask('root', 'start', { id: 'chats/1' })
  assert.equal(ended.status, 'completed')
  const read = async () => (await stage.runtime.getConversation('chats/1')).interruptions
  await until(async () => (await read()).length === 2)
  const conversation = await stage.runtime.getConversation('chats/1')
  assert.deepEqual([conversation.status, conversation.activeRunId], ['idle', null])
  await until(async () => (await stage.runtime.getConversation('chats/1')).tasks[0]?.status === 'waiting')
  const paths = (await read()).map(({ kind, path }) => `${kind} ${path}`).sort()
  assert.deepEqual(paths, ['approval worker/leaf/send', 'question worker/ask_question'])
  const terse = await stage.events('chats/1', { verbose: false })
  assert.deepEqual(terse.filter(({ type }) => type.endsWith('_required')).length, 2)
  const open = await read()
  const approval = open.find(({ kind }) => kind === 'approval')?.id ?? ''
  const question = open.find(({ kind }) => kind === 'question')?.id ?? ''
  const told = await stage.run('chats/1', {
    answers: [
      { id: approval, answer: { decision: 'approved' } },
      { id: question, answer: { q: { text: 'yes' } } },
    ],
  })
  assert.equal(told.status, 'completed')
  assert.deepEqual(stage.ran, ['letter'])
  await until(async () => {
    const { runs, status } = await stage.runtime.getConversation('chats/1')
    return status === 'idle' && runs.length === 2
  })
  const { runs } = await stage.runtime.getConversation('chats/1')
  assert.deepEqual(
    runs.map(({ hidden, status }) => [hidden, status]),
    [
      [false, 'completed'],
      [true, 'completed'],
    ],
  )
  assertGapFree(await stage.events('chats/1'))
})

test('[Fb06] answers for a run and for its task are taken at once, all or none, and told by the run', async () => {
  const stage = staged()
  const waiting = await stage.ask('root', 'both', { id: 'chats/1' })
  assert.equal(waiting.status, 'waiting')
  const read = async () => (await stage.runtime.getConversation('chats/1')).interruptions
  await until(async () => (await read()).length === 3)
  const open = await read()
  const of = (kind: string, path: string) => open.find((one) => one.kind === kind && one.path === path)?.id ?? ''
  const answers = [
    { id: of('approval', 'worker/leaf/send'), answer: { decision: 'denied' } },
    { id: of('question', 'worker/ask_question'), answer: { q: { text: 'yes' } } },
    { id: of('question', 'ask_question'), answer: {} },
  ]
  await assert.rejects(stage.run('chats/1', { answers }), { code: 'ANSWER_INVALID' })
  assert.equal((await read()).length, 3)
  answers[2] = { id: answers[2]?.id ?? '', answer: { q: { text: 'go on' } } }
  const done = await stage.run('chats/1', { answers })
  assert.deepEqual([done.runId, done.status], [waiting.runId, 'completed'])
  await until(async () => (await read()).length === 0)
  assert.deepEqual(stage.ran, [])
})

test('[Fb06] a delegation into the background waits for its approval, and is queued once it is given', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'worker', blocking: 'never' }], approvals: ['worker'] },
      { id: 'worker' },
    ],
    plays: {
      root: (request, turn) =>
        turn === 0 && lastUserMessage(request) === 'start' ? call('worker', { message: 'go' }) : 'ok',
      worker: ['worked'],
    },
  })
  const waiting = await stage.ask('root', 'start', { id: 'chats/1' })
  const [held] = waiting.interruptions
  assert.deepEqual([held?.kind, held?.path, (await stage.runtime.tasks.list()).items.length], ['approval', 'worker', 0])
  const ended = await stage.run('chats/1', { answers: [{ id: held?.id, answer: { decision: 'approved' } }] })
  assert.equal(ended.status, 'completed')
  assert.equal(ended.tasks[0]?.taskId, held?.callId)
  await until(async () => (await stage.runtime.tasks.get(held?.callId ?? '')).status === 'completed')
  assert.equal(stage.seenBy('worker').length, 1)
})
