/** Every bad input gets its code, names the thing, says what to do next, and shows neither values nor stacks. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { errorTable } from '@witan/protocol'
import fc from 'fast-check'
import { type Answer, boss, clerk, createStage, type CallOptions, type Stage } from './testing/stage.ts'
import { holds } from '../../../test/support/seeds.ts'

const secret = 'cny7f3a9secret'
const agent = (more: object) => ({ body: { id: 'bad', model: 'play/model', instructions: 'x', ...more } })
const put = (more: object): Case => ['PUT', '/api/v1/agents/bad', agent(more)]
const runs = '/api/v1/conversations/chats:bad/runs'
const run = (body: unknown): Case => ['POST', runs, { body }]
const begin = (more: object): Case => [
  'POST',
  '/api/v1/conversations',
  { body: { agent: 'clerk', parameters: { country: 'x' }, ...more } },
]
const json = { 'content-type': 'application/json' }

type Case = [method: string, path: string, options?: CallOptions]
type Row = [name: string, request: Case, status: number, code: string, ...names: string[]]

const rows: Row[] = [
  ['1 an unknown sub-agent', put({ subAgents: [{ agent: 'clrk' }] }), 422, 'AGENT_REF_UNKNOWN', 'bad', 'clrk'],
  ['2 a self edge', put({ subAgents: [{ agent: 'bad' }] }), 422, 'AGENT_SELF_REFERENCE', 'bad'],
  [
    '3 two things of one name',
    put({ subAgents: [{ agent: 'clerk' }], actions: [{ name: 'clerk' }] }),
    422,
    'NAME_TAKEN',
    'clerk',
  ],
  ['4 an id in upper case', ['POST', '/api/v1/agents', agent({ id: 'Bad' })], 422, 'ID_INVALID', 'Bad'],
  ['4 an id with dots', ['POST', '/api/v1/agents', agent({ id: '../x' })], 422, 'ID_INVALID', '../x'],
  ['4 an id too long', ['POST', '/api/v1/agents', agent({ id: 'x'.repeat(65) })], 422, 'ID_INVALID', '64'],
  ['4 another id than the path', ['PUT', '/api/v1/agents/bad', { body: { ...clerk } }], 422, 'ID_INVALID', 'bad'],
  ['5 a parameter __proto__', put({ parameters: [{ name: '__proto__' }] }), 422, 'PARAM_NAME_RESERVED', '__proto__'],
  [
    '5 a parameter constructor',
    put({ parameters: [{ name: 'constructor' }] }),
    422,
    'PARAM_NAME_RESERVED',
    'constructor',
  ],
  [
    '8 a parameter nobody declares',
    begin({ parameters: { country: 'x', usrId: 1 } }),
    422,
    'PARAM_UNKNOWN',
    'usrId',
    'userId',
  ],
  ['8 a parameter left out', begin({ parameters: {} }), 422, 'PARAM_MISSING', 'country'],
  ['9 a wrong type', begin({ parameters: { country: 5 } }), 422, 'PARAM_TYPE', 'country', 'string'],
  ['9 a hidden wrong type', begin({ parameters: { country: 'x', userId: [secret] } }), 422, 'PARAM_TYPE', 'userId'],
  ['11 a cap of 0', put({ limits: { maxIterations: 0 } }), 422, 'LIMIT_INVALID', 'limits.maxIterations', '1–1000'],
  ['11 a cap of 1.5', put({ limits: { maxDepth: 1.5 } }), 422, 'LIMIT_INVALID', 'limits.maxDepth'],
  ['11 a cap of 1e9', put({ limits: { maxModelCalls: 1e9 } }), 422, 'LIMIT_INVALID', 'limits.maxModelCalls'],
  [
    '11 a cap of a conversation',
    begin({ maxModelIterationsPerCall: 0 }),
    422,
    'LIMIT_INVALID',
    'maxModelIterationsPerCall',
  ],
  [
    '16 a query on no source',
    put({ queries: [{ name: 'q', source: 'none', query: 'select 1' }] }),
    422,
    'SOURCE_UNKNOWN',
    'none',
  ],
  ['19 an unknown action', run({ actionResponses: [{ id: 'nope', response: 1 }] }), 404, 'ACTION_NOT_FOUND', 'nope'],
  ['19 an unknown answer', run({ answers: [{ id: 'nope', answer: 1 }] }), 404, 'ACTION_NOT_FOUND', 'nope'],
  [
    '19 an unknown interruption',
    ['POST', '/api/v1/interruptions/nope/answer', { body: { answer: 1 } }],
    404,
    'NOT_FOUND',
  ],
  [
    '21 an answer and an error',
    ['POST', '/api/v1/interruptions/nope/answer', { body: { answer: secret, error: 'x' } }],
    422,
    'ANSWER_INVALID',
  ],
  [
    '25 an event id that is none',
    ['GET', '/api/v1/conversations/chats:bad/events', { headers: { 'last-event-id': 'x1' } }],
    400,
    'EVENT_ID_INVALID',
    'Last-Event-ID',
  ],
  [
    '25 a from that is none',
    ['GET', '/api/v1/conversations/chats:bad/events?from=1.5'],
    400,
    'EVENT_ID_INVALID',
    'from',
  ],
  [
    '25 an event id ahead',
    ['GET', '/api/v1/conversations/chats:bad/events', { headers: { 'last-event-id': '120' } }],
    409,
    'EVENT_ID_AHEAD',
    '120',
  ],
  [
    '25 a from ahead, as JSON',
    ['GET', '/api/v1/conversations/chats:bad/events?from=120', { headers: { accept: 'application/json' } }],
    409,
    'EVENT_ID_AHEAD',
    '120',
  ],
  [
    '26 a body too large',
    ['POST', runs, { raw: JSON.stringify({ prompt: 'x'.repeat(1_100_000) }) }],
    413,
    'BODY_TOO_LARGE',
    '1048576',
    '1100',
  ],
  ['26 a body too deep', ['POST', runs, { raw: '['.repeat(70) + ']'.repeat(70) }], 400, 'JSON_TOO_DEEP', '70', '64'],
  ['26 bad UTF-8', ['POST', runs, { raw: Uint8Array.of(0x7b, 0xff, 0x7d) }], 400, 'JSON_INVALID', 'UTF-8'],
  ['26 no JSON', ['POST', runs, { raw: `{"prompt": ${secret}}` }], 400, 'JSON_INVALID', 'JSON'],
  [
    '26 another content type',
    ['POST', runs, { raw: 'prompt=x', headers: { 'content-type': 'text/plain' } }],
    415,
    'CONTENT_TYPE_UNSUPPORTED',
    'text/plain',
    'application/json',
  ],
  ['26 no body', ['POST', runs, { headers: json }], 422, 'BODY_INVALID', 'object'],
  ['27 another host', ['GET', '/', { headers: { host: 'evil.test' } }], 403, 'HOST_NOT_ALLOWED', 'evil.test'],
  [
    '27 another origin',
    ['POST', runs, { body: { prompt: 'x' }, headers: { origin: 'http://evil.test' } }],
    403,
    'HOST_NOT_ALLOWED',
    'evil.test',
  ],
  [
    '27 another origin on a stream',
    ['GET', '/api/v1/conversations/chats:bad/events', { headers: { origin: 'http://evil.test' } }],
    403,
    'HOST_NOT_ALLOWED',
    'evil.test',
  ],
  ['28 a conversation that is not there', ['GET', '/api/v1/conversations/chats:none'], 404, 'NOT_FOUND'],
  ['28 a run that is not there', ['GET', '/api/v1/runs/none'], 404, 'NOT_FOUND'],
  ['28 a document that is not there', ['GET', '/api/v1/documents/chats/bad/none'], 404, 'NOT_FOUND'],
  ['28 events of what is not there', ['GET', '/api/v1/conversations/chats:none/events'], 404, 'NOT_FOUND'],
  [
    '28 a run in what is not there',
    [
      'POST',
      '/api/v1/conversations/chats:none/runs',
      { body: { prompt: 'x' }, headers: { accept: 'text/event-stream' } },
    ],
    404,
    'NOT_FOUND',
  ],
  ['an unknown agent', begin({ agent: 'nobody' }), 404, 'NOT_FOUND', 'nobody'],
  ['a model nobody has', put({ model: 'none/x' }), 422, 'MODEL_UNKNOWN', 'none/x'],
  ['a tool nobody has', put({ tools: ['lookup'] }), 422, 'TOOL_UNKNOWN', 'lookup'],
  ['an unknown key of an agent', put({ instrutions: secret }), 422, 'UNKNOWN_KEY', 'instrutions'],
  [
    'an unknown key inside an agent',
    put({ parameters: [{ name: 'a', sendToModell: true }] }),
    422,
    'UNKNOWN_KEY',
    'sendToModell',
  ],
  ['an unknown protocol', put({ speaks: [{ protocol: 'st', role: 'responder' }] }), 422, 'PROTOCOL_UNKNOWN', 'st'],
  ['an unknown key of a run', run({ promt: secret }), 422, 'UNKNOWN_KEY', 'promt'],
  ['an unknown key inside a run', run({ answers: [{ id: 'x', anwser: 1 }] }), 422, 'UNKNOWN_KEY', 'anwser'],
  ['an unknown key of a batch', ['POST', '/api/v1/agents/batch', { body: { agent: [] } }], 422, 'UNKNOWN_KEY', 'agent'],
  ['an unknown name in a query', ['GET', '/api/v1/agents?lmit=1'], 422, 'UNKNOWN_KEY', 'lmit'],
  ['a limit too high', ['GET', '/api/v1/agents?limit=201'], 422, 'LIMIT_INVALID', 'limit', '200'],
  ['a limit that is none', ['GET', '/api/v1/conversations?limit=many'], 422, 'LIMIT_INVALID', 'limit'],
  ['a limit given twice', ['GET', '/api/v1/agents?limit=1&limit=2'], 400, 'RUN_INPUT_INVALID', 'limit'],
  [
    'two dates',
    ['GET', '/api/v1/documents/chats/bad?before=2026-01-01&after=2026-01-01'],
    400,
    'RUN_INPUT_INVALID',
    'before',
    'after',
  ],
  [
    'a detail that is none',
    ['GET', '/api/v1/documents/chats/bad?detail=some'],
    400,
    'RUN_INPUT_INVALID',
    'detail',
    'simple',
  ],
  ['nothing to run', run({}), 400, 'RUN_INPUT_INVALID', 'prompt'],
  [
    'a prompt and an answer',
    run({ prompt: 'x', answers: [{ id: 'a', answer: 1 }] }),
    400,
    'RUN_INPUT_INVALID',
    'prompt',
  ],
  ['a prompt of the wrong kind', run({ prompt: 5 }), 422, 'BODY_INVALID', 'prompt', 'it must be text'],
  ['an empty prompt', run({ prompt: '' }), 422, 'BODY_INVALID', 'prompt', 'must say something'],
  ['a prompt of blanks', run({ prompt: ' \n\t\u00a0' }), 422, 'BODY_INVALID', 'prompt', 'holds only blanks'],
  [
    'a prompt whose parts are all blank',
    run({
      prompt: [
        { type: 'text', text: ' ' },
        { type: 'text', text: '\n' },
      ],
    }),
    422,
    'BODY_INVALID',
    'prompt',
    'holds only blanks',
  ],
  ['a prompt of an empty part', run({ prompt: [{ type: 'text', text: '' }] }), 422, 'BODY_INVALID', 'prompt.0.text'],
  [
    'an action without its response',
    run({ prompt: 'x', artificialActions: [{ name: 'a' }] }),
    422,
    'BODY_INVALID',
    'artificialActions.0.response',
    'is missing.',
  ],
  ['onActive that is none', run({ prompt: 'x', onActive: 'never' }), 422, 'BODY_INVALID', 'onActive', 'enqueue'],
  ['a stale lastSeq', run({ prompt: 'x', ifLastSeq: 999 }), 412, 'REVISION_MISMATCH'],
  ['a conversation id that is none', begin({ id: 'a b/c' }), 422, 'ID_INVALID', 'a b/c'],
  [
    'an idempotency key too long',
    ['POST', runs, { body: { prompt: 'x' }, headers: { 'idempotency-key': 'k'.repeat(256) } }],
    400,
    'RUN_INPUT_INVALID',
    '255',
    '256',
  ],
  ['another method', ['PATCH', '/api/v1/agents'], 405, 'METHOD_NOT_ALLOWED', 'PATCH', 'GET, POST'],
  ['another method on one thing', ['POST', '/api/v1/runs/x', { body: {} }], 405, 'METHOD_NOT_ALLOWED', 'POST'],
  ['a path that is none', ['GET', '/api/v1/nothing'], 404, 'NOT_FOUND', '/api/v1/nothing'],
  ['a path of a feature to come', ['GET', '/api/v1/memories'], 404, 'NOT_FOUND', '/api/v1/memories'],
  ['an unknown artifact', ['GET', '/api/v1/artifacts/x'], 404, 'NOT_FOUND', '`x`'],
  ['an unknown task', ['GET', '/api/v1/tasks/c_none'], 404, 'NOT_FOUND', 'c_none'],
  [
    'words for an unknown task',
    ['POST', '/api/v1/tasks/c_none/messages', { body: { text: 'x' } }],
    404,
    'NOT_FOUND',
    'c_none',
  ],
  [
    'no words for a task',
    ['POST', '/api/v1/tasks/c_none/messages', { body: { text: '' } }],
    422,
    'BODY_INVALID',
    'text',
  ],
  [
    'a wait too long',
    ['POST', '/api/v1/tasks/c_none/messages', { body: { text: 'x', timeoutSeconds: 601 } }],
    422,
    'BODY_INVALID',
    'timeoutSeconds',
    '600',
  ],
  [
    'a mode that is none',
    ['POST', '/api/v1/tasks/c_none/messages', { body: { text: 'x', mode: 'shout' } }],
    422,
    'BODY_INVALID',
    'mode',
    'send_and_wait',
  ],
  [
    'no question about a task',
    ['POST', '/api/v1/tasks/c_none/progress', { body: {} }],
    422,
    'BODY_INVALID',
    'question',
  ],
  ['the cancel of an unknown task', ['POST', '/api/v1/tasks/c_none/cancel'], 404, 'NOT_FOUND', 'c_none'],
  ['a broken path', ['GET', '/api/v1/%ff%'], 404, 'NOT_FOUND'],
]

describe('bad inputs', () => {
  let stage: Stage
  before(async () => {
    stage = await createStage()
    await stage.runtime.start({ agent: 'clerk', id: 'chats/bad', parameters: { country: 'x' } })
  })
  after(() => stage.close())

  for (const [name, [method, path, options], status, code, ...names] of rows) {
    test(name, async () => {
      const answer = await stage.call(method, path, options)
      assert.deepEqual([answer.status, answer.body.code], [status, code], answer.text)
      for (const word of names) assert.ok(answer.body.detail?.includes(word), `\`${word}\` in: ${answer.text}`)
      assertProblem(answer)
    })
  }

  test('warnings do not refuse: a cycle is saved with one', async () => {
    const answer = await stage.call('PUT', '/api/v1/agents/clerk', {
      body: { ...clerk, subAgents: [{ agent: 'boss' }] },
    })
    assert.equal(answer.status, 200, answer.text)
    assert.ok(
      (answer.body.warnings as { code: string }[]).some((one) => one.code === 'AGENT_CYCLE'),
      answer.text,
    )
    await stage.call('PUT', '/api/v1/agents/clerk', { body: clerk })
  })

  test('a disabled agent starts nothing', async () => {
    await stage.call('PUT', '/api/v1/agents/idle', { body: { ...boss, id: 'idle', disabled: true } })
    const answer = await stage.call('POST', '/api/v1/conversations', { body: { agent: 'idle' } })
    assert.deepEqual([answer.status, answer.body.code], [409, 'AGENT_DISABLED'], answer.text)
    assertProblem(answer)
  })
})

test('whatever is sent, the answer is a success or a whole problem, and never 500', async (context) => {
  const stage = await createStage()
  const text = fc.string({ unit: 'grapheme', maxLength: 12 })
  const segment = fc.oneof(
    text,
    fc.constantFrom(
      'api',
      'v1',
      'agents',
      'conversations',
      'runs',
      'chats:bad',
      'events',
      'check',
      '..',
      '%',
      '%2F',
      'clerk',
    ),
  )
  const key = fc.constantFrom(
    'prompt',
    'agent',
    'id',
    'parameters',
    'answers',
    'agents',
    'limits',
    '__proto__',
    'subAgents',
    'model',
  )
  const request = fc.record({
    method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'),
    path: fc
      .array(segment, { maxLength: 6 })
      .map((parts) => `/${parts.map((part) => (/^[%.]/.test(part) ? part : encodeURIComponent(part))).join('/')}`),
    query: fc.option(fc.tuple(fc.oneof(text, fc.constantFrom('limit', 'cursor', 'from')), text)),
    body: fc.oneof(fc.jsonValue(), fc.dictionary(key, fc.jsonValue())),
  })
  const property = fc.asyncProperty(request, async ({ method, path, query, body }) => {
    const search = query === null ? '' : `?${new URLSearchParams([query])}`
    const options = method === 'GET' || method === 'HEAD' ? { headers: { accept: 'application/json' } } : { body }
    const answer = await stage.call(method, path + search, options)
    if (answer.status < 400) return
    assert.ok(
      answer.status !== 500,
      `${method} ${path}${search} ${JSON.stringify(body)}: ${answer.text} ${stage.log.join('')}`,
    )
    if (method !== 'HEAD') assertProblem(answer)
  })
  await holds(context, property, 1000)
  await stage.close()
})

/** Every field, one request id in body and header, the table's status and title, no value and no stack. */
function assertProblem({ status, headers, body, text }: Answer): void {
  assert.equal(headers.get('content-type'), 'application/problem+json', text)
  for (const field of ['type', 'title', 'detail', 'hint', 'requestId'] as const)
    assert.ok(body[field], `${field} in ${text}`)
  assert.ok('path' in body, text)
  assert.equal(body.requestId, headers.get('x-request-id'))
  assert.ok(body.code !== undefined && errorTable[body.code].status === status, text)
  assert.equal(body.title, errorTable[body.code].title)
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.equal(text.includes(secret), false, text)
  assert.doesNotMatch(text, /\\n\s+at |node_modules|\.ts:\d/)
}
