/**
 * What a model's server said, its address among it, is for the roles `admin` and `read`. Everybody else reads the code and a title, by
 * every route and every stream, also where the runtime writes of somebody's failure in an answer, a message or a result.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRuntime, defineTool, ModelCallError, type Principal, type Runtime } from '@witan/core'
import { call, type Rule, scriptedModel, systemText } from '@witan/core/testing'
import type { DatabaseId } from '@witan/protocol'
import { routeAccess } from '@witan/protocol/access'
import { createApp, createAuth, createLog } from '@witan/server'
import { z } from 'zod'
import { agent, cast, playerOf, settle, until } from '../support/stage.ts'

const words = 'The model server 127.0.0.1:39665 answered 400: secret text'
const secret = /39665|secret text/
const broken = (): never => {
  throw new ModelCallError(words, { retryable: false })
}
const ask = defineTool({
  name: 'ask_broken',
  description: 'Asks.',
  parameters: z.object({}),
  execute: async (_, { agents: { run } }) => (await run('free', 'go')).text,
})
const rest = defineTool({
  name: 'rest',
  description: 'Rests.',
  parameters: z.object({}),
  execute: async () => {
    await settle(60)
    return 'rested'
  },
})
const stuckReply = { outputSchema: { type: 'object', required: ['a'], properties: { a: { type: 'number' } } } }
const quotes = {
  name: 'quotes',
  messages: [{ name: 'ask', from: 'initiator', schema: { type: 'object' }, reply: null }],
}
const workflow = (id: string, kind: 'parallel' | 'sequence', ...steps: string[]) => ({
  id,
  workflow: { kind, agents: steps },
})

const agents = [
  agent('broken'),
  agent('fine'),
  { ...agent('free'), parents: [] },
  agent('off-form', stuckReply as never),
  workflow('panel', 'parallel', 'fine', 'broken'),
  workflow('lost-panel', 'parallel', 'off-form', 'broken'),
  workflow('flow', 'sequence', 'panel', 'fine'),
  workflow('broken-flow', 'sequence', 'fine', 'broken'),
  agent('lead', { subAgents: [{ agent: 'broken' }] }),
  agent('over', { subAgents: [{ agent: 'broken-flow' }, { agent: 'lost-panel' }] }),
  agent('mid', { subAgents: [{ agent: 'broken' }] }),
  agent('wrapper', { subAgents: [{ agent: 'mid', style: 'agentTool' }] }),
  agent('boss', { subAgents: [{ agent: 'broken', blocking: 'never' }] }),
  agent('desk', { transfers: [{ agent: 'broken', returnsTo: 'caller' }] }),
  agent('waiter', { actions: [{ name: 'Look' }] }),
  agent('host', { subAgents: [{ agent: 'waiter', blocking: 'never' }] }),
  agent('boss-of-tool', { subAgents: [{ agent: 'mid', style: 'agentTool', blocking: 'never' }] }),
  agent('boss-of-all', { subAgents: [{ agent: 'mid', collect: 'all', blocking: 'never' }] } as never),
  agent('boss-at-work', { subAgents: [{ agent: 'broken', blocking: 'never' }], tools: ['rest'] }),
  agent('above', { subAgents: [{ agent: 'boss-at-work' }] }),
  agent('boss-of-flow', { subAgents: [{ agent: 'lost-panel', blocking: 'never' }] }),
  agent('relay', { subAgents: [{ agent: 'broken', blocking: 'never' }], transfers: [{ agent: 'fine' }] }),
  agent('slow', { tools: ['rest'] }),
  agent('doomed', { subAgents: [{ agent: 'slow', blocking: 'never' }] }),
  agent('starter', { subAgents: [{ agent: 'slow', blocking: 'never' }] }),
  workflow('flow-of-tasks', 'sequence', 'starter', 'fine'),
  agent('curious', { subAgents: [{ agent: 'waiter', blocking: 'never' }] }),
  agent('desk-of-flow', { transfers: [{ agent: 'broken-flow', returnsTo: 'caller' }] }),
  agent('hall', { subAgents: [{ agent: 'desk' }] }),
  agent('desk-in-turn', { transfers: [{ agent: 'desk', returnsTo: 'caller' }] }),
  agent('caller', { tools: ['ask_broken'] }),
  agent('buyer', { speaks: [{ protocol: 'quotes', role: 'initiator', peers: ['shop'] }] }),
  agent('shop', { speaks: [{ protocol: 'quotes', role: 'responder' }] }),
  { ...agent('spare'), model: 'broken/model', fallbacks: ['play/model'] },
  agent('long', {
    history: { trim: { kind: 'summarize', maxTokensBefore: 40, beginningPrompt: 'You condense.' } } as never,
  }),
]

/** Calls a tool once, and then says that it is done. */
const once =
  (name: string, args: object = {}): Rule =>
  (_, turn) =>
    turn === 0 ? call(name, args as never) : 'done'
