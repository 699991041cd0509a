/** A port of loopback that nobody listens on, for a server whose address must be known before it starts. */
import { createServer, type AddressInfo } from 'node:net'

/** Finds one. Another program may take it before it is used. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  const { port } = server.address() as AddressInfo
  await new Promise((done) => server.close(done))
  return port
}
