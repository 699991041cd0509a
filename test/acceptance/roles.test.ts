/** Roles as outside clients meet them, each with a key: what each reads, says, answers and controls, and how the rest is refused. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { type Call, createKeyedStage } from './support/keyed-stage.ts'
import { agent, segment, type Stage, until } from './support/stage.ts'
import type { Conversation, Interruption, Page } from './support/wire.ts'
import type { Answer } from './support/witan.ts'

const names = ['admin', 'maker', 'anna', 'desk', 'audit', 'eve'] as const
type Name = (typeof names)[number]

let stage: Stage
let as: Record<Name, Call>
/** Who has which roles; `anna` has none, and takes part. */
const roles: Record<Exclude<Name, 'admin'>, readonly string[]> = {
  maker: ['run'],
  anna: [],
  desk: ['answer', 'buyer'],
  audit: ['read'],
  eve: ['run', 'staff'],
}

beforeEach(async () => {
  const made = await createKeyedStage(roles)
  stage = made.stage
  as = made.as
})
afterEach(() => stage?.close())

const chat = `/api/v1/conversations/${segment('chats/1')}`
const ask = (user: string, message: string) => ({ name: 'ask_user', args: { user, message } })

async function save(...agents: ReturnType<typeof agent>[]): Promise<void> {
  const saved = await as.admin('POST', '/api/v1/agents/batch', { body: { agents } })
  assert.equal(saved.status, 200, saved.text)
}

/** A refusal without its request, and without the words that the request itself brought. */
function bare({ status, text }: Answer<unknown>, ...own: string[]): string {
  const problem = text.replace(/"requestId":"[^"]+"/, '')
  return `${status} ${own.reduce((rest, word) => rest.replaceAll(word, '*'), problem)}`
}

/** Refused, and told like the same question about what does not exist. */
async function assertMissing(call: Call, [method, path, body]: readonly [string, string, object?]): Promise<void> {
  const sent = body === undefined ? {} : { body }
  const told = await call(method, path, sent)
  const other = path.replace('chats%2F1', 'chats%2F9').replace(/\b[cia]_\w+/, 'c_nothing')
  const nothing = await call(method, other, sent)
  const words = (of: string) => [
    of,
    decodeURIComponent(of),
    ...(of.match(/chats%2F\d/g) ?? []).map(decodeURIComponent),
    ...(of.match(/\b[cia]_\w+/g) ?? []),
  ]
  assert.equal(told.status, 404, `${method} ${path}: ${told.text}`)
  assert.equal(bare(told, ...words(path)), bare(nothing, ...words(other)), `${method} ${path}`)
}

