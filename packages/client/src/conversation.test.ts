import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { AnyEvent, Prompt } from '@witan/protocol'
import { WitanError } from '@witan/protocol'
import { type Client, createClient } from './client.ts'
import { ClientError } from './error.ts'
import { fastTiming } from './testing/fast-timing.ts'
import type { Step } from './testing/scripted-run.ts'
import { startWireServer, type WireServer } from './testing/wire-server.ts'

const open = { promise: Promise.resolve(), release: () => {} }

function gate(): typeof open {
  let release = () => {}
  const promise = new Promise<void>((resolve) => {
    release = resolve
  })
  return { promise, release }
}

let held = open

/** `act a/b c` asks for both actions at once, `;` starts the next step; anything else is echoed. */
function* script(prompt: Prompt, answers: Readonly<Record<string, unknown>>): Generator<Step> {
  for (const step of String(prompt).split(';')) {
    const [verb, ...paths] = step.trim().split(' ')
    if (verb === 'act') yield { act: paths.map((path) => ({ path, arguments: { to: path } })) }
    if (verb === 'hold') yield { gate: held.promise }
    if (verb === 'say') yield { say: paths.join(' ') }
  }
  yield { end: JSON.stringify(answers), output: { answers } }
}

describe('a conversation', () => {
  let server: WireServer
  let witan: Client
  before(async () => {
    server = await startWireServer(script)
    witan = createClient({ url: server.url, token: 'secret', timing: fastTiming() })
  })
  after(async () => {
    witan.close()
    await server.close()
  })

  it('has no id before its first run, and asks for none [Rb34, Rb48]', async () => {
    const chat = witan.conversation('root')
    const isNotStarted = { code: 'CONVERSATION_NOT_STARTED', name: 'ClientError' }
    assert.throws(() => chat.id, isNotStarted)
    await assert.rejects(chat.requiredActions(), isNotStarted)
    await assert.rejects(chat.respond('i_1', 1), isNotStarted)
    await chat.run('hello')
    assert.match(chat.id, /^chats\/\d+$/)
    assert.equal(witan.conversation('root', { id: 'chats/x' }).id, 'chats/x')
  })

  it('runs through actions until the run is done, with the answers of one round sent together', async () => {
    const chat = witan.conversation('root', { parameters: { userId: { value: 'e/3', sendToModel: false } } })
    const order: string[] = []
    const both = gate()
    chat.handle<{ to: string }, { ok: string }>('a/One', async ({ to }) => {
      order.push('one starts')
      await both.promise
      return { ok: to }
    })
    chat.handle('b/Two', () => {
      order.push('two starts')
      both.release()
    })
    chat.handle('Three', (_args, request) => ({ run: request.runId, in: request.conversationId, of: request.agent }))
    const result = await chat.run<{ answers: Record<string, unknown> }>('act a/One b/Two; act Three')
    assert.equal(result.status, 'completed')
    assert.deepEqual(order, ['one starts', 'two starts'])
    const three = { run: result.runId, in: chat.id, of: 'root' }
    assert.deepEqual(result.output?.answers, { 'a/One': { ok: 'a/One' }, 'b/Two': null, Three: three })
    const posts = server.seen.filter(({ method, url }) => method === 'POST' && url.includes(chat.id.replace('/', ':')))
    assert.equal(posts.length, 3)
    const started = server.seen.findLast(({ url }) => url === '/api/v1/conversations')
    assert.deepEqual(started?.body, { agent: 'root', parameters: { userId: { value: 'e/3', sendToModel: false } } })
    assert.equal(started?.headers.authorization, 'Bearer secret')
  })

  it('sends the first message of a run under the key it is given, and what follows under keys of its own', async () => {
    for (const way of ['run', 'stream'] as const) {
      const chat = witan.conversation('root').handle('*', () => 1)
      const sent = chat[way]('act One', { idempotencyKey: `mine-${way}` })
      const result = await ('result' in sent ? sent.result() : sent)
      assert.equal(result.status, 'completed')
      const posts = server.seen.filter(({ url }) => url.includes(`${chat.id.replace('/', ':')}/runs`))
      const keys = posts.map(({ headers }) => headers['idempotency-key'])
      assert.equal(keys[0], `mine-${way}`)
      assert.equal(keys.length, 2)
      assert.match(String(keys[1]), /^[\da-f]{32}$/)
      assert.deepEqual(Object.keys(posts[0]?.body ?? {}).sort(), ['prompt', 'verbose'])
    }
    await witan.conversations.start({ agent: 'root' }, { idempotencyKey: 'mine' })
    assert.equal(server.seen.at(-1)?.headers['idempotency-key'], 'mine')
  })

  it('takes the exact path first, then the narrowest wildcard, then the hook [R28] [E09]', async () => {
    const chat = witan.conversation('root')
    for (const path of ['*', '*/Send', 'audit/*', 'x/audit/*', 'audit/Send']) chat.handle(path, () => path)
    const result = await chat.run('act audit/Send audit/Save mail/Send x/audit/Save x/mail/Send Send')
    assert.deepEqual(JSON.parse(result.text), {
      'audit/Send': 'audit/Send',
      'audit/Save': 'audit/*',
      'mail/Send': '*/Send',
      'x/audit/Save': 'x/audit/*',
      'x/mail/Send': '*/Send',
      Send: '*',
    })
    // A wildcard ends at a slash: what only begins or ends alike is somebody else.
    const alike = await chat.run('act mail/ReSend auditor/Save')
    assert.deepEqual(JSON.parse(alike.text), { 'mail/ReSend': '*', 'auditor/Save': '*' })
  })

  it('refuses a second registration of a path, and a path that is none [R28] [Rb46]', () => {
    const chat = witan.conversation('root').handle('Send', () => 1)
    assert.throws(() => chat.handle('Send', () => 2), { code: 'HANDLER_EXISTS' })
    assert.throws(() => chat.receive('Send', () => {}), { code: 'HANDLER_EXISTS' })
    for (const path of ['', '/Send', 'a//Send', 'a/*/Send', '*/*', 'Se*']) {
      assert.throws(() => chat.handle(path, () => 1), { code: 'HANDLER_PATH_INVALID' })
    }
  })

  it('names the action, agent and conversation when nothing handles it, before any handler ran [Rb48]', async () => {
    const chat = witan.conversation('root')
    let calls = 0
    chat.handle('Known', () => {
      calls += 1
    })
    await assert.rejects(chat.run('act Known mid/leaf/save-it'), (error: unknown) => {
      assert.ok(error instanceof ClientError)
      assert.equal(error.code, 'ACTION_UNHANDLED')
      for (const name of ['mid/leaf/save-it', 'leaf', chat.id, 'root']) assert.ok(error.message.includes(`"${name}"`))
      return true
    })
    assert.equal(calls, 0)
    assert.equal((await chat.requiredActions()).length, 2)
    assert.equal(
      (await chat.handle('*/save-it', () => 'saved').resume()).text,
      '{"Known":null,"mid/leaf/save-it":"saved"}',
    )
  })

  it('leaves what only onUnhandledAction sees open', async () => {
    const seen: string[] = []
    const chat = witan.conversation('root').onUnhandledAction(({ path }) => void seen.push(path))
    const result = await chat.run('act mid/Send')
    assert.equal(result.status, 'waiting')
    assert.deepEqual(seen, ['mid/Send'])
    assert.equal((await chat.resume()).status, 'waiting')
    assert.deepEqual(seen, ['mid/Send'], 'an id is dispatched once per run [Rb50]')
  })

  it('sends the error of a handler to the model as its chain of causes [Rb47]', async () => {
    const chat = witan.conversation('root').handle('Send', () => {
      throw new TypeError('no route', { cause: new Error('mail is down') })
    })
    const { text } = await chat.run('act Send')
    assert.deepEqual(JSON.parse(text), { Send: { error: 'TypeError: no route < Error: mail is down' } })
  })

  it('raises the error of a handler if asked, and loses no answer of its siblings [Rb47]', async () => {
    const chat = witan.conversation('root', { handlerErrors: 'raise' })
    const calls: string[] = []
    let isDown = true
    chat.handle('Good', () => calls.push('good'))
    chat.handle('Bad', () => {
      calls.push('bad')
      if (isDown) throw new RangeError('down')
    })
    await assert.rejects(chat.run('act Good Bad'), RangeError)
    isDown = false
    assert.equal((await chat.resume()).status, 'completed')
    assert.deepEqual(calls, ['good', 'bad', 'bad'])
  })

  it('lets another client answer what this one only received [Rb46]', async () => {
    const seen: string[] = []
    const first = witan.conversation('root').receive('audit/*', ({ id }) => void seen.push(id))
    const waiting = await first.run('act audit/Log; act Next')
    assert.equal(waiting.status, 'waiting')
    assert.deepEqual(
      waiting.interruptions.map(({ id }) => id),
      seen,
    )

    const elsewhere = createClient({ url: server.url, timing: fastTiming() })
    const second = elsewhere.conversation('root', { id: first.id }).handle('Next', () => 'by the second')
    const [open] = await second.requiredActions()
    const result = await second.respond(String(open?.id), { ok: true })
    assert.equal(result.runId, waiting.runId)
    assert.equal(result.text, '{"audit/Log":{"ok":true},"Next":"by the second"}')
    assert.equal((await first.resume()).text, result.text)
  })

  it('goes on when somebody answers while a handler still works', async () => {
    const chat = witan.conversation('root')
    const slow = gate()
    chat.handle('Slow', () => slow.promise)
    chat.receive('audit/*', async ({ id }) => {
      const between = await chat.respond(id, 'logged')
      assert.equal(between.status, 'waiting')
      slow.release()
    })
    assert.equal((await chat.run('act Slow audit/Log')).text, '{"audit/Log":"logged","Slow":null}')
  })

  it('follows the run when a receiver answered all by itself', async () => {
    const chat = witan.conversation('root')
    chat.receive('audit/*', async ({ id }) => void (await chat.respond(id, 'logged')))
    assert.equal((await chat.run('act audit/Log')).text, '{"audit/Log":"logged"}')
    const events: string[] = []
    const stream = chat.stream('act audit/Log')
    for await (const event of stream) events.push(event.type)
    assert.deepEqual(events, ['message', 'start', 'action_required', 'resolved', 'end'])
  })

  it('gives a refused answer as the error of the server', async () => {
    const chat = witan.conversation('root').onUnhandledAction(() => {})
    const { interruptions } = await chat.run('act Send')
    const other = witan.conversation('root', { id: chat.id })
    const id = String(interruptions[0]?.id)
    assert.equal((await other.respond(id, 'first')).text, '{"Send":"first"}')
    await assert.rejects(chat.respond(id, 'second'), (error: unknown) => {
      assert.ok(error instanceof WitanError)
      assert.equal(error.code, 'ALREADY_ANSWERED')
      assert.deepEqual(error.details, { status: 409, requestId: 'req_1', retryAfterSeconds: 1 })
      return true
    })
  })

  it('stops waiting on abort, in a run and in a handler', async () => {
    held = gate()
    const inRun = new AbortController()
    const running = witan.conversation('root').run('hold', { signal: inRun.signal })
    setImmediate(() => inRun.abort(new Error('enough')))
    await assert.rejects(running, { message: 'enough' })
    held.release()

    const inHandler = new AbortController()
    const chat = witan.conversation('root').handle('Send', (_args, { signal }) => {
      assert.equal(signal, inHandler.signal)
      inHandler.abort(new Error('enough'))
      return new Promise(() => {})
    })
    await assert.rejects(chat.run('act Send', { signal: inHandler.signal }), { message: 'enough' })
  })

  it('streams the same run as events and then its result', async () => {
    const chat = witan.conversation('root').handle('Send', () => 'sent')
    const stream = chat.stream('say hel; say lo; act Send; say bye')
    const events: AnyEvent[] = []
    for await (const event of stream) events.push(event)
    const types = ['message', 'start', 'delta', 'delta', 'action_required', 'resolved', 'delta', 'end']
    assert.deepEqual(
      events.map(({ type }) => type),
      types,
    )
    assert.equal((await stream.result()).text, '{"Send":"sent"}')
    assert.equal((await chat.stream('hello').result()).status, 'completed')
  })

  it('ends the connection of a stream that is left, and says so instead of a result', async () => {
    held = gate()
    const chat = witan.conversation('root')
    const stream = chat.stream('say a; hold')
    for await (const event of stream) if (event.type === 'delta') break
    await assert.rejects(stream.result(), { code: 'STREAM_LEFT' })
    held.release()
    assert.equal((await chat.resume()).status, 'completed')
  })
})
