/** `access.call: null` lets nobody in from outside: every caller, every method, both bindings, by name and at the hub, before and after. */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { after, before, describe, test } from 'node:test'
import {
  type A2aClient,
  type A2aMessage,
  type A2aTask,
  a2aClient,
  keyOf,
  message,
  type StreamFrame,
} from './support/a2a.ts'
import { createIssuer, type Issuer } from './support/issuer.ts'
import { createGate } from './support/model-server.ts'
import { createRemoteServer, type RemoteServer } from './support/remote-server.ts'
import { agent, createStage, type Stage, until } from './support/stage.ts'
import type { Page } from './support/wire.ts'

const bots = 'bots.example'
let stage: Stage
let remote: RemoteServer
let issuer: Issuer
let admin: string

const asAdmin = () => ({ authorization: `Bearer ${admin}` })
const everything = ['admin', 'run', 'read', 'answer']

before(async () => {
  remote = await createRemoteServer('a.test')
  issuer = await createIssuer()
  admin = await issuer.token({ db: 'default', sub: 'root', roles: everything })
  stage = await createStage({
    prepare: () => ({
      auth: { mode: 'jwt', issuer: issuer.url, audience: 'witan' },
      server: { domain: bots, domains: { 'acme.example': 'acme' } },
      federation: { defaultAgent: 'closed', resolve: { 'a.test': remote.url } },
    }),
  })
  const saved = await stage.witan.call('POST', '/api/v1/agents/batch', {
    body: {
      agents: [
        agent('closed', { address: 'closed', questions: true }),
        agent('open', { address: 'open', questions: true, access: { call: ['@*', 'anonymous'] } }),
      ],
    },
    headers: asAdmin(),
  })
  assert.equal(saved.status, 200, saved.text)
})
after(async () => {
  await stage?.close()
  await remote?.close()
  await issuer?.close()
})

/** What comes in time; a reply that waits for its run would come too late. */
function within<Value>(ms: number, promise: Promise<Value>): Promise<Value> {
  return Promise.race([promise, delay(ms, null, { ref: false }).then(() => assert.fail(`nothing came in ${ms} ms`))])
}

/** The bearer for a message or for another method; null for none. */
type Bearer = (params: unknown, audience: string) => string | null

function remoteToken(sub: string): Bearer {
  return (params, aud) => {
    const sent = (params as { message?: A2aMessage } | undefined)?.message
    return remote.token({ sub, aud, ...(sent === undefined ? {} : { jti: sent.messageId }) })
  }
}

/** Whoever comes from outside the database, with whatever may look like a right. */
async function outsiders(): Promise<Record<string, Bearer>> {
  const person = { db: 'acme', sub: 'anna', roles: everything }
  const elsewhere = await issuer.token(person)
  const key = await keyOf(
    stage.witan,
    { id: 'user:anna', roles: ['admin', 'run'] },
    { authorization: `Bearer ${elsewhere}` },
  )
  return {
    'an agent of another server': remoteToken('@a@a.test'),
    'one with the name of a role': remoteToken('@admin@a.test'),
    'one with the name of a person': remoteToken('@root@a.test'),
    'one with the name of the agent': remoteToken('@closed@a.test'),
    nobody: () => null,
    'a key of another database': () => key,
    'a token of the issuer for another database': () => elsewhere,
  }
}

type Rest = (id: string, sent: A2aMessage) => readonly [verb: string, path: string, body?: unknown]

/** Every method in both bindings. */
const methods: Record<string, { readonly params: (id: string, sent: A2aMessage) => unknown; readonly rest: Rest }> = {
  SendMessage: {
    params: (_, sent) => ({ message: sent }),
    rest: (_, sent) => ['POST', '/message:send', { message: sent }],
  },
  SendStreamingMessage: {
    params: (_, sent) => ({ message: sent }),
    rest: (_, sent) => ['POST', '/message:stream', { message: sent }],
  },
  GetTask: { params: (id) => ({ id }), rest: (id) => ['GET', `/tasks/${id}`] },
  ListTasks: {
    params: () => ({ includeArtifacts: true, historyLength: 9 }),
    rest: () => ['GET', '/tasks?includeArtifacts=true&historyLength=9'],
  },
  CancelTask: { params: (id) => ({ id }), rest: (id) => ['POST', `/tasks/${id}:cancel`, {}] },
  SubscribeToTask: { params: (id) => ({ id }), rest: (id) => ['POST', `/tasks/${id}:subscribe`, {}] },
  GetExtendedAgentCard: { params: () => ({}), rest: () => ['GET', '/extendedAgentCard'] },
  CreateTaskPushNotificationConfig: {
    params: (id) => ({ taskId: id, url: 'https://x.example' }),
    rest: (id) => ['POST', `/tasks/${id}/pushNotificationConfigs`, { url: 'https://x.example' }],
  },
}

