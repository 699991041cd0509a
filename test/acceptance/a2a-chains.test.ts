/** Agents of other servers as callers: who is let in, which chain holds, what models read of it, and what such a caller never reaches. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createConversationFold } from '@witan/client'
import type { AnyEvent, Interruption, RunState } from '@witan/protocol'
import {
  type A2aClient,
  type A2aMessage,
  type A2aTask,
  a2aClient,
  answerOf,
  errorOf,
  keyOf,
  message,
} from './support/a2a.ts'
import { assertProblem, notices } from './support/claims.ts'
import { createGate } from './support/model-server.ts'
import { createRemoteServer, type RemoteServer } from './support/remote-server.ts'
import { agent, createStage, type Stage, sub, until } from './support/stage.ts'

const bots = 'bots.example'
let stage: Stage
let remote: RemoteServer
let stranger: RemoteServer

before(async () => {
  remote = await createRemoteServer('a.test')
  stranger = await createRemoteServer('c.test')
  stage = await createStage({
    store: 'file',
    prepare: () => ({
      server: { domain: bots },
      federation: { maxHops: 4, resolve: { 'a.test': remote.url, 'c.test': stranger.url } },
    }),
  })
  const access = { call: ['@*@a.test'] }
  const users = [{ id: 'anna', name: 'Anna', roles: [], channel: 'inbox' }]
  await stage.save(
    agent('docs', { address: 'docs', access, subAgents: [sub('helper'), sub('digger', { blocking: 'never' })] }),
    agent('helper'),
    agent('digger'),
    agent('asking', { address: 'asking', access, users, subAgents: [sub('later', { blocking: 'never' })] }),
    agent('later', { users }),
    agent('quiz', {
      address: 'quiz',
      access: { call: ['@*@a.test', 'role:admin'] },
      questions: true,
      users: 'participants',
    }),
    agent('closed', { address: 'closed' }),
    agent('staff', { address: 'staff', access: { call: ['role:run', 'user:a'] } }),
    agent('only', { address: 'only', access: { call: ['@b@a.test'] } }),
    agent('fussy', {
      address: 'fussy',
      access,
      parameters: [{ name: 'region', type: 'string', description: 'Which.' }],
    }),
  )
})
after(async () => {
  await stage?.close()
  await remote?.close()
  await stranger?.close()
})

interface Caller {
  from?: RemoteServer
  claims?: Record<string, unknown>
  header?: Record<string, unknown>
}

/** An agent of a remote server that calls the agent at this path. */
function calling(local: string, { from = remote, claims = {}, header = {} }: Caller = {}): A2aClient {
  const aud = local === '' ? `https://${bots}` : `@${local}@${bots}`
  const token = (params: unknown) => {
    const sent = (params as { message?: A2aMessage } | undefined)?.message
    return from.token({ aud, ...(sent === undefined ? {} : { jti: sent.messageId }), ...claims }, header)
  }
  return a2aClient(() => stage.witan, local === '' ? '/a2a' : `/a2a/${local}`, token)
}

const chainOf = (hop: number, max_hops: number, more = {}) => ({ hop, max_hops, ...more })
const withChain = (text: string, agent_chain: unknown, more: object = {}) =>
  message(text, { metadata: { mentionable: { agent_chain, ...more } } })

function next(model: string, ...replies: Parameters<Stage['model']['script']>[1][]): void {
  const from = stage.model.of(model).length
  stage.model.on(model, ({ nth }) => replies[nth - 1 - from] ?? { text: 'out of script' })
}

const systemOf = (model: string) => String(stage.model.of(model).at(-1)?.body.messages[0]?.content)

