/** A server of another domain, as far as ours sees one: the keys that it publishes, and the tokens and evidence that it signs for its agents. */
import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { signedEvidence } from '../../support/evidence.ts'

export interface RemoteServer {
  readonly url: string
  readonly domain: string
  /** The paths that it was asked for. */
  readonly asked: string[]
  /** A token for a call; claims and header may be changed, and `undefined` leaves one out. */
  token(claims: Record<string, unknown>, header?: Record<string, unknown>): string
  /** Evidence about its agent `a`, good for a minute from now on; the content may be changed. */
  evidence(content: Record<string, unknown>): Record<string, unknown>
  close(): Promise<void>
}

interface Pair {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Starts it on loopback, with one Ed25519 key. */
export async function createRemoteServer(domain: string): Promise<RemoteServer> {
  const { privateKey, publicKey }: Pair = generateKeyPairSync('ed25519')
  const kid = randomUUID()
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid, alg: 'EdDSA', use: 'sig' }
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const isKeys = request.url === '/.well-known/jwks.json'
    response.writeHead(isKeys ? 200 : 404, { 'content-type': 'application/json' })
    response.end(isKeys ? JSON.stringify({ keys: [jwk] }) : '{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    domain,
    asked,
    token(claims, header = {}) {
      const now = Math.floor(Date.now() / 1000)
      const standard = { iss: `https://${domain}`, sub: `@a@${domain}`, iat: now, exp: now + 300, jti: randomUUID() }
      const text = `${encoded({ alg: 'EdDSA', kid, ...header })}.${encoded({ ...standard, ...claims })}`
      return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`
    },
    evidence(content) {
      const iso = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
      const standard = {
        subject: `@a@${domain}`,
        issuer: `https://${domain}`,
        method: 'urn:x:agent',
        assurance: 'agent',
      }
      const times = { issued_at: iso(0), expires_at: iso(60) }
      return signedEvidence({ ...standard, ...times, ...content }, { key: privateKey, proof: { kid } })
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