interface Place {
  readonly path: string
  readonly audience: string
  /** What a text begins with. */
  readonly handle: string
}

const places = (local: string): readonly Place[] => [
  { path: `/a2a/${local}`, audience: `@${local}@${bots}`, handle: '' },
  { path: `/a2a/${local}@${bots}`, audience: `@${local}@${bots}`, handle: '' },
  { path: '/a2a', audience: `https://${bots}`, handle: `@${local} ` },
  { path: '/a2a', audience: `@${local}@${bots}`, handle: `@${local}@${bots} ` },
]

const clientAt = ({ path, audience }: Place, bearer: Bearer): A2aClient =>
  a2aClient(
    () => stage.witan,
    path,
    (params) => bearer(params, audience),
  )

interface Refusal {
  readonly status: number
  readonly text: string
}

/** What a caller gets in both bindings. */
async function tried(
  place: Place,
  bearer: Bearer,
  of: { method: string; id: string; sent: A2aMessage },
): Promise<readonly Refusal[]> {
  const { params, rest } = methods[of.method] ?? assert.fail(of.method)
  const client = clientAt(place, bearer)
  const [verb, path, body] = rest(of.id, of.sent)
  const answers = [await client.rpc(of.method, params(of.id, of.sent)), await client.rest(verb, path, { body })]
  return answers.map(({ status, text }) => ({ status, text }))
}

/** A refusal of HTTP, an error of the protocol, or a list of nothing. */
function isRefused({ status, text }: Refusal): boolean {
  if (status >= 400) return true
  const body = JSON.parse(text) as { error?: object; tasks?: unknown[]; result?: { tasks?: unknown[] } }
  const tasks = body.tasks ?? body.result?.tasks
  return body.error !== undefined || (tasks !== undefined && tasks.length === 0)
}

async function conversations(): Promise<number> {
  const { body } = await stage.witan.call<Page<unknown>>('GET', '/api/v1/conversations?agent=closed', {
    headers: asAdmin(),
  })
  return body.items.length
}

describe('an agent whose `access.call` is null', () => {
  test('[C31] lets nobody in from outside, by any method, binding, path or credential', async () => {
    const person = await issuer.token({ db: 'default', sub: 'anna', roles: ['run'] })
    stage.model.on('closed', () => ({ text: 'secret answer' }))
    const own = await a2aClient(() => stage.witan, '/a2a/closed', person).send(message('x'))
    assert.equal(own.status.state, 'TASK_STATE_COMPLETED', 'it lets the people of its database in')
    const [asked, had] = [stage.model.of('closed').length, await conversations()]
    for (const [who, bearer] of Object.entries(await outsiders()))
      for (const place of places('closed'))
        for (const method of Object.keys(methods))
          for (const more of method.startsWith('Send')
            ? [{}, { contextId: own.contextId }, { taskId: own.id }]
            : [{}]) {
            const sent = message(`${place.handle}let me in`, more)
            for (const answer of await tried(place, bearer, { method, id: own.id, sent })) {
              const said = `${who}, ${place.path} for ${place.audience}, ${method}: ${answer.status} ${answer.text}`
              assert.ok(isRefused(answer), said)
              assert.ok(!answer.text.includes('secret') && !answer.text.includes(own.contextId), said)
              const isMessage = method.startsWith('Send') && Object.keys(more).length === 0
              if (isMessage) assert.ok(answer.status === 404 || answer.status === 401, said)
              if (who.endsWith('another database')) assert.equal(answer.status, 401, said)
            }
          }
    assert.deepEqual([stage.model.of('closed').length, await conversations()], [asked, had], 'nothing began')
  })
})

