/** Family H, over HTTP: every request that is refused, with a hidden value in its body, path, query and headers. */
import { createApp, createAuth, createLog } from '@witan/server'
import { call } from '@witan/core/testing'
import { createStage } from '../../support/stage.ts'
import { canary, scannerOf } from '../support/canary.ts'
import type { Ledger } from '../support/ledger.ts'
import { textOf } from '../support/texts.ts'

const base = 'http://127.0.0.1:4747'

/** What a request is made of; `secret` must never come back. */
interface Given {
  readonly secret: string
  readonly name: string
  readonly conversation: string
  readonly action: string
  readonly run: string
}

interface Shape {
  readonly method?: string
  readonly path: string
  readonly body?: unknown
  readonly raw?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** By the code that must come. Paths and names may be told back, so the secret is never in them unless it is said to be. */
const requests: readonly (readonly [code: string, made: (given: Given) => Shape])[] = [
  [
    'NOT_FOUND',
    ({ name, secret }) => ({
      method: 'POST',
      path: `/api/v1/conversations/chats:${name}/runs`,
      body: { prompt: secret },
    }),
  ],
  [
    'NOT_FOUND',
    ({ secret }) => ({
      method: 'POST',
      path: '/api/v1/conversations',
      body: { agent: 'nobody', prompt: secret, parameters: { key: secret } },
    }),
  ],
  [
    'NOT_FOUND',
    ({ name, secret }) => ({ path: `/api/v1/documents/chats/${name}`, headers: { cookie: `a=${secret}` } }),
  ],
  ['NOT_FOUND', ({ name }) => ({ path: `/api/v1/runs/${name}` })],
  [
    'NOT_FOUND',
    ({ name, secret }) => ({ method: 'POST', path: `/api/v1/interruptions/${name}`, body: { answer: secret } }),
  ],
  ['NOT_FOUND', ({ name, secret }) => ({ path: `/api/v1/${name}?q=${secret}` })],
  [
    'METHOD_NOT_ALLOWED',
    ({ secret }) => ({ method: 'PUT', path: `/api/v1/conversations?x=${secret}`, body: { secret } }),
  ],
  [
    'CONTENT_TYPE_UNSUPPORTED',
    ({ secret }) => ({
      method: 'POST',
      path: '/api/v1/conversations',
      raw: `agent=${secret}`,
      headers: { 'content-type': 'text/plain' },
    }),
  ],
  ['JSON_INVALID', ({ secret }) => ({ method: 'POST', path: '/api/v1/conversations', raw: `{"prompt": "${secret}` })],
  ['JSON_INVALID', ({ secret }) => ({ method: 'POST', path: '/api/v1/conversations', raw: `${secret}` })],
  [
    'JSON_TOO_DEEP',
    ({ secret }) => ({
      method: 'POST',
      path: '/api/v1/conversations',
      raw: `${'['.repeat(80)}"${secret}"${']'.repeat(80)}`,
    }),
  ],
  [
    'BODY_TOO_LARGE',
    ({ secret }) => ({
      method: 'POST',
      path: '/api/v1/conversations',
      raw: JSON.stringify({ prompt: secret.repeat(40_000) }),
    }),
  ],
  [
    'BODY_INVALID',
    ({ secret }) => ({ method: 'POST', path: '/api/v1/conversations', body: { agent: 7, prompt: secret } }),
  ],
  [
    'BODY_INVALID',
    ({ secret }) => ({
      method: 'POST',
      path: '/api/v1/conversations',
      body: { agent: 'asker', prompt: [{ type: 'text', text: [secret] }] },
    }),
  ],
  [
    'UNKNOWN_KEY',
    ({ name, secret }) => ({ method: 'POST', path: '/api/v1/conversations', body: { agent: 'asker', [name]: secret } }),
  ],
  [
    'PARAM_UNKNOWN',
    ({ name, secret }) => ({
      method: 'POST',
      path: '/api/v1/conversations',
      body: { agent: 'asker', parameters: { [name]: secret } },
    }),
  ],
  [
    'PARAM_TYPE',
    ({ secret }) => ({
      method: 'POST',
      path: '/api/v1/conversations',
      body: { agent: 'asker', parameters: { count: secret } },
    }),
  ],
  [
    'PARAM_TYPE',
    ({ secret }) => ({
      method: 'POST',
      path: '/api/v1/conversations',
      body: { agent: 'asker', parameters: { key: { value: [[secret]] } } },
    }),
  ],
  [
    'ACTIONS_PENDING',
    ({ conversation, secret }) => ({ method: 'POST', path: `${conversation}/runs`, body: { prompt: secret } }),
  ],
  [
    'RUN_ACTIVE',
    ({ conversation, secret }) => ({
      method: 'POST',
      path: `${conversation}/runs`,
      body: { prompt: secret, onActive: 'reject' },
    }),
  ],
  [
    'RUN_INPUT_INVALID',
    ({ conversation, action, secret }) => ({
      method: 'POST',
      path: `${conversation}/runs`,
      body: { prompt: secret, actionResponses: [{ id: action, response: secret }] },
    }),
  ],
  [
    'ACTION_NOT_FOUND',
    ({ conversation, name, secret }) => ({
      method: 'POST',
      path: `${conversation}/runs`,
      body: { actionResponses: [{ id: name, response: secret }] },
    }),
  ],
  [
    'REVISION_MISMATCH',
    ({ conversation, action, secret }) => ({
      method: 'POST',
      path: `${conversation}/runs`,
      body: { actionResponses: [{ id: action, response: secret }], ifLastSeq: 1 },
    }),
  ],
  [
    'EVENT_ID_INVALID',
    ({ conversation, name, secret }) => ({
      path: `${conversation}/events`,
      headers: { accept: 'text/event-stream', 'last-event-id': name, cookie: `a=${secret}` },
    }),
  ],
  [
    'EVENT_ID_AHEAD',
    ({ conversation, secret }) => ({
      path: `${conversation}/events`,
      headers: { accept: 'text/event-stream', 'last-event-id': '99999', cookie: `a=${secret}` },
    }),
  ],
  ['UNAUTHENTICATED', ({ secret }) => ({ path: '/api/v1/agents', headers: { authorization: `Bearer ${secret}` } })],
  [
    'UNAUTHENTICATED',
    ({ secret }) => ({ path: '/api/v1/agents', headers: { authorization: '', cookie: `witan_4747=${secret}` } }),
  ],
  ['UNAUTHENTICATED', ({ secret }) => ({ path: `/?token=${secret}`, headers: { authorization: '' } })],
  [
    'HOST_NOT_ALLOWED',
    ({ secret }) => ({
      path: `/api/v1/agents?token=${secret}`,
      headers: { host: 'evil.test', cookie: `witan_4747=${secret}` },
    }),
  ],
  [
    'HOST_NOT_ALLOWED',
    ({ secret }) => ({
      method: 'POST',
      path: '/api/v1/conversations',
      body: { prompt: secret },
      headers: { origin: 'http://evil.test' },
    }),
  ],
  [
    'AGENT_INVALID',
    ({ secret }) => ({
      method: 'PUT',
      path: '/api/v1/agents/bad',
      body: { model: 'play/model', instructions: { secret } },
    }),
  ],
  [
    'MODEL_UNKNOWN',
    ({ secret }) => ({ method: 'PUT', path: '/api/v1/agents/bad', body: { model: 'no/model', instructions: secret } }),
  ],
  [
    'AGENT_REF_UNKNOWN',
    ({ secret }) => ({
      method: 'PUT',
      path: '/api/v1/agents/bad',
      body: { model: 'play/model', instructions: secret, subAgents: [{ agent: 'nobody' }] },
    }),
  ],
  [
    'IDEMPOTENCY_KEY_REUSED',
    ({ name, secret }) => ({
      method: 'POST',
      path: '/api/v1/conversations',
      body: { agent: 'asker', parameters: { key: secret } },
      headers: { 'idempotency-key': name },
    }),
  ],
]

/** How the secret is written; each way is a value of its own. */
const spellings: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'in upper case': (text) => text.toUpperCase(),
  'amid other words': (text) => `see-${text}-here`,
}

