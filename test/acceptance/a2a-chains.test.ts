/** The chain that comes in with a call over A2A: which one holds, what models read of it, and under whom all that is said stands. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createConversationFold } from '@witan/client'
import type { AnyEvent, Interruption, RunState } from '@witan/protocol'
import { type A2aTask, a2aClient, errorOf, keyOf, message } from './support/a2a.ts'
import {
  type CalledFromOutside,
  calledFromOutside,
  chainOf,
  replies,
  withChain,
} from './support/called-from-outside.ts'
import { notices } from './support/claims.ts'
import { createGate } from './support/model-server.ts'
import { agent, type Stage, until } from './support/stage.ts'

const bots = 'bots.example'
let called: CalledFromOutside
let stage: Stage
let calling: CalledFromOutside['calling']

before(async () => {
  called = await calledFromOutside()
  ;({ stage, calling } = called)
})
after(() => called?.close())

const systemOf = (model: string) => String(stage.model.of(model).at(-1)?.body.messages[0]?.content)

describe('the chain that comes in', () => {
  test('[M04] [M08] [M10] every agent of the run reads which hop it is, its sub-agents and tasks too', async () => {
    const line = 'This is hop 2 of at most 4: calls to other servers may go 2 hops further.'
    replies(
      stage,
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
    replies(stage, 'helper', { text: 'helped' })
    replies(stage, 'digger', { text: 'gold', hold: gate })
    const task = await calling('docs').send(withChain('x', chainOf(2, 4, { is_final: true })))
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
    for (const model of ['docs', 'helper', 'digger'])
      assert.ok(systemOf(model).endsWith(line), `${model}: ${systemOf(model)}`)
    await stage.witan.kill()
    gate.open()
    replies(stage, 'digger', { text: 'gold after all' })
    replies(stage, 'docs', { text: 'dug' })
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
    replies(stage, 'asking', { calls: [ask, { name: 'later', args: { message: 'look' } }] }, { text: 'done' })
    replies(stage, 'later', { calls: [ask] }, { text: 'found' })
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
    replies(stage, 'quiz', { calls: [{ name: 'ask_question', args: { questions: [question] } }] }, { text: 'one' })
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
    replies(stage, 'quiz', { text: 'two' }, { text: 'of ben' }, { text: 'three' })
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
      replies(stage, 'docs', { text: 'ok' })
      const task = await calling('docs').send(withChain('x', chain))
      assert.ok(systemOf('docs').endsWith(line), systemOf('docs'))
      assert.equal(notices(await stage.events(task.contextId), 'CHAIN_LOWERED').length, noticed)
    }
  })

  test('[M28] the chains of message, capabilities and token may disagree: the fewest hops left count', async () => {
    replies(stage, 'docs', { text: 'ok' })
    const claims = { witan_chain: chainOf(3, 4, { root: 'r', path: ['@z@z.test', '@a@a.test'] }) }
    const more = { recipient_capabilities: { agent_chain: chainOf(1, 4), mention_relay: 'none' } }
    await calling('docs', { claims }).send(withChain('x', chainOf(2, 4), more))
    assert.match(systemOf('docs'), /This is hop 3 of at most 4/)
  })

  test('[M35] [M37] [E32] an agent without a chain makes the first hop; its people read it, and no model', async () => {
    replies(stage, 'docs', { text: 'ok' })
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
      replies(stage, 'docs', { calls: [{ name: 'helper', args: { message: 'x' } }] }, { text: 'ok' })
      replies(stage, 'helper', { text: 'ok' })
      await calling('docs').send(withChain('x', chainOf(1, 4), { recipient_capabilities: { mention_relay } }))
      assert.equal(relay.test(systemOf('docs')), is, JSON.stringify(mention_relay))
      assert.equal(relay.test(systemOf('helper')), false)
    }
    replies(stage, 'docs', { text: 'ok' })
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
    replies(stage, 'free', { text: 'ok' }, { text: 'ok' })
    const plain = await client.send(message('x'))
    assert.doesNotMatch(systemOf('free'), /hop/)
    assert.deepEqual(notices(await stage.events(plain.contextId), 'CHAIN_MISSING'), [])
    await client.send(withChain('x', chainOf(2, 4)))
    assert.match(systemOf('free'), /This is hop 2 of at most 4/)
  })

  test('evidence of nobody who is trusted is dropped, and its people read that', async () => {
    replies(stage, 'docs', { text: 'ok' })
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
