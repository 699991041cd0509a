/** What an agent elsewhere is sent, message by message: their ids, the context of a document, the task that they go to; and what is made of long answers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lastUserMessage } from '@witan/core/testing'
import { fakeClock } from '../support/clock.ts'
import { callerOf, playedRemote, type Turn } from '../support/played-remote.ts'
import { createStage, until } from '../support/stage.ts'

interface Sent {
  readonly messageId: string
  readonly contextId?: string
  readonly taskId?: string
}

function staged(turn: Turn, edge: object = {}, calls: readonly number[] = [1]) {
  const remote = playedRemote(turn)
  const clock = fakeClock()
  const stage = createStage({
    agents: [{ id: 'desk', remotes: [{ name: 'docs', address: '@docs@b.test', ...edge }] }],
    plays: {
      desk: (request, turn) => ({
        toolCalls: Array.from({ length: lastUserMessage(request) === 'go' ? (calls[turn] ?? 0) : 0 }, () => ({
          name: 'docs',
          arguments: { message: 'Find it.' },
        })),
        text: `Read ${String(request.messages.at(-1)?.content)}`,
      }),
    },
    options: { clock, remotes: callerOf(remote, { clock, isIdempotent: false }) },
  })
  const sent = () => remote.tasks.flatMap(({ messages }) => messages) as readonly Sent[]
  return { ...stage, remote, sent }
}

const done = (): ReturnType<Turn> => ({ state: 'COMPLETED', parts: [{ text: 'Here.' }] })

for (const [history, same] of [
  ['agent', true],
  ['isolated', false],
] as const)
  test(`[C5] [C7] calls of one document run one after the other, ${same ? 'in the context that the first got' : 'each in a context of its own'}`, async () => {
    const { ask, run, sent, events } = staged(done, { history }, [2])
    await ask('desk', 'go', { id: 'chats/1' })
    await run('chats/1', { prompt: 'go' })
    const contexts = sent().map(({ contextId }) => contextId)
    assert.deepEqual(contexts, same ? [undefined, ...Array(3).fill('context-task-1')] : Array(4).fill(undefined))
    const starts = (await events('chats/1')).filter(
      ({ document, type }) => document === 'chats/1/docs' && type === 'start',
    )
    assert.deepEqual(
      sent().map(({ messageId }) => messageId),
      starts.map(({ callId }) => callId),
      'the id of a message is that of its call',
    )
  })

test('[M21] answers go to the same task, under ids that count on', async () => {
  const turn: Turn = ({ turn: at }) =>
    at < 2 ? { state: 'INPUT_REQUIRED', parts: [{ text: `Which? ${at}` }] } : done()
  const { ask, runtime, sent } = staged(turn)
  const { runId } = await ask('desk', 'go', { id: 'chats/1' })
  const answered = new Set<string>()
  await until(async () => {
    const { interruptions } = await runtime.getConversation('chats/1')
    const open = interruptions.find(({ id }) => !answered.has(id))
    if (open === undefined) return answered.size === 2
    await runtime.answerInterruption(open.id, { answer: { input: { text: 'x' } } } as never)
    answered.add(open.id)
    return false
  })
  await (await runtime.followRun(runId)).result
  const [first] = sent()
  assert.deepEqual(
    sent().map(({ messageId, taskId }) => [messageId, taskId]),
    [
      [first?.messageId, undefined],
      [`${first?.messageId}.2`, 'task-1'],
      [`${first?.messageId}.3`, 'task-1'],
    ],
  )
})

test('[F24] a message to a task in the background goes to the same task there', async () => {
  const turn: Turn = ({ turn: at }) => (at === 0 ? { state: 'WORKING', parts: [] } : done())
  const { ask, runtime, sent } = staged(turn, { blocking: 'never' })
  const { tasks } = await ask('desk', 'go', { id: 'chats/1' })
  const id = tasks[0]?.taskId ?? ''
  await until(() => sent().length === 1)
  await runtime.tasks.message(id, { text: 'hurry' } as never)
  await until(async () => (await runtime.tasks.get(id)).status === 'completed')
  assert.deepEqual(
    sent().map(({ taskId }) => taskId),
    [undefined, 'task-1'],
  )
})

test('a text of more than 256,000 characters is cut', async () => {
  const { ask, runtime } = staged(() => ({ state: 'COMPLETED', parts: [{ text: 'x'.repeat(300_000) }] }))
  await ask('desk', 'go', { id: 'chats/1' })
  const { messages } = await runtime.getDocument('chats/1/docs')
  const { text = '' } = messages.at(-1) ?? {}
  assert.match(text, /^x{256000}[^x]/)
  assert.ok(text.length < 256_100)
})

test('[M21] a task that wants a sign-in, without a condition in parts, demands one in its words', async () => {
  const { ask } = staged(() => ({ state: 'AUTH_REQUIRED', parts: [{ text: 'Sign in first.' }] }))
  const { interruptions } = await ask('desk', 'go', { id: 'chats/1' })
  const [open] = interruptions
  assert.deepEqual(open?.kind === 'policy' ? open.policy : open, { kind: 'unauthorized', message: 'Sign in first.' })
})
