/** Tokens of other servers: one good one, and the same with each of its parts changed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWitanError } from '@witan/protocol'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { checkCarried } from './credential.ts'
import { createIssuerKeySets } from './issuer-key-sets.ts'
import { createRemoteTokens } from './remote-token.ts'

const at = Date.parse('2026-11-28T12:00:00Z')
const seconds = at / 1000
const audience = '@docs@bots.example'

async function keyNamed(kid: string, alg = 'EdDSA') {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

const good = await keyNamed('k1')
const evil = await keyNamed('k1')
const rsa = await keyNamed('r1', 'RS256')
const elliptic = await keyNamed('e1', 'ES256')

interface Made {
  header?: Record<string, unknown>
  claims?: Record<string, unknown>
  key?: { readonly kid: string; readonly privateKey: Parameters<SignJWT['sign']>[0] }
  without?: string
}

const claims = {
  ...{ iss: 'https://a.test', sub: '@a@a.test', aud: audience, iat: seconds, exp: seconds + 300, jti: 'm1' },
  witan_chain: { hop: 1, max_hops: 4, root: 'r', path: ['@a@a.test'] },
}

async function token({ header = {}, claims: more = {}, key = good, without }: Made = {}): Promise<string> {
  const payload: Record<string, unknown> = { ...claims, ...more }
  if (without !== undefined) delete payload[without]
  const named = { alg: 'EdDSA', kid: key.kid, ...header }
  return new SignJWT(payload).setProtectedHeader(named).sign(key.privateKey)
}

function tokens(sets: Record<string, unknown> = { 'https://a.test': { keys: [good.jwk, rsa.jwk, elliptic.jwk] } }) {
  const asked: string[] = []
  const keys = createIssuerKeySets(
    async (url) => {
      asked.push(url)
      const set = sets[url.replace('/.well-known/jwks.json', '')]
      if (set === undefined) throw new Error('nobody there')
      return set
    },
    () => at,
  )
  const verify = createRemoteTokens(keys, () => at).verify
  return {
    asked,
    /** For a message, or for a method without one. */
    async verify(given: string, messageId: string | null = 'm1') {
      const proven = await verify(given, (one) => one === audience)
      checkCarried({ messageId: proven.messageId, isAnonymous: false }, { messageId, isHub: false })
      return proven
    },
  }
}

const isRefused = (error: unknown) => isWitanError(error) && error.code === 'UNAUTHENTICATED'

test('[M03] a token that is signed for this address and message names its agent and its chain', async () => {
  const { verify, asked } = tokens()
  for (const alg of ['EdDSA', 'Ed25519']) {
    const { address, chain } = await verify(await token({ header: { alg } }))
    assert.deepEqual([address.text, chain], ['@a@a.test', claims.witan_chain])
  }
  assert.deepEqual(asked, ['https://a.test/.well-known/jwks.json'])
  assert.equal((await verify(await token({ claims: { jti: 'any' } }), null)).address.domain, 'a.test')
  for (const claim of [{ iat: seconds + 59 }, { iat: seconds - 600, exp: seconds }, { exp: seconds - 59 }])
    assert.ok(await verify(await token({ claims: claim })), JSON.stringify(claim))
})

