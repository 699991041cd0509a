/** A played A2A server that is reached over HTTP, with the documents by which its agents are found. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { PlayedRemote } from './played-remote.ts'

/** Its URL stands in `federation.resolve` for its domain. */
export interface PlayedServer {
  readonly url: string
  /** The requests that reached it: method and path. */
  readonly seen: readonly string[]
  close(): Promise<void>
}

/** Serves a played agent at `@<any local part>@<domain>`. */
export async function servePlayed(remote: PlayedRemote, domain: string): Promise<PlayedServer> {
  const seen: string[] = []
  const documents = (path: string): object | null => {
    const local = /acct:([^@]+)@/.exec(path)?.[1] ?? /agent-card\/([^/]+)$/.exec(path)?.[1] ?? 'docs'
    const address = `@${local}@${domain}`
    if (path.startsWith('/.well-known/webfinger'))
      return {
        subject: `acct:${local}@${domain}`,
        links: [
          {
            rel: 'https://mentionable.dev/ns/rel/agent-card',
            type: 'application/json',
            href: `https://${domain}/.well-known/agent-card/${local}`,
          },
        ],
      }
    if (path.startsWith('/.well-known/agent-card/'))
      return { address, name: local, a2a: { endpoint: `https://${domain}/a2a` } }
    if (path === '/a2a/.well-known/agent-card.json')
      return {
        name: local,
        supportedInterfaces: [{ url: `https://${domain}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
        capabilities: { streaming: true, extensions: [{ uri: 'https://witan.dev/ns/a2a/idempotent/v1' }] },
      }
    return null
  }
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    seen.push(`${request.method} ${path}`)
    void (async () => {
      if (request.method === 'GET') {
        const found = documents(path)
        response.writeHead(found === null ? 404 : 200, { 'content-type': 'application/json' })
        return response.end(JSON.stringify(found ?? {}))
      }
      const pieces: Buffer[] = []
      for await (const piece of request) pieces.push(piece as Buffer)
      const body = Buffer.concat(pieces).toString()
      const { signal } = new AbortController()
      const reply = await remote.fetch(path, { method: 'POST', headers: {}, body, signal, isRepeatable: false })
      response.writeHead(reply.status, { 'content-type': reply.header('content-type') ?? '' })
      for await (const piece of reply.body) response.write(piece)
      return response.end()
    })().catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () => new Promise((done) => server.close(() => done())),
  }
}
