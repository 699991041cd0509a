/** Other servers that lie, drip, flood, ask without end or break off: each call comes to an outcome, and nothing of it is done twice. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RemoteCall } from '../tool/remote.ts'
import { createRemoteCaller } from './remote-calls.ts'
import { mostNoted, readNote } from './remote-note.ts'
import type { RemoteServices } from './remote-services.ts'
import { UnreachableError } from './transport.ts'

type Fetch = RemoteServices['fetch']
type Reply = Awaited<ReturnType<Fetch>>

/** A clock that is set to the time of the next timer as soon as everything waits. */
function hurriedClock() {
  let now = 0
  const timers = new Set<{ readonly at: number; readonly run: () => void }>()
  const hurry = () => {
    const [next] = [...timers].sort((one, other) => one.at - other.at)
    if (next === undefined) return
    timers.delete(next)
    now = Math.max(now, next.at)
    next.run()
  }
  return {
    now: () => now,
    after(ms: number, run: () => void, { background = false } = {}) {
      const timer = { at: now + ms, run }
      timers.add(timer)
      if (!background) setImmediate(() => setImmediate(hurry))
      return () => timers.delete(timer)
    },
  }
}

const text = (value: object, type = 'application/json', status = 200): Reply => ({
  status,
  header: (name) => (name === 'content-type' ? type : null),
  body: bytesOf(JSON.stringify(value)),
})

async function* bytesOf(json: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(json)
}

