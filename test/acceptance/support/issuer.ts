/** An issuer of tokens on loopback: publishes public keys, signs, takes keys back, and can hang. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, exportSPKI, generateKeyPair, type JWK, SignJWT, UnsecuredJWT } from 'jose'

type Body = Record<string, unknown>

export interface Issuer {
  readonly url: string
  /** How often the keys were asked for. */
  asked(): number
  /** Whether it answers. */
  state: 'well' | 'hangs' | 'fails'
  /** A token of this issuer for `witan` that ends in ten minutes; `body` changes its claims, undefined takes one out. */
  token(body?: Body, header?: Body): Promise<string>
  /** The same unsigned, and signed with the public key as a shared secret. */
  unsigned(body?: Body): string
  confused(body?: Body): Promise<string>
  /** The next tokens are signed with a new key; the old one is published no more. */
  rotate(): Promise<void>
  close(): Promise<void>
}

/** Starts an issuer with one key. */
export async function createIssuer(): Promise<Issuer> {
  let count = 0
  let asked = 0
  let pair = await generateKeyPair('ES256', { extractable: true })
  let published: JWK[] = []
  const publish = async () => {
    count += 1
    published = [{ ...(await exportJWK(pair.publicKey)), kid: `k${count}`, alg: 'ES256', use: 'sig' }]
  }
  await publish()
  const server = createServer((request, response) => {
    asked += 1
    if (issuer.state === 'hangs') return
    const isThere = request.url === '/.well-known/jwks.json' && issuer.state === 'well'
    response.writeHead(isThere ? 200 : 500, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ keys: published }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const claims = (body: Body) => ({ iss: url, aud: 'witan', exp: Date.now() / 1000 + 600, ...body })
  const issuer: Issuer = {
    url,
    asked: () => asked,
    state: 'well',
    token: (body = {}, header = {}) =>
      new SignJWT(claims(body)).setProtectedHeader({ alg: 'ES256', kid: `k${count}`, ...header }).sign(pair.privateKey),
    unsigned: (body = {}) => new UnsecuredJWT(claims(body)).encode(),
    confused: async (body = {}) =>
      new SignJWT(claims(body))
        .setProtectedHeader({ alg: 'HS256', kid: `k${count}` })
        .sign(new TextEncoder().encode(await exportSPKI(pair.publicKey))),
    async rotate() {
      pair = await generateKeyPair('ES256', { extractable: true })
      await publish()
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return issuer
}
