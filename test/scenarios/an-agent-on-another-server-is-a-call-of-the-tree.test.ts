/** An agent on another server is called as any other: one tree, one log, one cancel. Here its server is played. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, type Store } from '@witan/core'
import { exportStore, exportText, importInto, readExport, readReplaySource, replay } from '@witan/core/export'
import { call, lastUserMessage } from '@witan/core/testing'
import { assertGapFree } from '../support/claims.ts'
import { createStage, settle, until } from '../support/stage.ts'

type Caller = NonNullable<NonNullable<Parameters<typeof createStage>[0]['options']>['remotes']>
type Call = Parameters<Caller['call']>[0]
type InterruptionDraft = Extract<
  Awaited<ReturnType<Caller['call']>>,
  { interruptions: unknown }
>['interruptions'][number]

const question = {
  kind: 'question' as const,
  questions: [{ id: 'input', text: 'Which?', options: [], multiple: false, freeText: true, required: true }],
} satisfies InterruptionDraft

const failed = {
  kind: 'result',
  value: null,
  truncated: false,
  failure: { code: 'REMOTE_FAILED', detail: '@docs@b.test failed: no shelf' },
} as const

const answered = (text: string, output: unknown = null) =>
  ({
    kind: 'result',
    value: null,
    truncated: false,
    failure: null,
    answered: { text, output, taken: 0, usage: null },
  }) as const

function staged(
  play: (of: Call, time: number) => ReturnType<Caller['call']>,
  blocking: 'always' | 'never' = 'always',
  store: Store = memoryStore(),
) {
  const calls: Call[] = []
  const abandoned: unknown[] = []
  const stage = createStage({
    agents: [
      {
        id: 'desk',
        remotes: [{ name: 'docs', address: '@docs@b.test', description: 'Knows the documents.', blocking }],
      },
    ],
    plays: {
      desk: (request, turn) =>
        turn === 0 && lastUserMessage(request) === 'go'
          ? call('docs', { message: 'Find it.' })
          : `Told: ${JSON.stringify(request.messages.at(-1)?.content)}`,
    },
    options: { store, remotes: { call: (of) => play(of, calls.push(of)), abandon: (of) => abandoned.push(of.note) } },
  })
  return { ...stage, store, calls, abandoned }
}

test('a remote call is a child call: author, document, path, usage that is incomplete', async () => {
  const stage = staged(async ({ body }) => {
    body.show('It is', true)
    return answered('It is in the cellar.')
  })
  const ended = await stage.ask('desk', 'go', { id: 'chats/1' })
  assert.equal(ended.status, 'completed')
  assert.match(ended.text, /It is in the cellar/)
  assert.equal(ended.usage.complete, false)
  assert.deepEqual(
    stage.calls.map(({ message, callId, edge }) => [message, edge.name, callId !== '']),
    [['Find it.', 'docs', true]],
  )
  const events = await stage.events('chats/1')
  assertGapFree(events)
  const own = events.filter(({ author }) => author === '@docs@b.test')
  assert.deepEqual(
    own.map(({ type, kind, authorKind, document, agentPath }) => [type, kind, authorKind, document, agentPath]),
    [
      ['start', 'agent', 'remote', 'chats/1/docs', 'desk/docs'],
      ['checkpoint', null, 'remote', 'chats/1/docs', 'desk/docs'],
      ['end', 'agent', 'remote', 'chats/1/docs', 'desk/docs'],
    ],
  )
  assert.equal(own[0]?.content['remote'], '@docs@b.test')
  const { tree } = await stage.runtime.getRun(ended.runId)
  assert.deepEqual(
    tree.children.map(({ kind, name, status }) => [kind, name, status]),
    [['remote', 'docs', 'completed']],
  )
  const document = await stage.runtime.getDocument('chats/1/docs')
  assert.deepEqual(
    document.messages.map(({ role, author, text }) => [role, author, text]),
    [
      ['user', 'desk', 'Find it.'],
      ['assistant', '@docs@b.test', 'It is in the cellar.'],
    ],
  )
})

test('a remote that fails is an error that the model reads', async () => {
  const stage = staged(async () => ({
    kind: 'result',
    value: null,
    truncated: false,
    failure: { code: 'REMOTE_FAILED', detail: '@docs@b.test failed: no shelf' },
  }))
  const ended = await stage.ask('desk', 'go', { id: 'chats/1' })
  assert.equal(ended.status, 'completed')
  assert.match(ended.text, /no shelf/)
})

test('what a remote asks is an interruption of the root under the path of the call, and its answer runs the body again', async () => {
  const stage = staged(async ({ context: { answers } }) => {
    const [first] = answers
    if (first?.kind === 'interruption' && 'value' in first.answer)
      return answered(`You said ${JSON.stringify(first.answer.value)}`)
    const questions = [{ id: 'input', text: 'Which?', options: [], multiple: false, freeText: true, required: true }]
    return { kind: 'pending', interruptions: [{ kind: 'question', questions }] }
  })
  const asked = await stage.ask('desk', 'go', { id: 'chats/1' })
  assert.equal(asked.status, 'waiting')
  const [open] = asked.interruptions
  assert.deepEqual([open?.path, open?.agent, open?.kind], ['docs', '@docs@b.test', 'question'])
  await stage.runtime.answerInterruption(open?.id ?? '', { answer: { input: { text: 'the second' } } } as never)
  const ended = await (await stage.runtime.followRun(asked.runId)).result
  assert.match(ended.text, /the second/)
  assert.equal(stage.calls.length, 2)
})

test('a remote in the background is a task, which gets messages', async () => {
  const stage = staged(async ({ body }) => {
    while (body.words().length === 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const stop = body.onWords(resolve)
      await promise
      stop()
    }
    const { answered: all, ...rest } = answered(`Heard ${body.words().join()}`)
    return { ...rest, answered: { ...all, taken: body.words().length } }
  }, 'never')
  const ended = await stage.ask('desk', 'go', { id: 'chats/1' })
  const [task] = ended.tasks
  assert.equal(task?.agent, '@docs@b.test')
  await stage.runtime.tasks.message(task?.taskId ?? '', { text: 'hurry' } as never)
  await until(async () => (await stage.runtime.tasks.get(task?.taskId ?? '')).status === 'completed')
  assert.match((await stage.runtime.tasks.get(task?.taskId ?? '')).text, /hurry/)
})

test('[D10] a cancel ends a remote call that is under way', async () => {
  const aborted = Promise.withResolvers<void>()
  const stage = staged(async ({ context: { signal, saveNote } }) => {
    await saveNote({ task: 't-1' })
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        aborted.resolve()
        reject(signal.reason)
      })
    })
  })
  const started = await stage.runtime.start({ agent: 'desk', prompt: 'go', id: 'chats/1' })
  await until(() => stage.calls.length === 1)
  const run = started.run?.runId ?? ''
  await stage.runtime.cancelRun(run)
  await aborted.promise
  const ended = await (await stage.runtime.followRun(run)).result
  assert.equal(ended.status, 'cancelled')
  assert.deepEqual(stage.abandoned, [{ task: 't-1' }])
  assertGapFree(await stage.events('chats/1'))
})

/** The export of a conversation, played again. */
async function comesAgain({ runtime }: Pick<ReturnType<typeof staged>, 'runtime'>): Promise<void> {
  const lines: string[] = []
  for await (const line of runtime.exportConversation('chats/1')) lines.push(line)
  const { difference } = await replay(await readReplaySource(ReadableStream.from(lines)))
  assert.equal(difference, null, JSON.stringify(difference))
}

