/** Requests that must be refused: starts, runs, lists, bodies, hosts and things that are not there. */
import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { after, before, test } from 'node:test'
import { assertProblem, type ExpectedProblem } from './support/claims.ts'
import { agent, createStage, segment, type Stage, sub } from './support/stage.ts'
import type { Problem } from './support/wire.ts'
import { type Answer, createWitan } from './support/witan.ts'

const canary = 'cny_bad_lk12jh34gf56ds78aq90we12'
const conversations = '/api/v1/conversations'
let stage: Stage
before(async () => {
  stage = await createStage()
  await stage.save(
    agent('root', { parameters: [{ name: 'country', type: 'string' }], subAgents: [sub('leaf')] }),
    agent('leaf', {
      parameters: [
        { name: 'userId', type: 'string', sendToModel: false, policy: 'forbidModelGeneration' },
        { name: 'tags', type: 'string[]' },
        { name: 'count', type: 'number' },
        { name: 'free', type: 'any' },
      ],
    }),
    agent('plain'),
    agent('off', { disabled: true }),
  )
  await stage.begin('plain', { id: 'chats/here' })
})
after(() => stage?.close())

const runs = `${conversations}/${segment('chats/here')}/runs`
const post = (path: string, body: unknown) => stage.witan.call('POST', path, { body })
const get = (path: string) => stage.witan.call('GET', path, { headers: { accept: 'application/json' } })

type Row = [title: string, body: Record<string, unknown>, expected: ExpectedProblem]
const withParameters = (more: Record<string, unknown>) => ({
  agent: 'root',
  parameters: { country: 'France', ...more },
})

const starts: Row[] = [
  [
    'a parameter that nobody declares, with the known ones [R32] [E21]',
    withParameters({ usrId: 'x' }),
    { status: 422, code: 'PARAM_UNKNOWN', names: ['usrId', 'userId', 'country'] },
  ],
  [
    'a declared parameter left out [Rb14]',
    { agent: 'root' },
    { status: 422, code: 'PARAM_MISSING', names: ['country'] },
  ],
  [
    'a number for a string',
    withParameters({ userId: 7 }),
    { status: 422, code: 'PARAM_TYPE', names: ['userId', 'string'] },
  ],
  [
    'null for a string [E14]',
    withParameters({ country: null }),
    { status: 422, code: 'PARAM_TYPE', names: ['country'] },
  ],
  [
    'a string for a number',
    withParameters({ count: 'seven' }),
    { status: 422, code: 'PARAM_TYPE', names: ['count', 'number'] },
  ],
  ['a mixed array [Rb15]', withParameters({ tags: ['a', 1] }), { status: 422, code: 'PARAM_TYPE', names: ['tags'] }],
  ['a nested array [Rb15]', withParameters({ tags: [['a']] }), { status: 422, code: 'PARAM_TYPE', names: ['tags'] }],
  [
    'an object as a value [Rb15]',
    withParameters({ free: { value: { a: 1 } } }),
    { status: 422, code: 'PARAM_TYPE', names: ['free'] },
  ],
  [
    'a hidden value of the wrong type, which is not echoed',
    withParameters({ userId: { value: [canary], sendToModel: false } }),
    { status: 422, code: 'PARAM_TYPE', names: ['userId'], never: [canary] },
  ],
  ['an agent that does not exist', { agent: 'nobody' }, { status: 404, code: 'NOT_FOUND' }],
  ['a disabled agent [Rb45]', { agent: 'off' }, { status: 409, code: 'AGENT_DISABLED', names: ['off'] }],
  [
    'an unknown key, with the nearest known one',
    { agent: 'plain', promt: 'x' },
    { status: 422, code: 'UNKNOWN_KEY', names: ['promt', 'prompt'] },
  ],
  [
    'an iteration cap of 0',
    { agent: 'plain', maxModelIterationsPerCall: 0 },
    { status: 422, code: 'LIMIT_INVALID', names: ['maxModelIterationsPerCall'] },
  ],
  ...['nopath', 'a/b/c', '../up', 'sp ace/x', 'chats/a$b', 'chats/a~2', `${'x'.repeat(65)}/y`].map(
    (id): Row => [`the conversation id ${id.slice(0, 12)}`, { agent: 'plain', id }, { status: [400, 422] }],
  ),
]

