/** A proxy in front of a server of this machine that breaks a connection after so many bytes of the reply. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

interface CuttingProxy {
  readonly url: string
  /** The next connection is cut after so many bytes of its reply; `reset` breaks it off, otherwise it ends as if in order. */
  cut(after: number, how: 'reset' | 'end'): void
  close(): Promise<void>
}

/** Starts it on loopback. A connection for which no cut was asked is left whole. */
export async function cuttingProxy(port: number): Promise<CuttingProxy> {
  let next: { readonly after: number; readonly how: 'reset' | 'end' } | null = null
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const cut = next
    next = null
    const upstream = connect(port, '127.0.0.1')
    let passed = 0
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => sockets.delete(socket))
    }
    client.pipe(upstream)
    const leave = () => {
      upstream.destroy()
      if (cut?.how === 'reset') client.resetAndDestroy()
      else client.end()
    }
    upstream.on('data', (bytes) => {
      const most = cut === null ? bytes.length : cut.after - passed
      passed += bytes.length
      client.write(bytes.subarray(0, most), () => {
        if (most <= bytes.length && cut !== null) leave()
      })
    })
    upstream.on('end', () => client.end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut(after, how) {
      next = { after, how }
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