/** A stream of these frames; a break-off stands at its end if `breaks`. */
function streamOf(frames: readonly object[], breaks = false): Reply {
  async function* body(): AsyncGenerator<Uint8Array> {
    for (const frame of frames)
      yield Buffer.from(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: frame })}\n\n`)
    if (breaks) throw new Error('ECONNRESET')
  }
  return { status: 200, header: (name) => (name === 'content-type' ? 'text/event-stream' : null), body: body() }
}

const task = (state: string, more: object = {}) => ({ task: { id: 't', contextId: 'c', status: { state, ...more } } })
const bare = (state: string, more: object = {}) => text({ jsonrpc: '2.0', id: 1, result: task(state, more).task })
const asks = (id: string) => ({ message: { messageId: id, role: 'ROLE_AGENT', parts: [{ text: `Which? ${id}` }] } })

interface Played {
  readonly saveNote?: (note: unknown) => Promise<void>
  readonly answers?: RemoteCall['context']['answers']
  readonly note?: unknown
  readonly isIdempotent?: boolean
}

async function play(fetch: Fetch, { answers = [], note, isIdempotent = false, saveNote }: Played = {}) {
  const requests: { readonly method: string; readonly params: Record<string, unknown> }[] = []
  let kept = note
  const endpoint = {
    url: 'https://b.test/a2a',
    binding: 'JSONRPC',
    tenant: null,
    isStreaming: true,
    isIdempotent,
  } as const
  const caller = createRemoteCaller(
    {
      find: async () => ({ ok: true, endpoint, notice: null }),
      sign: async () => ({ bearer: null, metadata: {}, extensions: [] }),
      trustsUsage: () => false,
      newId: () => 'id',
      clock: hurriedClock(),
      fetch: async (url, request) => {
        requests.push(JSON.parse(request.body ?? '{}'))
        return fetch(url, request)
      },
    },
    (error) => assert.fail(String(error)),
  )
  const outcome = await caller.call({
    edge: { name: 'docs', address: '@docs@b.test', history: 'agent' },
    from: { id: 'desk', address: null },
    callId: 'c_1',
    message: 'Find it.',
    body: { before: undefined, words: () => [], onWords: () => () => {}, show: () => {} },
    context: {
      caller: { database: 'default', agent: { limits: { maxIterations: 3 } } },
      signal: new AbortController().signal,
      answers,
      note: kept,
      saveNote: async (saved: unknown) => {
        assert.ok(JSON.stringify(saved).length <= mostNoted, 'the engine keeps no longer note')
        await saveNote?.(saved)
        kept = structuredClone(saved)
      },
      artifacts: { save: async () => assert.fail('no file'), read: async () => assert.fail('no file') },
    },
  } as unknown as RemoteCall)
  return { outcome, requests, note: readNote(kept) }
}

const failureOf = ({ outcome }: Awaited<ReturnType<typeof play>>) =>
  outcome.kind === 'result' ? `${outcome.failure?.code}: ${outcome.failure?.detail}` : outcome.kind
const methodsOf = ({ requests }: Awaited<ReturnType<typeof play>>) => requests.map(({ method }) => method)

/** Gives one reply after the other, the last one for ever. */
function inTurn(...replies: readonly (() => Reply | Promise<Reply>)[]): Fetch {
  let at = 0
  return async () => (replies[Math.min(at++, replies.length - 1)] as () => Reply)()
}

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
  for (let round = 1; ; round += 1) {
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

test('[M21] conditions of every kind are interruptions, and a link that leads elsewhere is left out', async () => {
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
    note?.asked.map(({ kind, id }) => [kind, id]),
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

const asking = (parts: readonly object[], { messageId = 'm', ...ids }: Readonly<Record<string, string>> = {}) => {
  const message = { messageId, role: 'ROLE_AGENT', parts }
  return { task: { id: 't', contextId: 'c', ...ids, status: { state: 'TASK_STATE_INPUT_REQUIRED', message } } }
}
const demand = (state: string, policy: object = { kind: 'consent_required' }) => ({
  data: { type: 'policy', policy: { message: '', ...policy }, state },
})
const action = (id: string, more: object = {}) => ({ data: { type: 'action', id, name: 'sign', arguments: more } })
const question = (id: string, text: string) => ({
  data: {
    type: 'question',
    id,
    questions: [{ id: 'q', text, options: [], multiple: false, freeText: true, required: true }],
  },
})
const long = 'x'.repeat(20_000)
const many = (one: (id: string) => object) => Array.from({ length: 50 }, (_, at) => one(`${at}${'x'.repeat(400)}`))

const tooMuch: Readonly<Record<string, readonly [object, RegExp]>> = {
  'the state of a condition': [asking([demand(long)]), /ids are too long/],
  'the states of fifty conditions': [asking(many((id) => demand(id))), /ids are too long/],
  'the id of an action': [asking([action(long)]), /ids are too long/],
  'the id of a question': [asking([question(long, 'Which?')]), /ids are too long/],
  'ids that are longer as JSON': [asking([demand('"'.repeat(9_000))]), /ids are too long/],
  'the name of a message': [asking([{ text: 'Which?' }], { messageId: long }), /ids are too long/],
  'the id of a task': [asking([{ text: 'Which?' }], { id: long }), /ids are too long/],
  'the id of a context': [asking([{ text: 'Which?' }], { contextId: long }), /ids are too long/],
  'the arguments of an action': [asking([action('a', { all: long.repeat(6) })]), /100000 characters/],
  'the fields of a condition': [asking([demand('s', { all: long.repeat(6) })]), /100000 characters/],
  'conditions that are long together': [
    asking(many(() => demand('s', { all: 'x'.repeat(3_000) }))),
    /100000 characters/,
  ],
}

for (const [what, [frame, why]] of Object.entries(tooMuch)) {
  test(`[D1] [D20] ${what} may be too long: the call fails, and its task is told to stop`, async () => {
    const played = await play(
      inTurn(
        () => streamOf([frame]),
        () => bare('TASK_STATE_CANCELED'),
      ),
    )
    assert.match(failureOf(played), /^REMOTE_FAILED: @docs@b\.test failed: it/)
    assert.match(failureOf(played), why)
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(methodsOf(played), ['SendStreamingMessage', 'CancelTask'])
  })
}

test('[M21] fifty conditions with ordinary states are asked together', async () => {
  const parts = Array.from({ length: 50 }, (_, at) => demand(`${at}${'s'.repeat(100)}`))
  const { outcome, note } = await play(inTurn(() => streamOf([asking(parts)])))
  assert.equal(outcome.kind === 'pending' && 'interruptions' in outcome ? outcome.interruptions.length : 0, 50)
  assert.equal(new Set(note?.asked.map(({ id }) => id)).size, 50)
})

test('what breaks here is no failure of the other server', async () => {
  const saveNote = () => Promise.reject(new Error('the store is away'))
  const calls = [
    play(
      inTurn(() => bare('TASK_STATE_COMPLETED')),
      { saveNote },
    ),
  ]
  // What was stored before the request left is here; what its reply brings cannot be stored.
  let times = 0
  const later = () => (++times > 1 ? saveNote() : Promise.resolve())
  calls.push(
    play(
      inTurn(() => streamOf([task('TASK_STATE_WORKING')])),
      { saveNote: later },
    ),
  )
  for (const call of calls) await assert.rejects(call, /the store is away/)
})
