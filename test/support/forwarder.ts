/** A fixed address in front of a server that is killed and started again on another port. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

interface Forwarder {
  readonly url: string
  /** Where connections go from now on; null: they are refused. */
  lead(to: string | null): void
  /** Connections of now on wait until `release`; those that stand are closed, so that no request takes one. */
  hold(): void
  release(): void
  /** Resolves when a connection waits. */
  held(): Promise<void>
  close(): Promise<void>
}

/** Starts it on loopback. */
export async function createForwarder(): Promise<Forwarder> {
  let target: string | null = null
  let gate: PromiseWithResolvers<void> | null = null
  let waiting = Promise.withResolvers<void>()
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer(async (client) => {
    keep(client)
    if (gate !== null) {
      waiting.resolve()
      await gate.promise
    }
    if (target === null || client.destroyed) return void client.destroy()
    const { port } = new URL(target)
    const upstream = connect(Number(port), '127.0.0.1')
    keep(upstream)
    client.pipe(upstream).pipe(client)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lead(to) {
      target = to
    },
    hold() {
      waiting = Promise.withResolvers<void>()
      gate = Promise.withResolvers<void>()
      for (const socket of sockets) socket.destroy()
    },
    release() {
      gate?.resolve()
      gate = null
    },
    held: () => waiting.promise,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