/** The same, but only in the first run. */
const first =
  (name: string, args: object = {}, after: Rule = () => 'done'): Rule =>
  (request, turn) =>
    request.messages.some(({ role }) => role === 'assistant') ? after(request, turn) : call(name, args as never)
const plays: Readonly<Record<string, Rule>> = {
  broken,
  free: broken,
  shop: broken,
  fine: () => 'fine',
  'off-form': () => 'no object',
  lead: once('broken', { message: 'go' }),
  over: (_, turn) => [call('broken-flow', { message: 'go' }), call('lost-panel', { message: 'go' })][turn] ?? 'done',
  mid: once('broken', { message: 'go' }),
  wrapper: once('mid', { request: 'go' }),
  boss: ({ messages }, turn) => {
    const [, task] = /"task_id":"([^"]+)"/.exec(messages.map(({ content }) => content).join('\n')) ?? []
    if (turn === 0) return call('broken', { message: 'go' })
    return turn === 1 ? call('get_background_sub_agent_result', { task_id: task ?? '' }) : 'done'
  },
  'boss-of-tool': first('mid', { request: 'go' }),
  'boss-of-all': first('mid', { message: 'go' }),
  'boss-at-work': (_, turn) => [call('broken', { message: 'go' }), call('rest')][turn] ?? 'done',
  above: once('boss-at-work', { message: 'go' }),
  'boss-of-flow': first('lost-panel', { message: 'go' }),
  relay: first('broken', { message: 'go' }, (_, turn) =>
    turn === 0 ? call('transfer_to_agent', { agent_name: 'fine' }) : 'done',
  ),
  slow: (_, turn) => (turn === 0 ? call('rest') : broken()),
  doomed: first('slow', { message: 'go' }, (_, turn) => (turn === 0 ? 'done' : broken())),
  starter: first('slow', { message: 'go' }),
  curious: ({ messages }, turn) => {
    const [, task] = /"task_id":"([^"]+)"/.exec(messages.map(({ content }) => content).join('\n')) ?? []
    if (turn === 0) return call('waiter', { message: 'go' })
    const ask = { task_id: task ?? '', question: 'So?' }
    return turn === 1 ? call('fetch_sub_agent_progress', ask) : 'done'
  },
  'desk-of-flow': once('transfer_to_agent', { agent_name: 'broken-flow' }),
  hall: once('desk', { message: 'go' }),
  'desk-in-turn': once('transfer_to_agent', { agent_name: 'desk' }),
  desk: once('transfer_to_agent', { agent_name: 'broken' }),
  waiter: (_, turn) => (turn === 0 ? call('Look', {}) : broken()),
  host: once('waiter', { message: 'go' }),
  caller: once('ask_broken'),
  buyer: once('shop_ask'),
  spare: () => 'spared',
  long: () => 'x'.repeat(200),
}

/** What happens in a conversation of its own: its agent, and how many runs it has. */
const happenings: Readonly<Record<string, number>> = {
  ...{
    broken: 1,
    panel: 1,
    'lost-panel': 1,
    flow: 1,
    'broken-flow': 1,
    lead: 1,
    over: 1,
    wrapper: 1,
    boss: 2,
    desk: 1,
  },
  ...{ 'boss-of-tool': 1, 'boss-of-all': 1, above: 1, 'boss-of-flow': 1, relay: 1, doomed: 1, 'flow-of-tasks': 1 },
  ...{ curious: 1, 'desk-of-flow': 1, hall: 1, 'desk-in-turn': 1, caller: 1, buyer: 1, spare: 1, long: 3 },
}

/** Agents whose model decides by the reason: the caller of a task or a delegate, and who gets control back. */
const deciding: readonly string[] = [
  ...['lead', 'wrapper', 'boss', 'boss-of-tool', 'boss-at-work', 'relay', 'doomed', 'desk', 'desk-of-flow', 'curious'],
]
const toldTo = new Set<string>()

const model = scriptedModel([
  (request) => {
    if (secret.test(request.messages.map(({ content }) => content).join('\n'))) toldTo.add(playerOf(request))
    return undefined
  },
  (request) => (systemText(request) === 'You condense.' || playerOf(request) === '' ? broken() : undefined),
  cast(plays),
])