/** Plays every request in every spelling against one server that knows a token and a living conversation. */
export async function playHttpErrors(ledger: Ledger): Promise<void> {
  const lines: string[] = []
  const { runtime } = createStage({
    agents: [
      {
        id: 'asker',
        parameters: [
          { name: 'key', sendToModel: false },
          { name: 'count', type: 'number', sendToModel: false },
        ],
        actions: [{ name: 'Ask' }],
      },
    ],
    plays: { asker: (_request, turn) => (turn === 0 ? call('Ask') : 'done') },
  })
  const auth = createAuth('local', () => 4747)
  const app = createApp({
    runtime,
    auth,
    hosts: { port: () => 4747, allowed: [] },
    log: createLog('debug', (line) => lines.push(line)),
    stop: { streams: new AbortController().signal, waits: new AbortController().signal },
    studio: new URL('./nothing-built/', import.meta.url),
  })
  const fetch = async (shape: Shape): Promise<Response> => app.fetch(requestOf(shape, auth.token ?? ''))
  await fetch({
    method: 'POST',
    path: '/api/v1/conversations',
    body: { agent: 'asker' },
    headers: { 'idempotency-key': 'known' },
  })
  let number = 0
  for (const [code, made] of requests)
    for (const [spelling, put] of Object.entries(spellings)) {
      const id = `g${++number}`
      ledger.begin(`${code}, request ${number}, the value ${spelling}`)
      const opened = await runtime.start({ agent: 'asker', prompt: canary(id), parameters: { key: canary(id) } })
      const { interruptions } = (await opened.run?.result) ?? { interruptions: [] }
      const name = code === 'IDEMPOTENCY_KEY_REUSED' ? 'known' : `name-${id}`
      const ids = { action: interruptions[0]?.id ?? '', run: opened.run?.runId ?? '', name }
      const conversation = `/api/v1/conversations/${opened.id.replace('/', ':')}`
      lines.length = 0
      const response = await fetch(made({ secret: put(canary(id)), conversation, ...ids }))
      const text = await response.text()
      const told = readProblem(text)
      ledger.claim(`it gave ${response.status} ${told}`, told === code)
      const scan = scannerOf([id])
      ledger.control('problem', told !== '')
      ledger.deny('leak', 'HTTP problem', scan(text))
      ledger.deny('leak', 'HTTP headers', scan(textOf(Object.fromEntries(response.headers))))
      ledger.deny('leak', 'server log', scan(lines.join('\n')))
      ledger.deny('leak', 'stack', /\bat \S+ \(|node:internal|\.ts:\d+/.test(text) ? ['a stack'] : [])
    }
  await runtime.close()
}

function requestOf({ method = 'GET', path, body, raw, headers = {} }: Shape, token: string): Request {
  const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const all = {
    authorization: `Bearer ${token}`,
    ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
  }
  return new Request(base + path, { method, headers: all, ...(sent === undefined ? {} : { body: sent }) })
}

function readProblem(text: string): string {
  try {
    return String((JSON.parse(text) as { code?: unknown }).code ?? '')
  } catch {
    return ''
  }
}
