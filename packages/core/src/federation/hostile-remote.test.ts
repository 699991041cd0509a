/** Other servers that lie, drip, flood, ask without end or break off: each call comes to an outcome, and nothing of it is done twice. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  bare,
  type Fetch,
  failureOf,
  inTurn,
  methodsOf,
  play,
  type Played,
  streamOf,
  task,
  text,
} from '../../../../test/support/remote-call.ts'
import type { RemoteCall } from '../tool/remote.ts'
import { readNote } from './remote-note.ts'
import { UnreachableError } from './transport.ts'

const asks = (id: string) => ({ message: { messageId: id, role: 'ROLE_AGENT', parts: [{ text: `Which? ${id}` }] } })

test('[D20] a task that goes from COMPLETED back to WORKING has ended', async () => {
  const done = { ...task('TASK_STATE_COMPLETED').task, artifacts: [{ artifactId: 'a', parts: [{ text: 'Here.' }] }] }
  const { outcome } = await play(inTurn(() => streamOf([{ task: done }, task('TASK_STATE_WORKING')])))
  assert.equal(outcome.kind === 'result' ? outcome.answered?.text : null, 'Here.')
})

test('[D20] a task id that changes is not followed', async () => {
  const other = { task: { id: 'other', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } } }
  const played = await play(
    inTurn(
      () => streamOf([task('TASK_STATE_WORKING'), other]),
      () => bare('TASK_STATE_FAILED'),
    ),
  )
  assert.match(failureOf(played), /^REMOTE_FAILED/)
  assert.deepEqual(played.requests[1]?.params, { id: 't' })
})

test('a server that asks for ever is given up after as many times as its caller may iterate', async () => {
  let note: unknown
  let answers: RemoteCall['context']['answers'] = []
  for (let round = 1; round <= 4; round += 1) {
    const played = await play(
      inTurn(() => streamOf([task('TASK_STATE_INPUT_REQUIRED', asks(`q${round}`))])),
      { note, answers },
    )
    if (played.outcome.kind === 'result') {
      assert.match(failureOf(played), /it has asked 3 times/)
      assert.equal(round, 4)
      return
    }
    const [draft] = 'interruptions' in played.outcome ? played.outcome.interruptions : []
    answers = [...answers, { kind: 'interruption', asked: draft, answer: { value: { input: { text: 'x' } } } } as never]
    note = played.note
  }
  assert.fail('it may ask for ever')
})

test('a server that is silent for ten minutes is given up', async () => {
  const played = await play(
    inTurn(
      () => streamOf([task('TASK_STATE_WORKING')]),
      () => Promise.reject(new UnreachableError('gone', true)),
    ),
  )
  assert.match(failureOf(played), /^REMOTE_UNREACHABLE: .*silent for 10 minutes/)
})

test('a task at work is asked about as long as its server answers', async () => {
  let left = 200
  const played = await play(
    inTurn(
      () => streamOf([task('TASK_STATE_WORKING')], true),
      () => (left-- > 0 ? bare('TASK_STATE_WORKING') : bare('TASK_STATE_CANCELED')),
    ),
  )
  assert.match(failureOf(played), /^REMOTE_FAILED/)
  assert.ok(methodsOf(played).includes('SubscribeToTask') && methodsOf(played).includes('GetTask'))
})

const broken: readonly (readonly [string, Fetch, Played, RegExp, readonly string[]])[] = [
  [
    'no connection',
    inTurn(() => Promise.reject(new UnreachableError('ECONNREFUSED', false))),
    {},
    /^REMOTE_UNREACHABLE: .*ECONNREFUSED/,
    Array(3).fill('SendStreamingMessage'),
  ],
  [
    'a connection that broke before a frame',
    inTurn(() => Promise.reject(new UnreachableError('ECONNRESET', true))),
    {},
    /^OUTCOME_UNKNOWN/,
    ['SendStreamingMessage'],
  ],
  [
    'a connection that broke, of a server that takes a message once',
    inTurn(
      () => Promise.reject(new UnreachableError('ECONNRESET', true)),
      () => streamOf([task('TASK_STATE_REJECTED')]),
    ),
    { isIdempotent: true },
    /^REMOTE_FAILED/,
    Array(2).fill('SendStreamingMessage'),
  ],
  ['a stream without a frame', inTurn(() => streamOf([])), {}, /^OUTCOME_UNKNOWN/, ['SendStreamingMessage']],
  [
    '429 again and again',
    inTurn(() => text({ code: 'TOO_MANY_TASKS' }, 'application/problem+json', 429)),
    {},
    /^REMOTE_UNREACHABLE/,
    Array(3).fill('SendStreamingMessage'),
  ],
  [
    '401',
    inTurn(() => text({ code: 'UNAUTHENTICATED' }, 'application/problem+json', 401)),
    {},
    /^REMOTE_FAILED: @docs@b\.test failed: it answered 401/,
    ['SendStreamingMessage'],
  ],
  [
    'an error in JSON-RPC',
    inTurn(() => text({ error: { code: -32004, message: 'x'.repeat(5_000) } })),
    {},
    /^REMOTE_FAILED: @docs@b\.test failed: x{1000}/,
    ['SendStreamingMessage'],
  ],
  ['a result that is a list', inTurn(() => text([{ result: [] }])), {}, /^REMOTE_FAILED/, ['SendStreamingMessage']],
  [
    'a note of a process that broke before the task had an id',
    inTurn(() => assert.fail('nothing is sent')),
    { note: { n: 1 } },
    /^OUTCOME_UNKNOWN/,
    [],
  ],
]
for (const [what, fetch, played, outcome, methods] of broken)
  test(`[D1] ${what}`, async () => {
    const come = await play(fetch, played)
    assert.match(failureOf(come), outcome)
    assert.deepEqual(methodsOf(come), methods)
  })

test('a message that is sent again has the id of the first', async () => {
  const { requests } = await play(
    inTurn(
      () => Promise.reject(new UnreachableError('ECONNRESET', true)),
      () => streamOf([task('TASK_STATE_REJECTED')]),
    ),
    { isIdempotent: true },
  )
  const ids = requests.map(({ params }) => (params['message'] as { messageId: string }).messageId)
  assert.deepEqual(ids, ['c_1', 'c_1'])
})

test('[D20] a frame over 32 MiB ends the call, and so does a text that never ends', async () => {
  async function* flood(): AsyncGenerator<Uint8Array> {
    const piece = Buffer.alloc(1024 * 1024, 'x')
    yield Buffer.from('data: ')
    for (;;) yield piece
  }
  const header = (name: string) => (name === 'content-type' ? 'text/event-stream' : null)
  const long = await play(inTurn(() => ({ status: 200, header, body: flood() })))
  assert.match(failureOf(long), /^REMOTE_FAILED: .*more than 33554432 bytes/)
  const words = 'x'.repeat(1024 * 1024)
  const piece = {
    artifactUpdate: {
      taskId: 't',
      contextId: 'c',
      append: true,
      artifact: { artifactId: 'a', parts: [{ text: words }] },
    },
  }
  const drip = await play(inTurn(() => streamOf([task('TASK_STATE_WORKING'), ...Array(40).fill(piece)])))
  assert.match(failureOf(drip), /^REMOTE_FAILED: .*more than is taken/)
})

test('[M21] [E64] [Mb11] conditions of every kind are interruptions, and a link that leads elsewhere is left out', async () => {
  const part = (policy: object, state: string) => ({ data: { type: 'policy', policy, state } })
  const parts = [
    part({ kind: 'payment_required', message: 'One euro.', url: 'https://pay.b.test/1' }, 's1'),
    part({ kind: 'of_tomorrow', message: 'Hop.', url: 'https://evil.test/' }, 's2'),
  ]
  const message = { messageId: 'm', role: 'ROLE_AGENT', parts }
  const { outcome, note } = await play(inTurn(() => streamOf([task('TASK_STATE_INPUT_REQUIRED', { message })])))
  assert.ok(outcome.kind === 'pending' && 'interruptions' in outcome)
  assert.deepEqual(
    outcome.interruptions.map((one) => (one.kind === 'policy' ? [one.issuer, one.policy] : null)),
    [
      ['@docs@b.test', { kind: 'payment_required', message: 'One euro.', url: 'https://pay.b.test/1' }],
      ['@docs@b.test', { kind: 'of_tomorrow', message: 'Hop.' }],
    ],
  )
  assert.deepEqual(
    readNote(note)?.asked.map(({ kind, id }) => [kind, id]),
    [
      ['policy', 's1'],
      ['policy', 's2'],
    ],
  )
  const resolved = outcome.interruptions.map((asked) => ({
    kind: 'interruption',
    asked,
    answer: { value: { resolution: { paid: 1 } } },
  }))
  const again = await play(
    inTurn(
      () => streamOf([task('TASK_STATE_WORKING')]),
      () => streamOf([task('TASK_STATE_COMPLETED')]),
    ),
    { note, answers: resolved as never },
  )
  const sent = again.requests.map(
    ({ params }) => params['message'] as { taskId: string; metadata: { mentionable: unknown } },
  )
  assert.deepEqual(
    sent.map(({ taskId, metadata }) => [taskId, metadata.mentionable]),
    [
      ['t', { policy_resolution: { in_reply_to_state: 's1', paid: 1 } }],
      ['t', { policy_resolution: { in_reply_to_state: 's2', paid: 1 } }],
    ],
  )
})

test('[C21] a condition that is declined ends the call in neutral words, and the task there', async () => {
  const asked = { kind: 'policy', issuer: '@docs@b.test', policy: { kind: 'consent_required', message: 'Really?' } }
  const note = { n: 1, task: 't', asked: [{ kind: 'policy', id: 's', form: 'of another version' }] }
  const answers = [{ kind: 'interruption', asked, answer: { value: { decision: 'declined' } } }]
  const played = await play(
    inTurn(() => bare('TASK_STATE_CANCELED')),
    { note, answers: answers as never },
  )
  assert.match(failureOf(played), /The remote agent’s condition was declined\.$/)
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(methodsOf(played), ['CancelTask'])
})