const readers: Readonly<Record<string, readonly [id: string, roles: readonly string[], readsAll: boolean]>> = {
  'who runs it': ['maker', ['run'], false],
  'who takes part': ['guest', [], false],
  'who takes part and answers': ['guest', ['answer'], false],
  'who runs others, and takes part': ['guest', ['run'], false],
  'who reads': ['reader', ['read'], true],
  'who runs it and reads': ['maker', ['run', 'read'], true],
  'an admin': ['admin', ['admin'], true],
}

function serverOf(runtime: Runtime) {
  let caller: Principal = runtime.principal
  const never = new AbortController().signal
  const app = createApp({
    runtime,
    auth: { ...createAuth('none', () => 4747), check: async () => caller },
    hosts: { port: () => 4747, allowed: [], origins: [] },
    log: createLog('error', () => undefined),
    stop: { streams: never, waits: never },
    studio: new URL('./nothing-built/', import.meta.url),
  })
  return async (as: Principal, route: string, more: { readonly body?: unknown; readonly stream?: boolean } = {}) => {
    const [method = '', path = ''] = route.split(' ')
    caller = as
    const type = more.body === undefined ? {} : { 'content-type': 'application/json' }
    const headers = { accept: more.stream === true ? 'text/event-stream' : 'application/json', ...type }
    const stop = new AbortController()
    const init = {
      method,
      headers,
      signal: stop.signal,
      ...(more.body === undefined ? {} : { body: JSON.stringify(more.body) }),
    }
    const response = await app.fetch(new Request(`http://127.0.0.1:4747${path}`, init as RequestInit))
    const isFollowed = more.stream === true && method === 'GET'
    const text = isFollowed ? await beginningOf(response, stop) : await response.text()
    return { status: response.status, text }
  }
}

/** What a stream without an end gives at once. */
async function beginningOf(response: Response, stop: AbortController): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (let quiet = 0; quiet < 3; ) {
    const read = await Promise.race([reader?.read(), settle(30).then(() => null)])
    if (read === null) quiet += 1
    else if (read === undefined || read.done) break
    else text += read.value
  }
  stop.abort()
  return text
}

interface Ids {
  readonly conversation: string
  readonly run: string
  readonly task: string
  readonly documents: readonly string[]
}

/** The requests of a reader for what has happened, by route. */
function doors({
  conversation,
  run,
  task,
  documents,
}: Ids): readonly (readonly [route: string, path: string, stream?: boolean])[] {
  const own = `/api/v1/conversations/${conversation.replace('/', ':')}`
  const from = 'GET /api/v1/conversations/{id}'
  return [
    ['GET /api/v1/conversations', '/api/v1/conversations'],
    [from, own],
    [`${from}/events`, `${own}/events?verbose=true&limit=1000`],
    [`${from}/events`, `${own}/events`],
    [`${from}/events`, `${own}/events?verbose=true`, true],
    [`${from}/runs`, `${own}/runs`],
    ['GET /api/v1/runs/{id}', `/api/v1/runs/${run}`],
    ['GET /api/v1/runs/{id}/exchanges', `/api/v1/runs/${run}/exchanges`],
    ['GET /api/v1/runs/{id}/diagram', `/api/v1/runs/${run}/diagram`],
    ['GET /api/v1/runs/{id}/diagram', `/api/v1/runs/${run}/diagram?format=text`],
    ['GET /api/v1/tasks', '/api/v1/tasks'],
    ['GET /api/v1/tasks/{id}', `/api/v1/tasks/${task}`],
    ['GET /api/v1/interruptions', '/api/v1/interruptions'],
    ...documents.flatMap((path) => {
      const at = `/api/v1/documents/${path.replace('/', ':')}`
      return ['simple', 'full'].map((detail) => ['GET /api/v1/documents/{path}', `${at}?detail=${detail}`] as const)
    }),
  ]
}

/** Routes of a conversation whose answers hold no words of a run: names, files and confirmations, or what `admin` alone may ask for. */
const silent: ReadonlySet<string> = new Set([
  ...['participants', 'artifacts', 'files/{digest}', 'export'].map((part) => `GET /api/v1/conversations/{id}/${part}`),
  ...[
    'GET /api/v1/artifacts/{id}',
    'GET /api/v1/artifacts/{id}/content',
    'GET /api/v1/principal',
    'GET /api/v1/openapi.json',
  ],
  ...['GET /api/v1/agents', 'GET /api/v1/agents/{id}', 'GET /healthz', 'GET /readyz'],
  ...['', '/conversations', '/{id}', '/{id}/revisions'].map((part) => `GET /api/v1/memory${part}`),
  ...['webfinger', 'agent-card/{local}', 'agent-card.json', 'jwks.json', 'did.json'].map(
    (name) => `GET /.well-known/${name}`,
  ),
  'GET /a2a/{local}/.well-known/agent-card.json',
])