for (const [title, body, expected] of starts) {
  test(`a start is refused: ${title}`, async () => assertProblem(await post(conversations, body), expected))
}

const inputs: Row[] = [
  ['neither prompt nor responses [Rb29]', {}, { status: 400, code: 'RUN_INPUT_INVALID' }],
  [
    'prompt and responses [Rb29]',
    { prompt: 'x', actionResponses: [{ id: 'i_1', response: 1 }] },
    { status: 400, code: 'RUN_INPUT_INVALID' },
  ],
  [
    'prompt and answers',
    { prompt: 'x', answers: [{ id: 'i_1', answer: 1 }] },
    { status: 400, code: 'RUN_INPUT_INVALID' },
  ],
  [
    'a response to an unknown action [Rb31]',
    { actionResponses: [{ id: 'i_1', response: 1 }] },
    { status: 404, code: 'ACTION_NOT_FOUND' },
  ],
  ['an answer to an unknown id', { answers: [{ id: 'i_1', answer: 1 }] }, { status: 404, code: 'ACTION_NOT_FOUND' }],
  ['an unknown key', { prompt: 'x', verbos: true }, { status: 422, code: 'UNKNOWN_KEY', names: ['verbos', 'verbose'] }],
  ['an unknown policy', { prompt: 'x', onActive: 'wait' }, { status: [400, 422], names: ['onActive'] }],
  ['a prompt that is a number', { prompt: 7 }, { status: [400, 422], names: ['prompt'] }],
]

for (const [title, body, expected] of inputs) {
  test(`a run is refused: ${title}`, async () => assertProblem(await post(runs, body), expected))
}

test('what is not there is 404, and a missing thing is named the same as a foreign one', async () => {
  for (const path of [
    'agents/nobody',
    'conversations/chats%2Fnone',
    'conversations/chats:none/events',
    'documents/chats/none',
    'runs/c_none',
    'interruptions/none',
    'no-such-route',
  ]) {
    assertProblem(await get(`/api/v1/${path}`), { status: 404, code: 'NOT_FOUND' })
  }
  assertProblem(await post(`${conversations}/chats:none/runs`, { prompt: 'x' }), { status: 404, code: 'NOT_FOUND' })
  assertProblem(await stage.witan.call('DELETE', '/api/v1/agents/nobody'), { status: 404, code: 'NOT_FOUND' })
  assertProblem(await stage.witan.call('DELETE', `${conversations}/chats:none`), { status: 404, code: 'NOT_FOUND' })
})

for (const query of ['limit=0', 'limit=201', 'limit=-1', 'limit=many', 'limit=1.5', 'cursor=%00nonsense']) {
  test(`a list is refused with ${query}`, async () =>
    assertProblem(await get(`/api/v1/agents?${query}`), { status: [400, 422] }))
}

test('a body that is too large, too deep, torn, of bad UTF-8 or of another type is refused [bad input 26]', async () => {
  const send = (raw: string | Uint8Array<ArrayBuffer>, type = 'application/json') =>
    stage.witan.call('POST', runs, { raw, headers: { 'content-type': type } })
  assertProblem(await send(JSON.stringify({ prompt: 'x'.repeat(1_100_000) })), { status: 413 })
  assertProblem(await send(`{"prompt":"x","answers":${'['.repeat(70)}${']'.repeat(70)}}`), {
    status: 400,
    code: 'JSON_TOO_DEEP',
    names: ['64'],
  })
  assertProblem(await send('{"prompt":'), { status: 400 })
  assertProblem(await send(new Uint8Array([...Buffer.from('{"prompt":"'), 0xff, 0xfe, ...Buffer.from('"}')])), {
    status: 400,
  })
  assertProblem(await send('prompt=x', 'text/plain'), { status: 415 })
  assertProblem(await send('prompt=x', 'application/x-www-form-urlencoded'), { status: 415 })
  assertProblem(await send('null'), { status: [400, 422] })
  assertProblem(await send('[]'), { status: [400, 422] })
})

