/** Connections to other servers: used again where that can do no harm, and never in place of a check. */
import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { createSafeFetch, type SafeFetch } from './safe-fetch.ts'
import { requestRemote } from './transport.ts'
import { endpointAt } from '../../../../test/support/remote-call.ts'

describe('connections to another server', () => {
  let answer: RequestListener
  let out: SafeFetch
  let sockets: Socket[]
  let server: ReturnType<typeof createServer>
  beforeEach(async () => {
    sockets = []
    answer = (_, reply) => reply.end('{"result":{}}')
    server = createServer((request, reply) => request.resume().on('end', () => answer(request, reply)))
    server.on('connection', (socket) => sockets.push(socket))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    out = createSafeFetch({ resolve: { 'b.test': `http://127.0.0.1:${(server.address() as AddressInfo).port}` } })
  })
  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })

  /** Sends a request and reads its frames, all or only the first. */
  async function ask(method: 'get' | 'stream', { isIdempotent = false, isLeft = false } = {}): Promise<void> {
    const { signal } = new AbortController()
    const request = { method, params: {}, bearer: null, extensions: [], signal } as const
    for await (const _ of requestRemote(out.open, endpointAt(isIdempotent), request)) if (isLeft) return
  }

  test('one is enough for documents, for reading tasks, and for messages that may be sent again', async () => {
    await out.json('https://b.test/card')
    await out.json('https://b.test/keys')
    await ask('get')
    await ask('stream', { isIdempotent: true })
    assert.equal(sockets.length, 1)
  })

  test('[D1] a message that may arrive once alone has its own, and none that may just be closed', async () => {
    await ask('get')
    await ask('stream')
    await ask('stream')
    assert.equal(sockets.length, 3)
  })

  test('[D1] where a kept one is closed just then, the request is sent again, once', async () => {
    await ask('get')
    let asked = 0
    answer = (request, reply) => {
      asked += 1
      if (request.socket === sockets[0]) request.socket.destroy()
      else reply.end('{"result":{}}')
    }
    await ask('get')
    assert.deepEqual([asked, sockets.length], [2, 2])
    answer = (request) => request.socket.destroy()
    await assert.rejects(ask('get'), { name: 'UnreachableError' })
  })

  const frame = 'data: {"result":{}}\n\n'
  test('a stream that is left at its last frame leaves its connection to the next', async () => {
    answer = (_, reply) => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' }).write(frame)
      setImmediate(() => reply.end())
    }
    for (let time = 0; time < 3; time += 1) {
      await ask('stream', { isIdempotent: true, isLeft: true })
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    assert.equal(sockets.length, 1)
  })

  for (const [what, more] of Object.entries({ 'says nothing more': '', floods: frame.repeat(10_000) }))
    test(`a stream that is left and ${what} is closed`, async () => {
      answer = (_, reply) => {
        reply.writeHead(200, { 'content-type': 'text/event-stream' }).write(frame)
        const again = (): void => {
          if (more !== '' && !reply.destroyed && reply.write(more)) setImmediate(again)
          else reply.once('drain', again)
        }
        again()
      }
      await ask('stream', { isIdempotent: true, isLeft: true })
      await new Promise((resolve) => sockets[0]?.once('close', resolve))
    })

  test('[D21] a name that leads to a private address is refused, whatever is open', async () => {
    await out.json('https://b.test/card')
    const { port } = server.address() as AddressInfo
    for (const url of [`https://127.0.0.1:${port}/`, `https://localhost:${port}/`])
      await assert.rejects(out.json(url), { code: 'URL_NOT_PUBLIC' })
    assert.equal(sockets.length, 1)
  })
})