test('[M03] a token with any part changed is refused, in words that repeat nothing of it', async () => {
  const table: Record<string, Made> = {
    'another key under the same id': { key: evil },
    'a key that the issuer does not have': { key: { ...good, kid: 'k2' } },
    'no key id': { header: { kid: undefined } },
    'a key id that is none': { header: { kid: 7 } },
    RS256: { header: { alg: 'RS256' }, key: rsa },
    ES256: { header: { alg: 'ES256' }, key: elliptic },
    'another issuer': { claims: { iss: 'https://b.test' } },
    'an issuer over plain HTTP': { claims: { iss: 'http://a.test' } },
    'an issuer with a path': { claims: { iss: 'https://a.test/' } },
    'an issuer with a port': { claims: { iss: 'https://a.test:8443' } },
    'an agent of another domain': { claims: { sub: '@a@b.test' } },
    'both of a server that is away': { claims: { sub: '@a@away.test', iss: 'https://away.test' } },
    'a subject that is no address': { claims: { sub: 'a@localhost' } },
    'a subject in another form': { claims: { sub: 'a@a.test' } },
    'a subject in another case': { claims: { sub: '@A@a.test' } },
    'a person of ours': { claims: { sub: 'user:anna' } },
    'another audience': { claims: { aud: '@other@bots.example' } },
    'a list of audiences': { claims: { aud: [audience] } },
    'the audience in another case': { claims: { aud: '@DOCS@bots.example' } },
    'another message': { claims: { jti: 'm2' } },
    'an empty message id': { claims: { jti: '' } },
    'a message id that is no text': { claims: { jti: 1 } },
    'expired a minute ago': { claims: { iat: seconds - 300, exp: seconds - 61 } },
    'from the future': { claims: { iat: seconds + 61, exp: seconds + 300 } },
    'living longer than ten minutes': { claims: { exp: seconds + 601 } },
    'living for ever': { claims: { exp: Number.MAX_SAFE_INTEGER } },
    'an end that is no number': { claims: { exp: 'never' } },
    'not valid yet': { claims: { nbf: seconds + 120 } },
    ...Object.fromEntries(
      ['iss', 'sub', 'aud', 'iat', 'exp', 'jti'].map((without) => [`without ${without}`, { without }]),
    ),
  }
  for (const [name, made] of Object.entries(table)) {
    const given = await token(made)
    await assert.rejects(
      tokens().verify(given),
      (error: Error) => {
        assert.ok(isRefused(error), `${name}: ${error.message}`)
        assert.ok(!error.message.includes(given) && !error.message.includes('m2'), name)
        return true
      },
      name,
    )
  }
})

test('[M03] what is no token is refused before any key is asked for', async () => {
  const made = await token()
  const [head = '', body = '', signature = ''] = made.split('.')
  const none = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url')
  const hmac = Buffer.from(JSON.stringify({ alg: 'HS256', kid: 'k1' })).toString('base64url')
  const proto = Buffer.from('{"__proto__":{"iss":"https://a.test","sub":"@a@a.test"}}').toString('base64url')
  const bad = ['', '.', '..', 'x', 'a.b.c', `${head}.${body}`, `${made}.${signature}`, `${head}.${proto}.${signature}`]
  for (const one of [...bad, `${head}.${'A'.repeat(40_000)}.${signature}`]) {
    const { verify, asked } = tokens()
    await assert.rejects(verify(one), isRefused, one.slice(0, 40))
    assert.deepEqual(asked, [])
  }
  for (const one of [
    `${none}.${body}.`,
    `${hmac}.${body}.${signature}`,
    `${head}.${body}.${'A'.repeat(86)}`,
    `${head}.${body}.`,
  ])
    await assert.rejects(tokens().verify(one), isRefused, one.slice(0, 40))
})

test('[M03] a server is asked for its keys once, again for a key that is new, and left alone for a while after that', async () => {
  const sets: Record<string, unknown> = { 'https://a.test': { keys: [good.jwk] } }
  const { verify, asked } = tokens(sets)
  const fresh = await keyNamed('k9')
  await verify(await token())
  sets['https://a.test'] = { keys: [good.jwk, fresh.jwk] }
  assert.ok(await verify(await token({ key: fresh })))
  assert.equal(asked.length, 2)
  for (let count = 0; count < 5; count += 1)
    await assert.rejects(verify(await token({ key: { ...good, kid: `none${count}` } })), isRefused)
  assert.equal(asked.length, 2, 'a flood of unknown keys asks nobody')
  await Promise.all([verify(await token()), verify(await token({ key: fresh }))])
  assert.equal(asked.length, 2)
})

test('[M03] sets of keys that are none let nobody in', async () => {
  const many = { keys: Array.from({ length: 101 }, () => good.jwk) }
  for (const set of [
    null,
    7,
    [],
    {},
    { keys: 'x' },
    { keys: [null, 7, {}] },
    { keys: [{ ...good.jwk, crv: 'Ed448' }] },
    many,
  ])
    await assert.rejects(
      tokens({ 'https://a.test': set }).verify(await token()),
      isRefused,
      JSON.stringify(set)?.slice(0, 60),
    )
})