test('names that reach into prototypes are unknown names and nothing more', async () => {
  const bodies = [
    '{"agent":"root","parameters":{"country":"x","__proto__":"y"}}',
    '{"agent":"root","parameters":{"country":"x","constructor":"y"}}',
  ]
  for (const raw of bodies) {
    const answer = await stage.witan.call('POST', conversations, {
      raw,
      headers: { 'content-type': 'application/json' },
    })
    assertProblem(answer, { status: 422 })
  }
  const key = await stage.witan.call('POST', conversations, { raw: '{"agent":"plain","__proto__":{"admin":true}}' })
  assertProblem(key, { status: 422, code: 'UNKNOWN_KEY', names: ['__proto__'] })
})

/** A request with headers that fetch does not let a caller set. */
function rawRequest(
  path: string,
  options: { method?: string; headers: Record<string, string>; body?: string },
): Promise<Answer<Problem>> {
  const { method = 'GET', headers, body } = options
  return new Promise((resolve, reject) => {
    const sent = httpRequest(stage.witan.url + path, { method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () => {
        const got = new Headers({ 'content-type': response.headers['content-type'] ?? '' })
        resolve({
          status: response.statusCode ?? 0,
          headers: got,
          text,
          body: /json/.test(got.get('content-type') ?? '') ? (JSON.parse(text) as Problem) : ({} as Problem),
        })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

test('a foreign Host is refused and named; so is a foreign Origin on what changes things [D18]', async () => {
  const refused = { status: 403, code: 'HOST_NOT_ALLOWED', names: ['evil.test'] }
  assertProblem(await rawRequest('/api/v1/agents', { headers: { host: 'evil.test' } }), refused)
  assertProblem(await rawRequest('/', { headers: { host: 'evil.test:80' } }), refused)
  const body = JSON.stringify(agent('from-evil'))
  const headers = { 'content-type': 'application/json', origin: 'http://evil.test' }
  assertProblem(await rawRequest('/api/v1/agents', { method: 'POST', headers, body }), refused)
  assert.equal((await get('/api/v1/agents/from-evil')).status, 404)
  const port = new URL(stage.witan.url).port
  assert.equal((await rawRequest('/api/v1/agents', { headers: { host: `localhost:${port}` } })).status, 200)
})

test('without a token a server in local mode answers 401 to every call of the API [D18]', async () => {
  const guarded = await createWitan({ modelUrl: stage.model.url, prepare: () => ({ auth: { mode: 'local' } }) })
  try {
    for (const path of ['/api/v1/agents', '/api/v1/conversations', '/api/v1/documents/chats/none', '/api/v1/runs/x']) {
      assertProblem(await guarded.call('GET', path), { status: 401, code: 'UNAUTHENTICATED' })
      assertProblem(await guarded.call('GET', path, { headers: { authorization: 'Bearer wrong' } }), {
        status: 401,
        code: 'UNAUTHENTICATED',
      })
    }
    assertProblem(await guarded.call('POST', '/api/v1/agents', { body: agent('x') }), {
      status: 401,
      code: 'UNAUTHENTICATED',
    })
    assert.equal((await guarded.call('GET', '/healthz')).status, 200)
  } finally {
    await guarded.close()
  }
})

test('the server describes itself, with the routes that these tests use', async () => {
  const { status, body } = await stage.witan.call<{ openapi: string; paths: Record<string, unknown> }>(
    'GET',
    '/api/v1/openapi.json',
  )
  assert.equal(status, 200)
  assert.match(body.openapi, /^3\.1/)
  const paths = Object.keys(body.paths).join('\n')
  for (const part of [
    '/agents/batch',
    '/check',
    '/conversations/{',
    '/runs',
    '/events',
    '/interruptions/{',
    '/documents/',
  ])
    assert.ok(paths.includes(part), `${part} in:\n${paths}`)
})