describe('a conversation with a question and an action', () => {
  let runId = ''
  let open: Interruption[] = []
  const secret = 'cny-hidden-77'

  beforeEach(async () => {
    await save(
      agent('root', {
        parameters: [{ name: 'account', sendToModel: false }],
        actions: [{ name: 'Pay', parametersSample: { amount: 1 } }],
        users: [{ id: 'anna' }, { role: 'buyer' }],
      }),
    )
    const calls = [ask('anna', 'Ten?'), ask('role:buyer', 'Which?'), { name: 'Pay', args: { amount: 3 } }]
    stage.model.script('root', { calls }, { text: 'Bought.' })
    const body = { agent: 'root', id: 'chats/1', users: ['anna'], parameters: { account: secret }, prompt: 'Buy.' }
    const started = await as.maker<{ run: { runId: string; status: string } }>('POST', '/api/v1/conversations', {
      body,
    })
    assert.equal(started.status, 201, started.text)
    assert.equal(started.body.run.status, 'waiting')
    runId = started.body.run.runId
    open = (await as.admin<Page<Interruption>>('GET', '/api/v1/interruptions')).body.items
    assert.deepEqual(open.map(({ addressee }) => addressee).sort(), ['anna', null, 'role:buyer'].sort())
  })

  const reads = (): readonly string[] => [
    chat,
    `${chat}/runs`,
    `${chat}/participants`,
    `${chat}/artifacts`,
    `${chat}/events?verbose=true`,
    '/api/v1/documents/chats%2F1',
    `/api/v1/runs/${runId}`,
    `/api/v1/runs/${runId}/exchanges`,
    `/api/v1/runs/${runId}/diagram`,
  ]

  test('[D17] [R11] its creator, who takes part, a reader and an admin read it; for others it is missing, byte for byte', async () => {
    for (const path of reads()) {
      for (const name of ['admin', 'maker', 'anna', 'audit'] as const)
        assert.equal((await as[name]('GET', path)).status, 200, `${path} for ${name}`)
      for (const name of ['desk', 'eve'] as const) await assertMissing(as[name], ['GET', path])
    }
    for (const [name, count] of [
      ['admin', 1],
      ['maker', 1],
      ['anna', 1],
      ['audit', 1],
      ['eve', 0],
    ] as const)
      assert.equal((await as[name]<Page<unknown>>('GET', '/api/v1/conversations')).body.items.length, count, name)
  })

  test('[D17] its creator and an admin control it, and nobody else', async () => {
    const acts = (): readonly (readonly [string, string, object?])[] => [
      ['POST', `${chat}/fork`, { seq: 1 }],
      ['POST', `${chat}/participants`, { id: 'bob' }],
      ['POST', `/api/v1/runs/${runId}/cancel`, {}],
      ['DELETE', chat],
      ['POST', `${chat}/runs`, { prompt: 'x', onActive: 'interrupt' }],
      ['POST', `${chat}/runs`, { prompt: 'x', cancelPendingActions: true }],
    ]
    for (const act of acts())
      for (const name of ['anna', 'desk', 'audit', 'eve'] as const) await assertMissing(as[name], act)
    assert.equal((await as.admin<Conversation>('GET', chat)).body.status, 'waiting')
    assert.equal((await as.maker('POST', `${chat}/participants`, { body: { id: 'bob' } })).status, 201)
    assert.equal((await as.maker('POST', `/api/v1/runs/${runId}/cancel`, { body: {} })).status, 202)
    await until(
      () => as.maker<Conversation>('GET', chat),
      ({ body }) => body.status === 'idle',
    )
    assert.equal((await as.admin('DELETE', chat)).status, 204)
  })

  test('[D11] [D17] each lists and answers what is theirs, and bound values are for those who answer', async () => {
    const listed = async (name: Name) => {
      const { body, text } = await as[name]<Page<Interruption>>('GET', '/api/v1/interruptions')
      return [body.items.map(({ addressee }) => addressee).sort(), text.includes(secret)]
    }
    const all = ['anna', null, 'role:buyer'].sort()
    assert.deepEqual(await listed('admin'), [all, true])
    assert.deepEqual(await listed('maker'), [all, true])
    assert.deepEqual(await listed('anna'), [all, false])
    assert.deepEqual(await listed('audit'), [all, false])
    assert.deepEqual(await listed('desk'), [[null, 'role:buyer'].sort(), true])
    assert.deepEqual(await listed('eve'), [[], false])
    for (const path of reads())
      for (const name of ['anna', 'audit'] as const)
        assert.equal((await as[name]('GET', path)).text.includes(secret), false, `${path} for ${name}`)

    const answer = (name: Name, addressee: string | null, value: unknown) => {
      const one = open.find((asked) => asked.addressee === addressee)
      return [as[name], ['POST', `/api/v1/interruptions/${one?.id}/answer`, { answer: value }]] as const
    }
    for (const [name, addressee] of [
      ...(['maker', 'audit', 'eve', 'desk'] as const).map((one) => [one, 'anna'] as const),
      ...(['maker', 'audit', 'eve', 'anna'] as const).map((one) => [one, 'role:buyer'] as const),
      ...(['audit', 'eve', 'anna'] as const).map((one) => [one, null] as const),
    ])
      await assertMissing(...answer(name, addressee, 'mine'))
    for (const [name, addressee] of [
      ['anna', 'anna'],
      ['desk', 'role:buyer'],
      ['maker', null],
    ] as const) {
      const [call, [method, path, body]] = answer(name, addressee, 'yes')
      assert.equal((await call(method, path, { body })).status, 200, name)
    }
    const { body } = await until(
      () => as.maker<Conversation>('GET', chat),
      (read) => read.body.status === 'idle',
    )
    assert.equal(body.status, 'idle')
  })

  test('[D17] who takes part speaks there as themselves without a role, and reads no more once they have left', async () => {
    await as.maker('POST', `/api/v1/runs/${runId}/cancel`, { body: {} })
    await until(
      () => as.maker<Conversation>('GET', chat),
      ({ body }) => body.status === 'idle',
    )
    const said = await as.anna<{ text: string }>('POST', `${chat}/runs`, { body: { prompt: 'It is me.' } })
    assert.deepEqual([said.status, said.body.text], [200, 'Bought.'])
    const { body } = await as.maker<{ events: { type: string; author: string }[] }>(
      'GET',
      `${chat}/events?verbose=true`,
    )
    assert.ok(body.events.some(({ type, author }) => type === 'message' && author === 'anna'))
    for (const name of ['audit', 'eve', 'desk'] as const)
      await assertMissing(as[name], ['POST', `${chat}/runs`, { prompt: 'Me too.' }])
    await assertMissing(as.anna, ['POST', `${chat}/runs`, { prompt: 'I am bob.', author: 'bob' }])
    await assertMissing(as.anna, ['DELETE', `${chat}/participants/bob`])
    assert.equal((await as.anna('DELETE', `${chat}/participants/anna`)).status, 204)
    for (const path of reads()) await assertMissing(as.anna, ['GET', path])
    await assertMissing(as.anna, ['POST', `${chat}/runs`, { prompt: 'Again.' }])
  })
})