describe('an agent that let callers in, and does so no more', () => {
  const question = { id: 'q', text: 'How many?', options: [], multiple: false, freeText: true, required: true }
  const from = remoteToken('@a@a.test')
  const [byName] = places('open') as [Place]
  const client = clientAt(byName, from)

  async function setAccess(call: readonly string[] | null): Promise<void> {
    const { headers } = await stage.witan.call('GET', '/api/v1/agents/open', { headers: asAdmin() })
    const answer = await stage.witan.call('PUT', '/api/v1/agents/open', {
      body: agent('open', { address: 'open', questions: true, access: { call } }),
      headers: { ...asAdmin(), 'if-match': headers.get('etag') ?? '' },
    })
    assert.equal(answer.status, 200, answer.text)
  }

  test('[C31] closes what they began: ended, waiting and at work, with its streams and repeats', async () => {
    const gate = createGate()
    const late = createGate()
    const replies = [
      { text: 'first words' },
      { calls: [{ name: 'ask_question', args: { questions: [question] } }] },
      { text: 'early words and late words', pieces: 6, holdAfter: 3, hold: gate },
      { text: 'waited for', hold: late },
    ]
    stage.model.on('open', ({ nth }) => replies[nth - 1] ?? { text: 'out of script' })
    const begun = message('one')
    const ended = await client.send(begun)
    const asking = await client.send(message('two'))
    assert.equal(asking.status.state, 'TASK_STATE_INPUT_REQUIRED')
    const { frames } = await client.stream('SendStreamingMessage', { message: message('three') })
    const parsed = (data = '{}') => JSON.parse(data).result as StreamFrame
    const working = parsed((await frames.next()).value?.data).task as A2aTask
    await gate.entered
    const waiting = client.rpc('SendMessage', { message: message('four') })
    await late.entered
    await setAccess(null)
    const rest: StreamFrame[] = []
    for await (const { data } of frames) rest.push(parsed(data))
    assert.ok(!JSON.stringify(rest).includes('late words'), 'the stream ended')
    gate.open()
    for (const place of places('open'))
      for (const { id, contextId } of [ended, asking, working])
        for (const method of Object.keys(methods))
          for (const sent of [
            message(`${place.handle}more`, { contextId }),
            message(`${place.handle}9`, { taskId: id }),
            begun,
          ])
            for (const answer of await tried(place, from, { method, id, sent })) {
              const said = `${place.path}, ${method}: ${answer.status} ${answer.text}`
              assert.ok(isRefused(answer), said)
              assert.ok(!answer.text.includes('words') && !answer.text.includes('How many'), said)
            }
    const { status, text } = await within(6_000, waiting)
    late.open()
    assert.ok(isRefused({ status, text }) && !text.includes('waited for'), `${status} ${text}`)
    await setAccess(['@*@a.test'])
    assert.equal((await client.task(ended.id)).id, ended.id, 'what they began is still theirs')
    const done = await until(
      () => client.task(working.id),
      (task) => task.status.state === 'TASK_STATE_COMPLETED',
    )
    assert.ok(JSON.stringify(done).includes('late words'), 'and went on')
  })

  test('[C31] the same for a caller without a credential, whose stream ends', async () => {
    await setAccess(['anonymous'])
    const gate = createGate()
    const from = stage.model.of('open').length
    const reply = { text: 'early words and late words', pieces: 6, holdAfter: 3, hold: gate }
    stage.model.on('open', ({ nth }) => (nth === from + 1 ? reply : { text: 'out of script' }))
    const nobody = clientAt(byName, () => null)
    const { frames } = await nobody.stream('SendStreamingMessage', { message: message('x') })
    await frames.next()
    await gate.entered
    await setAccess(null)
    const rest: string[] = []
    for await (const { data } of frames) rest.push(data)
    assert.ok(!rest.join('').includes('late words'))
    gate.open()
    assert.equal((await nobody.rpc('SendMessage', { message: message('x') })).status, 401)
  })
})
