/** Other servers that never come to an end: each repeats something for which no log, no memory and no time grows without bound. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  bare,
  type Fetch,
  failureOf,
  inTurn,
  methodsOf,
  play,
  streamOf,
  task,
  text,
} from '../../../../test/support/remote-call.ts'
import { droppedNotice } from './remote-answer.ts'
import { emptyTask, partsOf, takeFrame, textOf } from './remote-task.ts'
import { allowed, createAllowance, TooMuchError } from './too-much.ts'

const asking = (messageId: string, more: object = {}) =>
  task('TASK_STATE_INPUT_REQUIRED', {
    message: { messageId, role: 'ROLE_AGENT', parts: [{ text: 'Which?' }] },
    ...more,
  })

/** A stream of what `frame` makes, for as long as anybody reads it. */
function endless(frame: (at: number) => object): ReturnType<typeof streamOf> {
  async function* body(): AsyncGenerator<Uint8Array> {
    for (let at = 0; ; at += 1)
      yield Buffer.from(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: frame(at) })}\n\n`)
  }
  return { ...streamOf([]), body: body() }
}

test('[D20] a context that changes with each frame is stored once', async () => {
  let saved = 0
  const frames = Array.from({ length: 500 }, (_, at) => {
    const { task: of } = task('TASK_STATE_WORKING')
    return { task: { ...of, contextId: `c${at}` } }
  })
  const saveNote = async () => {
    saved += 1
  }
  const played = await play(
    inTurn(() => streamOf([...frames, task('TASK_STATE_FAILED')])),
    { saveNote },
  )
  assert.match(failureOf(played), /^REMOTE_FAILED/)
  assert.equal(saved, 2, 'before the message, and with the ids of its task')
  assert.equal((played.note as { context: string }).context, 'c0')
})

test('[D20] a server that never takes an answer is given up', async () => {
  const first = await play(inTurn(() => streamOf([asking('q')])))
  const { note } = first
  const [asked] =
    first.outcome.kind === 'pending' && 'interruptions' in first.outcome ? first.outcome.interruptions : []
  const answers = [{ kind: 'interruption', asked, answer: { value: { input: { text: 'x' } } } }] as never
  let saved = 0
  const saveNote = async () => {
    saved += 1
  }
  const still: Fetch = async (_, { body = '' }) =>
    JSON.parse(body).method === 'GetTask'
      ? text({ jsonrpc: '2.0', id: 1, result: asking('q').task })
      : streamOf([asking('q')])
  const played = await play(still, { note, answers, saveNote })
  assert.match(failureOf(played), /^REMOTE_UNREACHABLE: .*does not take the answer/)
  const sent = methodsOf(played).filter((method) => method === 'SendStreamingMessage')
  assert.equal(sent.length, 4)
  assert.ok(saved < 12, `${saved} notes`)
})

const repeated: Readonly<Record<string, (at: number) => object>> = {
  'states without anything new': () => ({ statusUpdate: { taskId: 't', status: { state: 'TASK_STATE_WORKING' } } }),
  'artifacts without parts': (at) => ({
    artifactUpdate: { taskId: 't', artifact: { artifactId: `a${at}`, parts: [] } },
  }),
  'chunks of one artifact': () => ({
    artifactUpdate: { taskId: 't', append: true, artifact: { artifactId: 'a', parts: [{ text: 'x' }] } },
  }),
}
for (const [what, frame] of Object.entries(repeated))
  test(`[D20] [D1] a stream that never ends: ${what}`, async () => {
    const played = await play(
      inTurn(
        () => endless((at) => (at === 0 ? task('TASK_STATE_WORKING') : frame(at))),
        () => bare('TASK_STATE_CANCELED'),
      ),
    )
    assert.match(failureOf(played), /^REMOTE_FAILED: @docs@b\.test failed: it sent more than/)
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(methodsOf(played).at(-1), 'CancelTask')
  })

test('[D20] a task may say each second for a month how it stands, and a flood is left', () => {
  let now = 0
  const calm = createAllowance(() => now)
  for (; now < 30 * 86_400_000; now += 1_000) calm.take(2_000, 1)
  const flood = createAllowance(() => now)
  const until = () => {
    for (let at = 0; at < 1_000_000; at += 1) flood.take(100, 1)
  }
  assert.throws(until, TooMuchError)
})

test('[D20] a body in single bytes is left long before it is put together', async () => {
  async function* bytewise(): AsyncGenerator<Uint8Array> {
    for (;;) yield Buffer.from('a')
  }
  let pieces = 0
  const read = async () => {
    for await (const _ of allowed(
      bytewise(),
      createAllowance(() => 0),
    ))
      if (++pieces > 5_000_000) return
  }
  await assert.rejects(read, TooMuchError)
})

test('[D20] [E71] of a thousand fields that A2A does not have ten are named', () => {
  const known = emptyTask('t')
  takeFrame(known, Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`field${at}`, 0])))
  assert.equal(known.dropped.size, 10)
  assert.ok((droppedNotice('@b@b.test', known.dropped)?.detail.length ?? 0) < 1_000)
})

test('[D20] the ids of artifacts count as what they hold', () => {
  const known = emptyTask('t')
  const long = 'x'.repeat(1024 * 1024)
  assert.throws(() => {
    for (let at = 0; at < 40; at += 1)
      takeFrame(known, {
        artifactUpdate: { taskId: 't', artifact: { artifactId: `${long}${at}`, parts: [{ text: '' }] } },
      })
  }, TooMuchError)
})

test('a text in more pieces than an answer has words is one part', () => {
  const known = emptyTask('t')
  const piece = {
    artifactUpdate: { taskId: 't', append: true, artifact: { artifactId: 'a', parts: [{ text: 'a ' }] } },
  }
  for (let at = 0; at < 50_000; at += 1) takeFrame(known, piece)
  assert.equal(textOf(partsOf(known)).length, 100_000)
})

test('[D1] a task that is read again and again counts once', () => {
  const known = emptyTask('t')
  const artifacts = [{ artifactId: 'a', parts: [{ text: 'x'.repeat(1024 * 1024) }, { data: { n: 1 } }] }]
  for (let at = 0; at < 100; at += 1)
    takeFrame(known, { task: { id: 't', status: { state: 'TASK_STATE_WORKING' }, artifacts } })
  assert.equal(textOf(partsOf(known)).length, 1024 * 1024)
})
