/** Interruptions: one kind of row for whatever waits, found by an id of its own, settled once, by whichever process. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '@witan/client'
import { memoryStore, type RuntimeOptions } from '@witan/core'
import { call } from '@witan/core/testing'
import { createApp, createAuth, createLog } from '@witan/server'
import { outliving } from '../support/reopen.ts'
import { type AgentDraft, createStage, type Play } from '../support/stage.ts'

const ask = { name: 'Ask', description: 'Asks.', parametersSample: { what: 'x' } }
const agents: readonly AgentDraft[] = [
  { id: 'root', actions: [ask], subAgents: [{ agent: 'leaf' }] },
  { id: 'leaf', actions: [ask] },
]

/** The root and its leaf ask at once; the model gives both calls the same id. */
const plays = (): Record<string, Play> => ({
  root: [
    {
      toolCalls: [
        { id: 'same', name: 'Ask', arguments: { what: 'root' } },
        { id: 'other', name: 'leaf', arguments: { message: 'go' } },
      ],
    },
    'done',
  ],
  leaf: [{ toolCalls: [{ id: 'same', name: 'Ask', arguments: { what: 'leaf' } }] }, 'leaf done'],
})

const staged = (options: RuntimeOptions = {}) => createStage({ agents, plays: plays(), options })

test('[C20] whatever waits is one kind of row, and any process settles it, once', async () => {
  const store = outliving(memoryStore())
  const first = staged({ store })
  const { interruptions, runId } = await first.ask('root', 'hello', { id: 'chats/1' })
  const second = staged({ store })
  const { items } = await second.runtime.listInterruptions()
  assert.deepEqual(items, interruptions)
  const shapes = items.map((row) => [Object.keys(row).sort().join(), row.kind, row.state])
  assert.deepEqual(shapes[0], shapes[1])
  assert.deepEqual(shapes[0]?.slice(1), ['action', 'open'])

  const [root, leaf] = interruptions.map(({ id }) => id) as [string, string]
  const answered = await second.runtime.answerInterruption(leaf, { answer: 'from the second' })
  assert.equal(answered.state, 'answered')
  await assert.rejects(first.runtime.answerInterruption(leaf, { answer: 'from the first' }), {
    code: 'ALREADY_ANSWERED',
  })
  const third = staged({ store })
  await assert.rejects(third.runtime.answerInterruption(leaf, { error: 'no' }), { code: 'ALREADY_ANSWERED' })
  const done = await third.run('chats/1', { actionResponses: [{ id: root, response: 'from the third' }] })
  assert.deepEqual([done.runId, done.status, done.text], [runId, 'completed', 'done'])
  const open = await first.runtime.listInterruptions({ state: 'open' })
  assert.deepEqual(open.items, [])
  const settled = (await third.events('chats/1')).filter(({ type }) => type === 'resolved')
  assert.deepEqual(
    settled.map(({ content }) => content['id']),
    [leaf, root],
  )
  const read = third.seenBy('root').at(-1)?.messages.slice(-2)
  assert.deepEqual(
    read?.map(({ content }) => content),
    ['from the third', 'leaf done'],
  )
})

test('[Rb27] an answer finds its call by an id that says nothing of path, agent or the model’s own id', async () => {
  const stage = staged()
  const { interruptions } = await stage.ask('root', 'hello', { id: 'chats/1' })
  const ids = interruptions.map(({ id }) => id)
  assert.equal(new Set(ids).size, 2)
  for (const id of ids) assert.doesNotMatch(id, /same|root|leaf|Ask|chats|[/$]/)
  // What a reader could put together itself is the id of nothing.
  const [root, leaf] = interruptions
  for (const made of ['same', 'Ask', 'leaf/Ask', 'other$same', root?.callId, leaf?.callId, root?.path]) {
    await assert.rejects(stage.run('chats/1', { actionResponses: [{ id: made, response: 1 }] }), {
      code: 'ACTION_NOT_FOUND',
    })
  }
  // Both models call the same tool under the same tool call id: each answer still reaches its own caller.
  const responses = interruptions.map(({ id, agent }) => ({ id, response: `for ${agent}` }))
  const done = await stage.run('chats/1', { actionResponses: responses.reverse() })
  assert.equal(done.status, 'completed')
  assert.equal(stage.seenBy('leaf')[1]?.messages.at(-1)?.content, 'for leaf')
  assert.equal(stage.seenBy('root')[1]?.messages.at(-2)?.content, 'for root')
})

test('[Rb50] a client calls a handler once for an action and goes on until nothing is left to answer', async () => {
  const stage = createStage({
    agents: [{ id: 'root', actions: [ask, { ...ask, name: 'Look' }] }],
    plays: {
      root: [
        {
          toolCalls: [
            { name: 'Ask', arguments: { what: '1' } },
            { name: 'Look', arguments: { what: '2' } },
            { name: 'Ask', arguments: { what: '3' } },
          ],
        },
        call('Ask', { what: '4' }),
        call('Ask', { what: '5' }),
        'done',
      ],
    },
  })
  await stage.runtime.ready
  const [stop, auth] = [new AbortController().signal, createAuth('none', () => 4747)]
  const app = createApp({
    runtime: stage.runtime,
    auth,
    hosts: { port: () => 4747, allowed: [] },
    log: createLog('error', () => {}),
    stop: { streams: stop, waits: stop },
    studio: new URL('./nothing-built/', import.meta.url),
  })
  const url = 'http://127.0.0.1:4747'
  const posts: string[] = []
  const client = createClient({
    url,
    fetch: async (input, init) => {
      const request = new Request(input, init)
      if (request.method === 'POST') posts.push(new URL(request.url).pathname)
      return app.fetch(request)
    },
  })
  const calls: string[] = []
  const seen: string[] = []
  const chat = client.conversation('root')
  chat.handle<{ what: string }>('Ask', ({ what }) => {
    calls.push(what)
    return `answer ${what}`
  })
  chat.receive<{ what: string }>('Look', ({ id }) => {
    seen.push(id)
  })
  // `Look` stays open, so there comes a time when nothing is left to answer.
  const waiting = await chat.run('hello')
  assert.equal(waiting.status, 'waiting')
  assert.deepEqual(calls.toSorted(), ['1', '3'])
  assert.equal(seen.length, 1)
  assert.equal((await chat.resume()).status, 'waiting')
  assert.deepEqual([calls.length, seen.length], [2, 1], 'what was handled or seen is not handled again')
  const done = await chat.respond(seen[0] ?? '', 'seen')
  assert.deepEqual([done.status, done.text], ['completed', 'done'])
  assert.deepEqual(calls.toSorted(), ['1', '3', '4', '5'])
  assert.equal(seen.length, 1)
  assert.deepEqual(
    stage.requests[1]?.messages.slice(-3).map(({ content }) => content),
    ['answer 1', 'seen', 'answer 3'],
  )
  assert.equal(posts.filter((path) => path.endsWith('/runs')).length, 5)
  client.close()
})
