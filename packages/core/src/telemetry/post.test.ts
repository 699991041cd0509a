/** How a request is posted: over connections that are used again, and whatever its server answers. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { test } from 'node:test'
import { post } from './post.ts'

const never = new AbortController().signal

/** A server on loopback, its connections, and the bodies that it got. */
async function serve(answer: RequestListener) {
  const connections: Socket[] = []
  const bodies: string[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      bodies.push(`${request.headers['content-type']} ${Buffer.concat(parts)}`)
      answer(request, response)
    })
  })
  server.on('connection', (socket) => connections.push(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`
  const send = (body: string | Uint8Array, signal = never) =>
    post({ url, headers: { 'content-type': 'x/y' }, body }, signal)
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { connections, bodies, send, [Symbol.dispose]: close }
}

test('[E80] requests use one connection again, and the head of an answer is given', async () => {
  using server = await serve((_, response) => response.writeHead(503, { 'retry-after': '7' }).end('busy'))
  for (const body of ['Grüße', new TextEncoder().encode('two')]) {
    const { status, header } = await server.send(body)
    assert.deepEqual([status, header('retry-after'), header('x-none')], [503, '7', null])
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.deepEqual(server.bodies, ['x/y Grüße', 'x/y two'])
  assert.equal(server.connections.length, 1)
})

test('[E80] a connection that its server has closed meanwhile costs no failure', async () => {
  let isStale = false
  using server = await serve((request, response) => {
    if (isStale) request.socket.resetAndDestroy()
    else response.end()
    isStale = false
  })
  await server.send('one')
  await new Promise((resolve) => setTimeout(resolve, 20))
  isStale = true
  assert.equal((await server.send('two')).status, 200)
  assert.deepEqual(server.bodies, ['x/y one', 'x/y two', 'x/y two'])
  assert.equal(server.connections.length, 2)
})

test('[E80] the body of an answer is waited for by nobody, and its connection is closed if it does not end', async () => {
  using server = await serve((_, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('x'.repeat(40_000)), 1)
    response.on('close', () => clearInterval(timer))
  })
  assert.equal((await server.send('one')).status, 200)
  await once(server.connections[0] as Socket, 'close')
})

test('[E80] a server that cannot be reached is an error with a code, and so is an abort', async () => {
  await assert.rejects(post({ url: 'http://127.0.0.1:9/x', headers: {}, body: '' }, never), { code: 'ECONNREFUSED' })
  const stop = new AbortController()
  using server = await serve(() => stop.abort())
  await assert.rejects(server.send('one', stop.signal), { code: 'ABORT_ERR' })
})