const plays: Readonly<Record<string, (of: Call, time: number) => ReturnType<Caller['call']>>> = {
  'an answer': async ({ context }) => {
    await context.saveNote({ task: 't-1' })
    return answered('Here.', { shelf: 2 })
  },
  'a failure': async () => failed,
  'a question': async ({ context: { answers } }) =>
    answers.length > 0 ? answered('Thanks.') : { kind: 'pending', interruptions: [question] },
}

for (const [what, play] of Object.entries(plays))
  for (const blocking of ['always', 'never'] as const)
    test(`[Tb29] a log with a remote call that gives ${what} is played again, ${blocking === 'never' ? 'in the background' : 'waited for'}`, async () => {
      const stage = staged(play, blocking)
      const first = await stage.ask('desk', 'go', { id: 'chats/1' })
      await settle(50)
      const { interruptions } = await stage.runtime.getConversation('chats/1')
      for (const { id } of interruptions)
        await stage.runtime.answerInterruption(id, { answer: { input: { text: 'the second' } } } as never)
      await until(async () => (await stage.runtime.getConversation('chats/1')).activeRunId === null)
      for (const { taskId } of first.tasks)
        await until(async () => (await stage.runtime.tasks.get(taskId)).endedAt !== null)
      await settle(50)
      await comesAgain(stage)
    })

test('a conversation whose remote call waits is moved to another store, and goes on there with its last note', async () => {
  const play = async ({ context: { answers, note, saveNote } }: Call) => {
    if (answers.length > 0) return answered(`Kept ${JSON.stringify(note)}`)
    await saveNote({ task: 't-7' })
    return { kind: 'pending', interruptions: [question] } as const
  }
  const stage = staged(play)
  await stage.ask('desk', 'go', { id: 'chats/1' })
  const lines: string[] = []
  for await (const line of exportStore(stage.store, ['default'])) lines.push(exportText(line))
  const store = memoryStore()
  await store.open()
  const take = importInto(store)
  for await (const item of readExport(ReadableStream.from(lines))) await take(item)
  const moved = staged(play, 'always', store)
  const { interruptions, runs } = await moved.runtime.getConversation('chats/1')
  await moved.runtime.answerInterruption(interruptions[0]?.id ?? '', { answer: { input: { text: 'x' } } } as never)
  const ended = await (await moved.runtime.followRun(runs[0]?.runId ?? '')).result
  assert.match(ended.text, /t-7/)
})