test('[D17] [C31] agents: an admin changes them, a reader reads them, a runner sees what it may call, others nothing', async () => {
  const parameters = [{ name: 'city', type: 'string', description: 'Where.' }]
  await save(
    agent('front', { name: 'Front desk', description: 'Helps.', parameters }),
    agent('vault', { access: { call: ['role:staff'] } }),
  )
  type Agent = { id: string; instructions?: string; parameters: unknown }
  const ids = async (name: Name) =>
    (await as[name]<Page<Agent>>('GET', '/api/v1/agents')).body.items.map(({ id }) => id)
  for (const name of ['admin', 'audit', 'eve'] as const) assert.deepEqual(await ids(name), ['front', 'vault'], name)
  assert.deepEqual(await ids('maker'), ['front'])
  const front = await as.maker<Agent>('GET', '/api/v1/agents/front')
  assert.deepEqual(Object.keys(front.body).sort(), ['description', 'id', 'name', 'parameters'])
  assert.match((await as.audit('GET', '/api/v1/agents/front')).text, /You are front\./)
  const other = (told: Answer<unknown>, word: string) => bare(told, word)
  const hidden = await as.maker('GET', '/api/v1/agents/vault')
  assert.equal(hidden.status, 404)
  assert.equal(other(hidden, 'vault'), other(await as.maker('GET', '/api/v1/agents/nobody'), 'nobody'))
  const start = (word: string) => as.maker('POST', '/api/v1/conversations', { body: { agent: word, prompt: 'x' } })
  assert.equal(other(await start('vault'), 'vault'), other(await start('nobody'), 'nobody'))

  const nothing = async (name: Name, ...[method, path, body]: readonly [string, string, object?]) => {
    const told = await as[name](method, path, body === undefined ? {} : { body })
    const missing = await as[name]('GET', '/api/v1/nothing-here')
    assert.equal(told.status, 404, `${method} ${path} for ${name}`)
    assert.equal(bare(told, path), bare(missing, '/api/v1/nothing-here'), `${method} ${path} for ${name}`)
  }
  for (const name of ['maker', 'anna', 'desk', 'audit', 'eve'] as const) {
    await nothing(name, 'PUT', '/api/v1/agents/front', agent('front'))
    await nothing(name, 'DELETE', '/api/v1/agents/front')
    await nothing(name, 'POST', '/api/v1/agents/batch', { agents: [] })
    await nothing(name, 'POST', '/api/v1/check', {})
    await nothing(name, 'GET', '/api/v1/keys')
    await nothing(name, 'POST', '/api/v1/keys', { roles: ['admin'] })
    if (name !== 'audit') await nothing(name, 'GET', '/api/v1/agents/front/graph')
    if (name !== 'audit') await nothing(name, 'GET', '/api/v1/usage')
  }
  for (const name of ['anna', 'desk'] as const) await nothing(name, 'GET', '/api/v1/agents/front')
  for (const name of ['anna', 'desk', 'audit'] as const)
    await nothing(name, 'POST', '/api/v1/conversations', { agent: 'front' })
  for (const [name, held] of Object.entries(roles)) {
    const { body } = await as[name as Name]<{ id: string; roles: string[] }>('GET', '/api/v1/principal')
    assert.deepEqual([body.id, body.roles], [`user:${name}`, held])
  }
})