describe('who is let in', () => {
  test('[M02] [M03] [C31] an address of the list, proven by its own server, and nobody else', async () => {
    next('docs', { text: 'welcome' })
    const task = await calling('docs').send(message('x'))
    assert.equal(answerOf(task), 'welcome')
    for (const local of ['closed', 'staff', 'only'])
      assertProblem(await calling(local).rpc('SendMessage', { message: message('x') }), {
        status: 404,
        code: 'NOT_FOUND',
      })
    const other = calling('docs', { from: stranger })
    assertProblem(await other.rpc('SendMessage', { message: message('x') }), { status: 404, code: 'NOT_FOUND' })
    assert.equal((await other.rpc('GetTask', { id: task.id })).body.error?.code, -32001)
    assert.ok(remote.asked.every((path) => path === '/.well-known/jwks.json'))
  })

  test('[M03] a token with any part changed gets 401', async () => {
    const now = Math.floor(Date.now() / 1000)
    const table: Caller[] = [
      { claims: { aud: `@other@${bots}` } },
      { claims: { aud: [`@docs@${bots}`] } },
      { claims: { aud: `https://${bots}` } },
      { claims: { jti: 'another' } },
      { claims: { iss: 'https://c.test' } },
      { claims: { sub: '@a@c.test' } },
      { claims: { sub: 'user:local' } },
      { claims: { iat: now, exp: now + 601 } },
      { claims: { iat: now - 400, exp: now - 61 } },
      { claims: { iat: now + 120 } },
      { claims: { exp: undefined } },
      { claims: { iat: undefined } },
      { claims: { jti: undefined } },
      { claims: { sub: undefined } },
      { header: { alg: 'HS256' } },
      { header: { alg: 'none' } },
      { header: { kid: 'none' } },
      { header: { kid: undefined } },
    ]
    for (const caller of table) {
      const answer = await calling('docs', caller).rpc('SendMessage', { message: message('x') })
      assertProblem(answer, { status: 401, code: 'UNAUTHENTICATED' })
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer', JSON.stringify(caller))
    }
  })

  test('[D17] a token of another server opens no route of the API', async () => {
    const token = remote.token({ aud: `@docs@${bots}` })
    const keyed = await createStage({
      prepare: () => ({
        server: { domain: bots },
        auth: { mode: 'local' },
        federation: { resolve: { 'a.test': remote.url } },
      }),
    })
    try {
      for (const path of [
        '/api/v1/principal',
        '/api/v1/agents',
        '/api/v1/conversations',
        '/api/v1/interruptions',
        '/metrics',
      ]) {
        const answer = await keyed.witan.call('GET', path, { headers: { authorization: `Bearer ${token}` } })
        assertProblem(answer, { status: 401, code: 'UNAUTHENTICATED' })
      }
    } finally {
      await keyed.close()
    }
  })

  test('[Mb15] at the hub the credential is for its origin, or for the agent that is reached', async () => {
    next('docs', { text: 'by the hub' }, { text: 'by name' })
    assert.equal(answerOf(await calling('').send(message('@docs hello'))), 'by the hub')
    const named = calling('', { claims: { aud: `@docs@${bots}` } })
    assert.equal(answerOf(await named.send(message('@docs hello'))), 'by name')
    const wrong = calling('', { claims: { aud: `@only@${bots}` } })
    assertProblem(await wrong.rpc('SendMessage', { message: message('@docs hello') }), {
      status: 401,
      code: 'UNAUTHENTICATED',
    })
  })

  test('ten callers at once: each has its own tasks and contexts', async () => {
    stage.model.on('docs', ({ body }) => ({ text: `for ${String(body.messages.at(-1)?.content)}` }))
    const callers = Array.from({ length: 10 }, (_, at) => calling('docs', { claims: { sub: `@c${at}@a.test` } }))
    const sent = message('same id')
    const tasks = await Promise.all(callers.map((client, at) => client.send({ ...sent, parts: [{ text: `${at}` }] })))
    assert.equal(new Set(tasks.map(({ id }) => id)).size, 10)
    for (const [at, client] of callers.entries()) {
      assert.equal(answerOf(tasks[at] as A2aTask), `for ${at}`)
      const listed = await client.rpc<{ tasks: A2aTask[] }>('ListTasks')
      assert.deepEqual(
        listed.body.result?.tasks.map(({ id }) => id),
        [tasks[at]?.id],
      )
      const foreign = tasks[(at + 1) % 10] as A2aTask
      assert.equal((await client.rpc('GetTask', { id: foreign.id })).body.error?.code, -32001)
      const into = await client.rpc('SendMessage', { message: message('x', { contextId: foreign.contextId }) })
      assert.equal(into.body.error?.code, -32001)
    }
  })
})

