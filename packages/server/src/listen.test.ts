/** The socket: taken ports, broken requests, stuck readers, and the end. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { isWitanError } from '@witan/protocol'
import { Hono } from 'hono'
import type { AppEnv } from './app-options.ts'
import { type Listening, listen } from './listen.ts'
import { createLog } from './log.ts'
import { defaultLimits, encodeFrame, type StreamEnd, streamResponse } from './sse.ts'

const log = createLog('silent')
const host = '127.0.0.1'

async function withServer(app: Hono<AppEnv>, act: (server: Listening) => Promise<void>): Promise<void> {
  const server = await listen(app, { host, port: 0, log })
  try {
    await act(server)
  } finally {
    await server.close(100)
  }
}

async function ask(port: number, request: string): Promise<{ socket: Socket; answer: string }> {
  const socket = connect(port, host)
  socket.write(request)
  const [data] = await once(socket, 'data')
  return { socket, answer: String(data) }
}

test('a taken port and a foreign address are named', async () => {
  await withServer(new Hono<AppEnv>(), async ({ port }) => {
    const isNamed = (word: string) => (error: unknown) =>
      isWitanError(error) && error.code === 'CONFIG_INVALID' && error.message.includes(word) && error.hint !== null
    await assert.rejects(listen(new Hono<AppEnv>(), { host, port, log }), isNamed(`Port ${port} of ${host} is in use`))
    await assert.rejects(listen(new Hono<AppEnv>(), { host: '203.0.113.7', port: 0, log }), isNamed('203.0.113.7'))
  })
})

test('a request that makes no URL is a problem too', async () => {
  await withServer(new Hono<AppEnv>(), async ({ port }) => {
    const cases = [
      ['GET / HTTP/1.1\r\nHost: a b@c\r\nConnection: close\r\n\r\n', 403, 'HOST_NOT_ALLOWED'],
      ['GET / HTTP/1.0\r\n\r\n', 403, 'HOST_NOT_ALLOWED'],
      ['GET /\\evil HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n', 404, 'NOT_FOUND'],
    ] as const
    for (const [request, status, code] of cases) {
      const { socket, answer } = await ask(port, request)
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `))
      assert.match(answer, /content-type: application\/problem\+json/i)
      assert.ok(answer.includes(code), answer)
      socket.destroy()
    }
  })
})

function firehose(limits: { stallMs: number; minBytes: number }): {
  app: Hono<AppEnv>
  sent: () => number
  ended: Promise<StreamEnd>
} {
  const { promise: ended, resolve: onEnd } = Promise.withResolvers<StreamEnd>()
  const frame = encodeFrame({ data: 'x'.repeat(10_000) })
  let sent = 0
  async function* source(): AsyncGenerator<string> {
    for (;;) {
      sent += frame.length
      yield frame
    }
  }
  const stop = new AbortController().signal
  const app = new Hono<AppEnv>()
  app.get('/events', (c) => {
    const destroy = (): void => c.env.outgoing?.destroy()
    return streamResponse(source, { stop, onEnd, destroy, limits: { ...defaultLimits, ...limits } })
  })
  app.get('/', (c) => c.text('healthy'))
  return { app, sent: () => sent, ended }
}

test('a reader that stops reading holds back its source, is ended, and disturbs nobody', async () => {
  const { app, sent, ended } = firehose({ stallMs: 100, minBytes: 64_000 })
  await withServer(app, async ({ port }) => {
    const socket = connect(port, host)
    socket.write('GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
    await once(socket, 'readable')
    socket.pause()
    assert.equal(await (await fetch(`http://${host}:${port}/`)).text(), 'healthy')
    assert.equal(await ended, 'slow')
    const before = sent()
    assert.equal(await (await fetch(`http://${host}:${port}/`)).text(), 'healthy')
    assert.equal(sent(), before, 'the source has ended')
    socket.destroy()
  })
})

test('a reader that leaves ends its source', async () => {
  const { app, ended } = firehose({ stallMs: 60_000, minBytes: 0 })
  await withServer(app, async ({ port }) => {
    const { socket, answer } = await ask(port, 'GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
    assert.match(answer, /content-type: text\/event-stream\r\n/i)
    assert.match(answer, /x-accel-buffering: no\r\n/i)
    socket.destroy()
    assert.equal(await ended, 'disconnected')
  })
})

test('closing cuts what is not over in time', async () => {
  const app = new Hono<AppEnv>().get('/', () => new Promise<Response>(() => undefined))
  const server = await listen(app, { host, port: 0, log })
  const cut = assert.rejects(fetch(`http://${host}:${server.port}/`))
  const waiting = connect(server.port, host)
  waiting.on('error', () => undefined)
  await once(waiting, 'connect')
  const started = performance.now()
  await server.close(50)
  assert.ok(performance.now() - started < 10_000)
  await cut
  waiting.destroy()
})
