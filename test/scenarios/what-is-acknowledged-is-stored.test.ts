/** When the engine waits for its store, and what a caller may rely on once it was told: nothing is acknowledged before it is stored. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineTool, memoryStore, type Store } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { createApp, createAuth, createLog } from '@witan/server'
import { z } from 'zod'
import { agent, createGate, createStage, settle } from '../support/stage.ts'

interface SlowStore {
  readonly store: Store
  /** How many writes wait. */
  waiting(): number
  /** Lets the first of them through, and then what follows from it. */
  next(): Promise<void>
  /** From now on everything is stored at once. */
  hurry(): void
}

/** A store whose writes take until the test lets them through, in order. */
function slowStore(): SlowStore {
  const inner = memoryStore()
  const queue: (() => void)[] = []
  let isSlow = true
  const writes = new Set<string | symbol>(['append', 'changeAgents', 'deleteConversation'])
  const store = new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      if (!writes.has(name)) return member.bind(target)
      return async (...args: unknown[]) => {
        if (isSlow) await new Promise<void>((resolve) => queue.push(resolve))
        return member.apply(target, args) as Promise<unknown>
      }
    },
  })
  return {
    store,
    waiting: () => queue.length,
    async next() {
      assert.ok(queue.length > 0, 'nothing waits to be written')
      queue.shift()?.()
      await settle()
    },
    hurry() {
      isSlow = false
      for (const go of queue.splice(0)) go()
    },
  }
}

/** Whether it was told, without waiting for it. */
function watched<Value>(work: Promise<Value>): { readonly work: Promise<Value>; isTold(): boolean } {
  let told = false
  const noted = work.finally(() => {
    told = true
  })
  noted.catch(() => {})
  return { work: noted, isTold: () => told }
}

test('[D4] the engine waits at accept, before an effect, after one that must not repeat, at park and at end', async () => {
  const slow = slowStore()
  let paid = 0
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({}),
    effect: 'once',
    execute: () => {
      paid += 1
      return 'paid'
    },
  })
  const stage = createStage({
    agents: [],
    plays: { root: [call('pay'), call('Ask'), 'done'] },
    options: { store: slow.store, tools: [pay] },
  })
  await stage.runtime.ready
  const saved = stage.runtime.agents.save(agent('root', { tools: ['pay'], actions: [{ name: 'Ask' }] }))
  await settle()
  await slow.next()
  await saved

  const started = watched(stage.runtime.start({ agent: 'root', id: 'chats/1', prompt: 'hello' }))
  await settle()
  assert.deepEqual([started.isTold(), stage.requests.length, slow.waiting()], [false, 0, 1], 'accept')
  await slow.next()
  const { run } = await started.work
  const result = watched(run?.result ?? assert.fail())
  assert.deepEqual([stage.requests.length, paid, slow.waiting()], [1, 0, 1], 'before the effect')
  await slow.next()
  assert.deepEqual([stage.requests.length, paid, slow.waiting()], [1, 1, 1], 'after the effect')
  await slow.next()
  assert.equal(stage.requests.length, 2)
  for (; slow.waiting() > 0; await slow.next()) assert.equal(result.isTold(), false, 'park')
  const waiting = await result.work
  assert.equal(waiting.status, 'waiting')

  const id = waiting.interruptions[0]?.id ?? ''
  const resumed = watched(stage.runtime.run('chats/1', { actionResponses: [{ id, response: 'yes' }] }))
  await settle()
  assert.deepEqual([resumed.isTold(), stage.requests.length], [false, 2], 'the answer is accepted')
  await slow.next()
  const end = watched((await resumed.work).result)
  await settle()
  assert.equal(stage.requests.length, 3)
  for (; slow.waiting() > 0; await slow.next()) assert.equal(end.isTold(), false, 'end')
  assert.equal((await end.work).text, 'done')
  assert.equal(paid, 1)
})

