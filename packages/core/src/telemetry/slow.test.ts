/** A request has a time limit as a whole, whatever its server does with the bytes. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { Mlflow } from './mlflow.ts'
import { sendOtlp } from './otlp.ts'
import type { Parcel } from './parcel-queue.ts'

async function serve(treat: (socket: Socket) => void) {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    treat(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { url, sockets, [Symbol.dispose]: close }
}

/** Writes these bytes one by one, and `x` for ever after. */
function drip(socket: Socket, bytes: string): void {
  let at = 0
  const timer = setInterval(() => socket.write(bytes[at++] ?? 'x'), 5)
  socket.on('close', () => clearInterval(timer))
}

const treatments: Readonly<Record<string, (socket: Socket) => void>> = {
  'never answers': (socket) => void socket.resume(),
  'drips its answer': (socket) => drip(socket.resume(), 'HTTP/1.1 200 OK\r\nx-drip: '),
  'reads a byte at a time': (socket) => {
    socket.pause()
    const timer = setInterval(() => void socket.read(1), 5)
    socket.on('close', () => clearInterval(timer))
  },
}

const never = new AbortController().signal
const timeoutMs = 300
const parcels: readonly Parcel[] = [
  { data: new Uint8Array(4_000_000), count: 1, bytes: 4_000_000, group: '', summary: null, files: [] },
]

for (const [name, treat] of Object.entries(treatments))
  test(`[E80] a request to a server that ${name} fails in time, and its connection is closed`, async () => {
    using server = await serve(treat)
    const target = { url: server.url, headers: {}, timeoutMs, resource: [] }
    const mlflow = new Mlflow({ ...target, experiment: 'witan', runs: 'none' })
    for (const send of [
      () => sendOtlp({ ...target, protocol: 'http/protobuf', leftOut: () => {} }, parcels, never),
      () => mlflow.send(parcels, never),
    ]) {
      const before = performance.now()
      const { kind } = await send()
      assert.equal(kind, 'failed')
      assert.ok(performance.now() - before < 10 * timeoutMs)
    }
    const open = server.sockets.filter(({ destroyed }) => !destroyed)
    // A reset is an end, too.
    await Promise.all(open.map((socket) => new Promise((resolve) => socket.resume().once('close', resolve))))
    assert.ok(server.sockets.length >= 1)
  })
