/** Agents of other servers as callers: who is let in, and what such a caller never reaches. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type A2aTask, answerOf, message } from './support/a2a.ts'
import { type CalledFromOutside, calledFromOutside, replies } from './support/called-from-outside.ts'
import { assertProblem } from './support/claims.ts'
import type { RemoteServer } from './support/remote-server.ts'
import { createStage, type Stage } from './support/stage.ts'

const bots = 'bots.example'
let called: CalledFromOutside
let stage: Stage
let remote: RemoteServer
let stranger: RemoteServer
let calling: CalledFromOutside['calling']

before(async () => {
  called = await calledFromOutside()
  ;({ stage, remote, stranger, calling } = called)
})
after(() => called?.close())

describe('who is let in', () => {
  test('[M02] [M03] [C31] an address of the list, proven by its own server, and nobody else', async () => {
    replies(stage, 'docs', { text: 'welcome' })
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
    const table: Parameters<CalledFromOutside['calling']>[1][] = [
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
    replies(stage, 'docs', { text: 'by the hub' }, { text: 'by name' })
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