test('[D4] a sibling that ends meanwhile does not let the model read what is not stored yet', async () => {
  const slow = slowStore()
  const gate = createGate()
  const tool = (name: string, effect: 'once' | 'none', execute: () => unknown) =>
    defineTool({ name, description: 'Does.', parameters: z.object({}), effect, execute })
  const stage = createStage({
    agents: [],
    plays: { root: [{ toolCalls: ['pay', 'look'].map((name) => ({ name, arguments: {} })) }, 'done'] },
    options: {
      store: slow.store,
      tools: [tool('pay', 'once', () => 'paid'), tool('look', 'none', () => gate.opened.then(() => 'seen'))],
    },
  })
  const saved = stage.runtime.agents.save(agent('root', { tools: ['pay', 'look'] }))
  await settle()
  await slow.next()
  await saved
  const result = stage.ask('root', 'hello')
  await settle()
  for (let accepted = 0; accepted < 2; accepted += 1) await slow.next()
  assert.deepEqual([stage.requests.length, slow.waiting()], [1, 1], 'paid, and the result is on its way')
  gate.open()
  await settle()
  assert.equal(stage.requests.length, 1)
  slow.hurry()
  assert.equal((await result).text, 'done')
  assert.equal(stage.requests.length, 2)
})

/** An application over a slow store, with one agent that asks. */
async function served() {
  const slow = slowStore()
  const runtime = createRuntime({
    store: slow.store,
    models: { 'play/model': scriptedModel((_, turn) => (turn === 0 ? call('Ask') : 'done')) },
  })
  await runtime.ready
  const [signal, auth] = [new AbortController().signal, createAuth('none', () => 4747)]
  const app = createApp({
    runtime,
    auth,
    hosts: { port: () => 4747, allowed: [] },
    log: createLog('error', () => {}),
    stop: { streams: signal, waits: signal },
    studio: new URL('./nothing-built/', import.meta.url),
  })
  const send = async (method: string, path: string, body?: unknown): Promise<Response> =>
    app.fetch(
      new Request(`http://127.0.0.1:4747/api/v1${path}`, {
        method,
        headers: body === undefined ? {} : { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
  return { slow, runtime, send }
}

test('[D24] no request that changes something is answered with success before the change is stored', async () => {
  const { slow, runtime, send } = await served()
  const { store } = slow
  const openIds = async () =>
    (
      await store.listInterruptions('default', {
        limit: 9,
        after: null,
        state: 'open',
        conversation: null,
        addressees: null,
      })
    ).map(({ view }) => view.id)
  const changes: readonly [what: string, request: () => Promise<Response>, isStored: () => Promise<boolean>][] = [
    [
      'an agent',
      () => send('PUT', '/agents/root', agent('root', { actions: [{ name: 'Ask' }] })),
      async () => (await store.listAgents('default')).length === 1,
    ],
    [
      'a conversation',
      () => send('POST', '/conversations', { agent: 'root', id: 'chats/1' }),
      async () => (await store.getConversation('default', 'chats/1')) !== null,
    ],
    [
      'a message',
      () => send('POST', '/conversations/chats:1/runs', { prompt: 'hello', wait: false }),
      async () => (await store.readEntries('default', 'chats/1', { after: 0, limit: 9 })).length > 0,
    ],
    [
      'an answer',
      async () => send('POST', `/interruptions/${(await openIds())[0]}/answer`, { answer: 'yes' }),
      async () => (await openIds()).length === 0,
    ],
    [
      'an end',
      () => send('DELETE', '/conversations/chats:1'),
      async () => (await store.getConversation('default', 'chats/1')) === null,
    ],
  ]
  for (const [what, request, isStored] of changes) {
    while (slow.waiting() > 0) await slow.next()
    const reply = watched(request())
    await settle()
    assert.deepEqual([reply.isTold(), slow.waiting(), await isStored()], [false, 1, false], what)
    await slow.next()
    const { status } = await reply.work
    assert.ok(status >= 200 && status < 300, `${what}: ${status}`)
    assert.equal(await isStored(), true, what)
  }
  slow.hurry()
  await runtime.close()
})

test('[D24] where the store fails, nobody is told of a success', async () => {
  const { slow, runtime, send } = await served()
  slow.hurry()
  await send('PUT', '/agents/root', agent('root', {}))
  const broken = createRuntime({
    store: new Proxy(slow.store, {
      get: (target, name) =>
        name === 'append' ? async () => Promise.reject(new Error('disk full')) : Reflect.get(target, name, target),
    }),
    models: { 'play/model': scriptedModel(() => 'hello') },
    report: () => {},
  })
  await assert.rejects(broken.start({ agent: 'root', id: 'chats/1' }))
  await assert.rejects(broken.start({ agent: 'root', id: 'chats/1', prompt: 'hello' }))
  assert.equal(await slow.store.getConversation('default', 'chats/1'), null)
  await runtime.close()
})