async function played() {
  const runtime = createRuntime({
    models: { 'play/model': model, 'broken/model': scriptedModel([broken], { id: 'broken/model' }) },
    tools: [ask, rest],
    agents: agents as never,
    protocols: [quotes as never],
    retry: { tries: 1 },
    report: () => undefined,
  })
  const request = serverOf(runtime)
  const as = (id: string, roles: readonly string[]): Principal => ({
    database: 'default' as DatabaseId,
    id: `user:${id}`,
    roles,
    address: null,
  })
  const maker = as('maker', ['run'])
  const direct = new Map<string, string>()
  const found = new Map<string, Ids>()
  for (const [name, runs] of Object.entries(happenings)) {
    const id = `chats/${name}`
    const start = { agent: name, id, prompt: 'x'.repeat(100), users: [{ id: 'guest' }] }
    direct.set(
      `${name}: POST /api/v1/conversations`,
      (await request(maker, 'POST /api/v1/conversations', { body: start })).text,
    )
    for (let more = 1; more < runs; more += 1)
      for (const stream of [true, false]) {
        const sent = await request(maker, `POST /api/v1/conversations/chats:${name}/runs`, {
          body: { prompt: 'more' },
          stream,
        })
        direct.set(`${name}: POST /api/v1/conversations/{id}/runs, ${stream ? 'a stream' : 'JSON'} ${more}`, sent.text)
      }
    await until(async () =>
      (await runtime.tasks.list({ live: true })).items.every(({ status }) => status === 'waiting'),
    )
    await settle()
    const { runs: all, tasks } = await runtime.getConversation(id)
    const calls = (await runtime.readEvents(id, { verbose: true, limit: 1_000 })).events
    const documents = new Set(calls.map((event) => (event as { document?: string }).document ?? id))
    found.set(name, {
      conversation: id,
      run: all[0]?.runId ?? '',
      task: tasks[0]?.taskId ?? 'c_nothing',
      documents: [id, ...documents],
    })
  }
  return { runtime, request, as, direct, found }
}

describe('[D17] a provider’s words', async () => {
  const { runtime, request, as, direct, found } = await played()

  test('every route that may show a run has its door here', () => {
    const own = new Set(doors({ conversation: '', run: '', task: '', documents: [''] }).map(([route]) => route))
    const reading = routeAccess
      .filter(
        ({ method, reach }) => method === 'GET' && (typeof reach === 'string' || reach.some((one) => one !== 'read')),
      )
      .map(({ method, path }) => `${method} ${path}`)
    assert.deepEqual(
      reading.filter((route) => !own.has(route) && !silent.has(route)),
      [],
    )
  })

  for (const [name, answer] of direct)
    test(`${name} answers without them`, () => {
      assert.doesNotMatch(answer, secret)
    })

  for (const name of deciding)
    test(`the model of ${name} reads them`, () => {
      assert.ok(toldTo.has(name), [...toldTo].join())
    })

  for (const [name, ids] of found)
    for (const [who, [id, roles, readsAll]] of Object.entries(readers))
      test(`${name}: ${who} ${readsAll ? 'finds them' : 'reads none of them'}`, async () => {
        let all = ''
        for (const [route, path, stream = false] of doors(ids)) {
          const { status, text } = await request(as(id, roles), `GET ${path}`, { stream })
          if (!readsAll) assert.doesNotMatch(text, secret, `${route}: ${path}`)
          if (status === 200) all += text
        }
        assert.equal(secret.test(all), readsAll)
      })

  test('asked for its progress, a task whose model fails says so without them', async () => {
    const start = { agent: 'host', id: 'chats/host', prompt: 'Go.' }
    await request(as('maker', ['run']), 'POST /api/v1/conversations', { body: start })
    await until(async () => (await runtime.tasks.list({ live: true })).items.some(({ status }) => status === 'waiting'))
    const [{ taskId: task } = assert.fail()] = (await runtime.getConversation('chats/host')).tasks
    for (const [id, roles, reads] of [
      ['maker', ['run'], false],
      ['admin', ['admin'], true],
    ] as const) {
      const { text } = await request(as(id, roles), `POST /api/v1/tasks/${task}/progress`, {
        body: { question: 'So?' },
      })
      assert.match(text, /MODEL_CALL_FAILED/)
      assert.equal(secret.test(text), reads)
    }
  })

  test('the end', () => runtime.close())
})
