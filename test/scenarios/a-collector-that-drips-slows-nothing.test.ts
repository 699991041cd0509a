/** A collector may take a connection and give bytes back one at a time for ever, or read ours that slowly: a request has a time limit as a whole. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { createRuntime, defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

/** A server that does with each connection what it is told; it counts them, and those that are open. */
async function withServer(treat: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  let taken = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    taken += 1
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    treat(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken: () => taken,
    open: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Writes a byte every few ms, for ever. */
function drip(socket: Socket, head: string): void {
  let at = 0
  const timer = setInterval(() => {
    socket.write(head[at] ?? 'x')
    at += 1
  }, 5)
  socket.on('close', () => clearInterval(timer))
}

const treatments: Readonly<Record<string, (socket: Socket) => void>> = {
  'never answers': (socket) => void socket.resume(),
  'drips the head of its answer': (socket) => drip(socket.resume(), `HTTP/1.1 200 OK\r\nx-drip: ${'d'.repeat(60_000)}`),
  'drips the body of its answer': (socket) => {
    socket.resume()
    socket.write('HTTP/1.1 503 Busy\r\ncontent-length: 9000000\r\n\r\n')
    drip(socket, '')
  },
  'reads a byte at a time': (socket) => {
    socket.pause()
    const timer = setInterval(() => void socket.read(1), 5)
    socket.on('close', () => clearInterval(timer))
  },
  'closes at once': (socket) => void socket.resetAndDestroy(),
}

// What takes time here is waiting.
describe('a collector', { concurrency: true }, () => {
  for (const [name, treat] of Object.entries(treatments))
    test(`[E80] that ${name} holds up no run and no end`, async () => {
      const servers = [await withServer(treat), await withServer(treat)]
      const [otlp, mlflow] = servers.map(({ url }) => ({ url, content: 'full' as const, maxQueue: 64 }))
      const model = scriptedModel(() => 'What a long answer this is. '.repeat(2_000), { id: 'script/greeter' })
      const greeter = defineAgent({ id: 'greeter', instructions: 'Greet.', model })
      const runtime = createRuntime({
        agents: [greeter],
        telemetry: { ...(otlp && { otlp }), ...(mlflow && { mlflow }) },
        report: () => {},
      })
      const before = performance.now()
      for (let run = 0; run < 100; run += 1) {
        const { status } = await runtime.conversation('greeter').run('Hi')
        assert.equal(status, 'completed')
        // The requests go out while runs go on.
        if (run === 50) await runtime.flushTraces(700)
      }
      assert.ok(performance.now() - before < 10_000)
      const closing = performance.now()
      await runtime.close({ tracesWithinMs: 100 })
      assert.ok(performance.now() - closing < 5_000)
      for (const server of servers) {
        assert.ok(server.taken() > 0, 'it was asked')
        await server.close()
      }
    })
})
