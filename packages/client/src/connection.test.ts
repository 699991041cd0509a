import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { AnyEvent, Prompt } from '@witan/protocol'
import { type Client, createClient } from './client.ts'
import { ClientError } from './error.ts'
import { type FastTiming, fastTiming } from './testing/fast-timing.ts'
import type { Step } from './testing/scripted-run.ts'
import { startWireServer, type WireServer } from './testing/wire-server.ts'

let release = () => {}
let held = Promise.resolve()

function hold(): void {
  held = new Promise((resolve) => {
    release = resolve
  })
}

function* script(prompt: Prompt): Generator<Step> {
  yield { say: 'thinking' }
  if (prompt === 'hold') yield { gate: held }
  if (prompt !== 'plain') yield { act: [{ path: 'One' }, { path: 'Two' }] }
  yield { say: 'closing' }
  yield { end: 'done' }
}

/** Looks again and again; the limit of the test ends what never comes about. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2))
}

const seqs = (events: readonly AnyEvent[]) => events.flatMap(({ seq }) => (seq === undefined ? [] : [seq]))
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

describe('a bad connection', () => {
  let server: WireServer
  let witan: Client
  let timing: FastTiming
  before(async () => {
    server = await startWireServer(script)
  })
  beforeEach(() => {
    timing = fastTiming()
    witan = createClient({ url: server.url, timing })
    server.seen.length = 0
  })
  after(() => server.close())

  const chatOf = () =>
    witan
      .conversation('root')
      .handle('One', () => 1)
      .handle('Two', () => 2)

  /** Posts of a run and streams that have come to the server. */
  const posts = () => server.seen.filter(({ url }) => url.endsWith('/runs')).length
  const streams = () => server.seen.filter(({ headers }) => headers.accept === 'text/event-stream').length

  async function messagesOf(id: string): Promise<number> {
    const { events } = await witan.conversations.events(id)
    return events.filter(({ type }) => type === 'message').length
  }

  for (const fault of ['request', 'reply'] as const) {
    it(`never doubles a message when the ${fault} of its post is lost`, async () => {
      const chat = chatOf()
      server.faults.post.push(fault)
      const result = await chat.run('plain')
      assert.equal(result.status, 'completed')
      assert.equal(await messagesOf(chat.id), 1)
      const keys = server.seen
        .filter(({ url }) => url.endsWith('/runs'))
        .map(({ headers }) => headers['idempotency-key'])
      assert.equal(keys.length, 2)
      assert.equal(new Set(keys).size, 1)
    })

    it(`never doubles an answer when the ${fault} of its post is lost`, async () => {
      const chat = chatOf()
      server.faults.post.push(null, fault)
      assert.equal((await chat.run('act')).status, 'completed')
      server.faults.post.push(null, fault)
      const stream = chat.stream('act')
      const events: AnyEvent[] = []
      for await (const event of stream) events.push(event)
      assert.equal((await stream.result()).status, 'completed')
      assert.deepEqual(seqs(events), upTo(14).slice(7))
    })
  }

  for (const how of ['run', 'stream'] as const)
    it(`waits as long as the server says while the first try of a ${how} is under way`, async () => {
      hold()
      const lost = new Promise<void>((resolve) => {
        const proxy: typeof fetch = async (...args) => {
          // The first post of a run is cut while the server still works on it.
          const isRun = String(args[0]).endsWith('/runs')
          if (isRun && posts() === 0) {
            const cut = new AbortController()
            const sent = fetch(args[0], { ...args[1], signal: cut.signal })
            await until(() => posts() === 1)
            cut.abort()
            await sent.catch(() => {})
            resolve()
            throw new TypeError('fetch failed', { cause: new Error('other side closed') })
          }
          return await fetch(...args)
        }
        witan = createClient({ url: server.url, timing, fetch: proxy })
      })
      const other = witan.conversation('root').handle('*', () => 1)
      const running = how === 'run' ? other.run('hold') : other.stream('hold').result()
      await lost
      await until(() => timing.pauses.includes(1000)) // Retry-After: 1 is kept
      release()
      assert.equal((await running).status, 'completed')
      assert.equal(await messagesOf(other.id), 1)
    })

  it('gives up after three tries, and names the address and the reason', async () => {
    const gone = await startWireServer(script)
    await gone.close()
    const client = createClient({ url: gone.url, timing })
    await assert.rejects(client.conversation('root').run('hello'), (error: unknown) => {
      assert.ok(error instanceof ClientError)
      assert.equal(error.code, 'SERVER_UNREACHABLE')
      assert.ok(error.message.includes(`${gone.url}/api/v1/conversations`))
      assert.match(error.message, /ECONNREFUSED/)
      return true
    })
    assert.deepEqual(timing.pauses, [250, 500])
    await assert.rejects(client.health(), { code: 'SERVER_UNREACHABLE' })
    assert.equal(await witan.health(), true)
  })

  it('follows the run where a server that stops gives only its id', async () => {
    const chat = chatOf()
    server.faults.post.push('stop', 'stop')
    assert.equal((await chat.run('act')).text, 'done')
    server.faults.post.push('stop', 'stop')
    const stream = chat.stream('act')
    const events: AnyEvent[] = []
    for await (const event of stream) events.push(event)
    assert.deepEqual(seqs(events), upTo(14).slice(7))
  })

  it('waits for a server that starts again while it follows a run', async () => {
    let failing = 0
    const away: typeof fetch = async (...args) => {
      if (failing > 0) {
        failing -= 1
        throw new TypeError('fetch failed')
      }
      const response = await fetch(...args)
      if (response.status === 202) failing = 9
      return response
    }
    const client = createClient({ url: server.url, timing, fetch: away })
    server.faults.post.push('stop')
    const chat = client.conversation('root').handle('*', () => 1)
    assert.equal((await chat.run('act')).text, 'done')
    assert.equal(failing, 0)
    failing = Number.POSITIVE_INFINITY
    await assert.rejects(chat.resume(), { code: 'SERVER_UNREACHABLE' })
  })

  it('streams every event once, wherever the stream of the run is cut [I2]', async () => {
    for (let cut = 0; cut <= 7; cut += 1) {
      for (const second of [null, 0, 1, 2, 'overlap' as const]) {
        const chat = chatOf()
        server.faults.post.push(cut)
        server.faults.events.push(second, second)
        const stream = chat.stream('act')
        const events: AnyEvent[] = []
        for await (const event of stream) events.push(event)
        const result = await stream.result()
        server.faults.post.length = 0
        server.faults.events.length = 0
        assert.equal(result.text, 'done', `cut after ${cut}, then ${second}`)
        assert.deepEqual(seqs(events), upTo(7), `cut after ${cut}, then ${second}`)
      }
    }
  })

  it('follows events over lost connections with Last-Event-ID, without gap or repeat', async () => {
    const chat = chatOf()
    await chat.run('act')
    server.faults.events.push(2, 'proxy', 0, 3, 'overlap')
    const stop = new AbortController()
    const events: AnyEvent[] = []
    for await (const event of witan.events(chat.id, { signal: stop.signal })) {
      events.push(event)
      if (events.length === 7) stop.abort()
    }
    assert.deepEqual(seqs(events), upTo(7))
    const asked = server.seen.filter(({ headers }) => headers.accept === 'text/event-stream')
    assert.deepEqual(
      asked.map(({ url, headers }) => [url.split('?')[1] ?? '', headers['last-event-id']]),
      [
        ['from=0', undefined],
        ['', '2'],
        ['', '2'],
        ['', '2'],
        ['', '5'],
      ],
    )
    assert.deepEqual(timing.pauses, [250, 500, 1000, 250])
  })

  it('follows a live conversation after a seq, and ends when it is deleted', async () => {
    const chat = chatOf()
    await chat.run('plain')
    const types: string[] = []
    const reading = (async () => {
      for await (const event of witan.events(chat.id, { from: 3, verbose: true })) {
        types.push(event.type)
        if (event.type === 'end') await witan.conversations.delete(chat.id)
      }
    })()
    await until(() => streams() === 1)
    await chat.run('plain')
    await reading
    assert.deepEqual(types, ['message', 'start', 'delta', 'delta', 'end'])
    await assert.rejects(witan.events(chat.id).next(), { code: 'NOT_FOUND' })
  })

  it('takes a stream without a byte for lost, and closes it', async () => {
    const chat = chatOf()
    await chat.run('plain')
    const quick = createClient({ url: server.url, timing: fastTiming(100) })
    const stop = new AbortController()
    const reading = quick.events(chat.id, { from: 3, signal: stop.signal }).next()
    server.faults.events.push(null, 'mute')
    await until(() => streams() >= 3)
    stop.abort()
    assert.equal((await reading).done, true)
  })

  it('ends everything when the client is closed', async () => {
    hold()
    const chat = chatOf()
    const running = chat.run('hold')
    await until(() => posts() === 1)
    const following = witan.events(chat.id, { from: 1 })
    await following.next()
    const next = following.next()
    witan.close()
    await assert.rejects(running, { code: 'CLIENT_CLOSED' })
    assert.equal((await next).done, true)
    await assert.rejects(witan.agents.list(), { code: 'CLIENT_CLOSED' })
    release()
  })
})