describe('the chain that comes in', () => {
  test('[M04] [M08] [M10] every agent of the run reads which hop it is, its sub-agents and tasks too', async () => {
    const line = 'This is hop 2 of at most 4: calls to other servers may go 2 hops further.'
    next(
      'docs',
      {
        calls: [
          { name: 'helper', args: { message: 'help' } },
          { name: 'digger', args: { message: 'dig' } },
        ],
      },
      { text: 'done' },
      { text: 'dug' },
    )
    const gate = createGate()
    next('helper', { text: 'helped' })
    next('digger', { text: 'gold', hold: gate })
    const task = await calling('docs').send(withChain('x', chainOf(2, 4, { is_final: true })))
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
    for (const model of ['docs', 'helper', 'digger'])
      assert.ok(systemOf(model).endsWith(line), `${model}: ${systemOf(model)}`)
    await stage.witan.kill()
    gate.open()
    next('digger', { text: 'gold after all' })
    next('docs', { text: 'dug' })
    await stage.witan.start()
    const { result } = await until(
      async () => (await calling('docs').rpc<{ tasks: A2aTask[] }>('ListTasks', { contextId: task.contextId })).body,
      (body) => body.result?.tasks.length === 2 && body.result.tasks[0]?.status.state === 'TASK_STATE_COMPLETED',
    )
    assert.notEqual(result?.tasks[0]?.id, task.id, 'the follow-up is a task of its own in the same context')
    assert.ok(systemOf('docs').endsWith(line))
    const log = JSON.stringify(await stage.events(task.contextId))
    assert.ok(!log.includes('agent_chain') && !log.includes('mentionable'), 'what carried it is nowhere')
    const { runs } = await stage.conversation(task.contextId)
    const callers = runs.map((run) => (run as { caller?: unknown }).caller)
    assert.deepEqual(
      callers,
      [0, 1].map(() => ({ address: '@a@a.test', hop: 2 })),
      'its people see who called',
    )
  })

  test('events, tree, client and inbox say who called, also of what a task of the run asks', async () => {
    const ask = { name: 'ask_user', args: { to: 'anna', message: 'Which shelf?' } }
    next('asking', { calls: [ask, { name: 'later', args: { message: 'look' } }] }, { text: 'done' })
    next('later', { calls: [ask] }, { text: 'found' })
    const sent = withChain('x', chainOf(2, 4))
    const task = await calling('asking').send(sent, { returnImmediately: true })
    const caller = { address: '@a@a.test', hop: 2 }
    const open = await until(
      async () =>
        (await stage.witan.call<{ items: Interruption[] }>('GET', '/api/v1/interruptions')).body.items.filter(
          ({ conversationId }) => conversationId === task.contextId,
        ),
      (found) => found.length === 2,
    )
    assert.deepEqual(
      open.map((one) => one.caller),
      [caller, caller],
    )
    const events = await stage.events(task.contextId)
    const fold = createConversationFold()
    for (const event of events) fold.take(event as unknown as AnyEvent)
    assert.deepEqual(fold.view.calls.get(task.id)?.caller, caller)
    assert.deepEqual(
      [...fold.view.open.values()].map((one) => one.caller),
      [caller, caller],
    )
    const run = await stage.witan.call<RunState>('GET', `/api/v1/runs/${task.id}`)
    assert.deepEqual(run.body.tree.caller, caller)
    const log = JSON.stringify(events)
    assert.ok(!log.includes('"principal"') && !log.includes('maxHops'), 'no more of the principal than its address')
  })

  test('what is said and answered in its run stands under who did it, here and for the caller', async () => {
    const question = { id: 'q', text: 'Which?', options: [], multiple: false, freeText: true, required: true }
    next('quiz', { calls: [{ name: 'ask_question', args: { questions: [question] } }] }, { text: 'one' })
    const { id, contextId, status } = await calling('quiz').send(withChain('from afar', chainOf(1, 4)))
    assert.equal(status.state, 'TASK_STATE_INPUT_REQUIRED')
    const [open] = (
      await stage.witan.call<{ items: Interruption[] }>('GET', '/api/v1/interruptions')
    ).body.items.filter(({ conversationId }) => conversationId === contextId)
    const given = await stage.witan.call('POST', `/api/v1/interruptions/${open?.id}/answer`, {
      body: { answer: { q: { text: 'answered here' } } },
    })
    assert.equal(given.status, 200, given.text)
    await until(
      async () => calling('quiz').task(id),
      (task) => task.status.state === 'TASK_STATE_COMPLETED',
    )
    next('quiz', { text: 'two' }, { text: 'of ben' }, { text: 'three' })
    const path = `/api/v1/conversations/${encodeURIComponent(contextId)}/runs`
    const here = await stage.witan.call<RunState>('POST', path, { body: { prompt: 'said here' } })
    assert.equal(here.status, 200, here.text)
    const people = `/api/v1/conversations/${encodeURIComponent(contextId)}/participants`
    assert.ok((await stage.witan.call('POST', people, { body: { id: 'ben', name: 'Ben' } })).status < 300)
    assert.equal((await stage.witan.call('POST', path, { body: { prompt: 'said by ben', author: 'ben' } })).status, 200)
    await calling('quiz').send({ ...withChain('from afar again', chainOf(1, 4)), contextId })
    const events = await stage.events(contextId)
    const said = events.flatMap(({ type, author, authorKind, content }) =>
      type === 'message' ? [[author, authorKind, content['author'], content['text']]] : [],
    )
    assert.deepEqual(said, [
      ['@a@a.test', 'remote', '@a@a.test', 'from afar'],
      ['user', 'user', 'user', 'said here'],
      ['ben', 'user', 'ben', 'said by ben'],
      ['@a@a.test', 'remote', '@a@a.test', 'from afar again'],
    ])
    const words = (stage.model.of('quiz').at(-1)?.body.messages ?? []).flatMap(({ role, content }) =>
      role === 'user' ? [content] : [],
    )
    assert.deepEqual(words, [
      'from afar',
      '[from @user to @quiz] said here',
      '[from @ben to @quiz] said by ben',
      '[from @a@a.test to @quiz] from afar again',
    ])
    const document = await stage.witan.call<{ messages: { author: string; authorKind: string; role: string }[] }>(
      'GET',
      `/api/v1/documents/${contextId}`,
    )
    const speakers = document.body.messages.filter(({ role }) => role === 'user')
    assert.deepEqual(
      speakers.map(({ author, authorKind }) => `${author} ${authorKind}`),
      ['@a@a.test remote', 'user user', 'ben user', '@a@a.test remote'],
    )
    const { tasks } = (await calling('quiz').rpc<{ tasks: A2aTask[] }>('ListTasks', { contextId, historyLength: 9 }))
      .body.result as { tasks: A2aTask[] }
    const histories = tasks.map(({ history }) => (history ?? []).map(({ role, parts }) => `${role} ${parts[0]?.text}`))
    assert.deepEqual(histories, [['ROLE_USER from afar again'], [], [], ['ROLE_USER from afar', 'ROLE_AGENT Which?']])
  })

  test('[M06] [M07] [M11] [E31] our ceiling lowers it, and the last hop is told to conclude', async () => {
    const table: [chain: object, line: string, noticed: number][] = [
      [chainOf(4, 4), 'This is the final hop (4 of 4): conclude; no agent on another server can be asked.', 0],
      [chainOf(3, 100), 'This is hop 3 of at most 4: calls to other servers may go 1 hop further.', 1],
      [chainOf(1, 1), 'This is the final hop (1 of 1): conclude; no agent on another server can be asked.', 0],
    ]
    for (const [chain, line, noticed] of table) {
      next('docs', { text: 'ok' })
      const task = await calling('docs').send(withChain('x', chain))
      assert.ok(systemOf('docs').endsWith(line), systemOf('docs'))
      assert.equal(notices(await stage.events(task.contextId), 'CHAIN_LOWERED').length, noticed)
    }
  })

  test('[M28] the chains of message, capabilities and token may disagree: the fewest hops left count', async () => {
    next('docs', { text: 'ok' })
    const claims = { witan_chain: chainOf(3, 4, { root: 'r', path: ['@z@z.test', '@a@a.test'] }) }
    const more = { recipient_capabilities: { agent_chain: chainOf(1, 4), mention_relay: 'none' } }
    await calling('docs', { claims }).send(withChain('x', chainOf(2, 4), more))
    assert.match(systemOf('docs'), /This is hop 3 of at most 4/)
  })

  test('[M35] [M37] [E32] an agent without a chain makes the first hop; its people read it, and no model', async () => {
    next('docs', { text: 'ok' })
    const task = await calling('docs').send(message('x'))
    assert.doesNotMatch(systemOf('docs'), /hop/)
    const [notice] = notices(await stage.events(task.contextId), 'CHAIN_MISSING')
    assert.match(String(notice?.content.detail), /@a@a\.test called without a chain/)
  })

  test('[M13] [M14] [C23] the called agent reads that mentions are routed, in both forms, and never at the last hop', async () => {
    const relay =
      /To bring in another agent, write its address such as @c@domain at the beginning of your answer; it will be routed\.$/m
    for (const [mention_relay, is] of [
      ['inline', true],
      [{ kind: 'inline' }, true],
      ['none', false],
      [{ kind: 'other' }, false],
    ] as const) {
      next('docs', { calls: [{ name: 'helper', args: { message: 'x' } }] }, { text: 'ok' })
      next('helper', { text: 'ok' })
      await calling('docs').send(withChain('x', chainOf(1, 4), { recipient_capabilities: { mention_relay } }))
      assert.equal(relay.test(systemOf('docs')), is, JSON.stringify(mention_relay))
      assert.equal(relay.test(systemOf('helper')), false)
    }
    next('docs', { text: 'ok' })
    await calling('docs').send(withChain('x', chainOf(4, 4), { recipient_capabilities: { mention_relay: 'inline' } }))
    assert.equal(relay.test(systemOf('docs')), false)
  })

  test('[E30] [M32] a chain that is none is refused, and so is one that came here before; nothing is stored', async () => {
    const asked = stage.model.of('docs').length
    const invalid = '-32602 AGENT_CHAIN_INVALID witan.dev'
    const loop = '-32602 CHAIN_LOOP witan.dev'
    for (const chain of [chainOf(0, 4), chainOf(5, 4), chainOf(1.5, 4), { hop: '1', max_hops: 4 }, {}, 'x', [], true])
      assert.equal(
        errorOf(await calling('docs').rpc('SendMessage', { message: withChain('x', chain) })),
        invalid,
        JSON.stringify(chain),
      )
    const inside = { recipient_capabilities: { agent_chain: chainOf(9, 4) } }
    assert.equal(
      errorOf(await calling('docs').rpc('SendMessage', { message: withChain('x', chainOf(1, 4), inside) })),
      invalid,
    )
    for (const path of [
      [`@docs@${bots}`, '@a@a.test'],
      [`@DOCS@${bots}`],
      Array.from({ length: 65 }, (_, at) => `@p${at}@p.test`),
    ]) {
      const claims = { witan_chain: chainOf(1, 4, { path }) }
      assert.equal(errorOf(await calling('docs', { claims }).rpc('SendMessage', { message: message('x') })), loop)
    }
    const rest = await calling('docs').rest('POST', '/message:send', {
      body: { message: withChain('x', chainOf(0, 4)) },
    })
    assert.equal(rest.status, 400, rest.text)
    assert.equal(JSON.parse(rest.text).error.details[0].reason, 'AGENT_CHAIN_INVALID')
    assert.equal(stage.model.of('docs').length, asked)
  })

  test('[M37] a person may bring a chain, and has none without it', async () => {
    await stage.save(agent('free', { address: 'free' }))
    const client = a2aClient(
      () => stage.witan,
      '/a2a/free',
      await keyOf(stage.witan, { id: 'user:anna', roles: ['run'] }),
    )
    next('free', { text: 'ok' }, { text: 'ok' })
    const plain = await client.send(message('x'))
    assert.doesNotMatch(systemOf('free'), /hop/)
    assert.deepEqual(notices(await stage.events(plain.contextId), 'CHAIN_MISSING'), [])
    await client.send(withChain('x', chainOf(2, 4)))
    assert.match(systemOf('free'), /This is hop 2 of at most 4/)
  })

  test('evidence of nobody who is trusted is dropped, and its people read that', async () => {
    next('docs', { text: 'ok' })
    const identity_evidence = [{ subject: '@a@a.test', secret: 'kept nowhere' }, {}]
    const task = await calling('docs').send(withChain('x', chainOf(1, 4), { identity_evidence }))
    const events = await stage.events(task.contextId)
    assert.equal(notices(events, 'EVIDENCE_DROPPED').length, 1)
    assert.ok(!JSON.stringify(events).includes('kept nowhere'))
  })

  test('a caller from outside gives no parameters: an agent that needs one fails its task', async () => {
    const task = await calling('fussy').send(message('x'))
    assert.equal(task.status.state, 'TASK_STATE_FAILED')
    assert.equal((await calling('fussy').task(task.id)).status.state, 'TASK_STATE_FAILED')
  })
})
