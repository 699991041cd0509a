/** What a call to another server says of itself: its token, and the chain that it belongs to. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentChain } from '@witan/protocol/entries'
import { createPublicKey, verify } from 'node:crypto'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { memoryStore } from '../store/drivers/memory.ts'
import type { Caller } from '../tool/tool.ts'
import { createCredentials } from './outgoing.ts'
import { createOwnKeys } from './own-keys.ts'

const store = memoryStore()
await store.open()
const keys = createOwnKeys(store)
const at = Date.UTC(2026, 0, 1)
const reissue = async () => []
const maySend = () => true
const options = {
  keys,
  maySend,
  domainOf: () => 'a.test',
  maxHops: 4,
  now: () => at,
  reissue,
  variables: { TRAVEL: 'secret' },
}
const sign = createCredentials(options)
const edge = {
  name: 'docs',
  address: '@docs@b.test',
  description: '',
  blocking: 'always',
  history: 'agent',
  pin: null,
} as const
const card = { ...edge, address: undefined, card: 'https://travel.test/card.json' }

const anna = { id: 'user:anna', address: null }

function message(chain?: AgentChain, more: object = {}) {
  const principal = chain === undefined ? anna : { ...anna, incoming: { chain } }
  return messageFor(principal, more)
}

function messageFor(principal: object, more: object = {}) {
  const caller = { database: 'default', conversationId: 'chats/1', principal } as unknown as Caller
  const from = { id: 'desk', address: null }
  const all = { edge: { ...edge, mentionRelay: 'inline' as const }, from, database: 'default', caller }
  return sign({ ...all, messageId: 'c_1', isMessage: true, contextId: null, ...more } as Parameters<typeof sign>[0])
}

async function claims(bearer: string | null) {
  const jwks = createLocalJWKSet({ keys: (await keys.list()).map(({ publicJwk }) => ({ ...publicJwk })) })
  return (await jwtVerify(bearer ?? '', jwks, { currentDate: new Date(at), algorithms: ['EdDSA'] })).payload
}

test('[M19] the first call is hop 1 of our ceiling, signed for one message to one agent', async () => {
  const { bearer, metadata, extensions } = await message()
  const { witan_chain: chain, ...rest } = await claims(bearer)
  assert.deepEqual(rest, {
    ...{ iss: 'https://a.test', sub: '@desk@a.test', aud: '@docs@b.test', jti: 'c_1' },
    ...{ iat: at / 1000, exp: at / 1000 + 300 },
  })
  const { root, ...way } = chain as { root: string }
  assert.deepEqual(way, { hop: 1, max_hops: 4, path: ['@desk@a.test'] })
  assert.match(root, /^[\w-]{43}$/)
  const { identity_evidence: evidence, ...said } = metadata['mentionable'] as Record<string, unknown>
  assert.deepEqual(said, {
    agent_chain: { hop: 1, max_hops: 4, is_final: false },
    recipient_capabilities: { mention_relay: { kind: 'inline' } },
  })
  assert.equal((evidence as unknown[]).length, 1)
  assert.deepEqual(extensions, [
    'https://mentionable.dev/ns/normalized-message/v0.1',
    'https://mentionable.dev/ns/identity/v0.1',
  ])
})

test('[M19] [M27] in a chain it is one hop more, under the ceiling that holds, behind all before it', async () => {
  const { bearer, metadata } = await message({ hop: 2, maxHops: 3, root: 'r', path: ['@x@x.test', '@y@y.test'] })
  const chain = (await claims(bearer))['witan_chain']
  assert.deepEqual(chain, { hop: 3, max_hops: 3, root: 'r', path: ['@x@x.test', '@y@y.test', '@desk@a.test'] })
  const { agent_chain: said } = metadata['mentionable'] as { agent_chain: unknown }
  assert.deepEqual(said, { hop: 3, max_hops: 3, is_final: true })
})

test('[E29] [M07] under a ceiling of one hop each of several agents that are called at once is the last', async () => {
  const once = createCredentials({ ...options, maxHops: 1 })
  const caller = { database: 'default', conversationId: 'chats/1', principal: anna } as unknown as Caller
  for (const messageId of ['c_1', 'c_2']) {
    const about = { edge: { ...edge, mentionRelay: 'none' }, from: { id: 'desk', address: null }, caller, messageId }
    const more = { database: 'default', isMessage: true, contextId: null }
    const { metadata } = await once({ ...about, ...more } as Parameters<typeof sign>[0])
    const { agent_chain: said } = metadata['mentionable'] as { agent_chain: unknown }
    assert.deepEqual(said, { hop: 1, max_hops: 1, is_final: true })
  }
})

test('a server that is known by its card gets what the environment has, and never a token of ours', async () => {
  const known = { ...card, mentionRelay: 'none', bearerEnv: 'TRAVEL' }
  assert.equal((await message(undefined, { edge: known })).bearer, 'secret')
  assert.equal((await message(undefined, { edge: { ...known, bearerEnv: 'MISSING' } })).bearer, null)
  assert.equal((await message(undefined, { edge: { ...known, bearerEnv: undefined } })).bearer, null)
  const closed = createCredentials({ ...options, maySend: () => false })
  const of = { edge: known, from: { id: 'desk', address: null }, caller: null, messageId: 'c_1', database: 'default' }
  const about = { ...of, isMessage: false, contextId: null } as unknown as Parameters<typeof sign>[0]
  assert.equal((await closed(about)).bearer, null)
  assert.equal((await sign(about)).bearer, 'secret')
})

test('an agent with an address calls as that', async () => {
  const { bearer } = await message(undefined, { from: { id: 'desk', address: '@front@a.test' } })
  assert.equal((await claims(bearer)).sub, '@front@a.test')
})

type Minted = Record<string, unknown> & { readonly proof: { readonly value: string }; readonly on_behalf_of?: unknown }

/** The evidence of a message; null for none. Its identity extension is named exactly where there is some. */
function evidenceIn({ metadata, extensions }: Awaited<ReturnType<typeof message>>): Minted | null {
  const { identity_evidence: pieces } = metadata['mentionable'] as { readonly identity_evidence?: readonly Minted[] }
  assert.equal(extensions.includes('https://mentionable.dev/ns/identity/v0.1'), pieces !== undefined)
  if (pieces === undefined) return null
  assert.equal(pieces.length, 1)
  return pieces[0] ?? null
}

const proven = {
  ...{ subject: '@x@x.test', onBehalfOf: ['@y@y.test', 'mailto:u@example.com'], issuer: 'https://x.test' },
  ...{ digest: 'sha256:abc', expiresAt: at + 1 },
}
const renewed = { ...proven, onBehalfOf: ['mailto:new@example.com'], digest: 'sha256:new' }
const fromX = { id: '@x@x.test', address: '@x@x.test', incoming: { evidence: [proven] } }

test('[C24] [M20] [M36] evidence is made anew for each message, for one recipient, and signed by this server', async () => {
  const sent = await messageFor(fromX, { contextId: 'ctx-1' })
  const { proof, ...evidence } = evidenceIn(sent) as Minted
  const [key] = await keys.list()
  assert.deepEqual(evidence, {
    ...{
      subject: '@desk@a.test',
      issuer: 'https://a.test',
      method: 'urn:witan:auth:delegated:v1',
      assurance: 'delegated',
    },
    ...{ audience: '@docs@b.test', issued_at: '2026-01-01T00:00:00.000Z', expires_at: '2026-01-01T00:05:00.000Z' },
    on_behalf_of: ['@x@x.test', '@y@y.test', 'mailto:u@example.com'],
    claims: { thread: 'ctx-1', message: 'c_1', evidence_digest: 'sha256:abc' },
  })
  const { value, ...unsigned } = proof
  assert.deepEqual(unsigned, { type: 'signed-attestation', alg: 'EdDSA', kid: key?.kid, canonicalization: 'JCS' })
  // The canonical form, written out: names in order, no blanks.
  const text =
    `{"assurance":"delegated","audience":"@docs@b.test","claims":{"evidence_digest":"sha256:abc","message":"c_1","thread":"ctx-1"},` +
    `"expires_at":"2026-01-01T00:05:00.000Z","issued_at":"2026-01-01T00:00:00.000Z","issuer":"https://a.test","method":"urn:witan:auth:delegated:v1",` +
    `"on_behalf_of":["@x@x.test","@y@y.test","mailto:u@example.com"],` +
    `"proof":{"alg":"EdDSA","canonicalization":"JCS","kid":"${key?.kid}","type":"signed-attestation"},"subject":"@desk@a.test"}`
  const publicKey = createPublicKey({ key: { ...key?.publicJwk }, format: 'jwk' })
  assert.ok(verify(null, Buffer.from(text), publicKey, Buffer.from(value, 'base64url')))
})

test('[M22] [M23] the immediate principal stands first, and the origin last', async () => {
  const many = Array.from({ length: 20 }, (_, index) => `@p${index}@x.test`)
  const person = (id: string, address: string | null = null) => ({ id, address })
  const rows: readonly (readonly [object, readonly string[] | undefined])[] = [
    [person('user:anna', '@anna@people.test'), ['@anna@people.test']],
    [person('user:anna'), ['@anna@a.test']],
    [person('key:Ab 12/ü'), ['@ab-12--@a.test']],
    [person(`user:${'x'.repeat(200)}`), [`@${'x'.repeat(64)}@a.test`]],
    [person('@x@x.test'), ['@x@x.test']],
    [fromX, ['@x@x.test', ...proven.onBehalfOf]],
    [{ ...fromX, incoming: { evidence: [{ ...proven, onBehalfOf: [] }] } }, ['@x@x.test']],
    [{ ...fromX, incoming: { evidence: [proven], renewed } }, ['@x@x.test', 'mailto:new@example.com']],
    // Somebody else vouches for whom the caller acts.
    [{ ...fromX, id: '@z@z.test' }, ['@z@z.test', '@x@x.test', ...proven.onBehalfOf]],
    [
      { ...fromX, incoming: { evidence: [{ ...proven, subject: 'mailto:u@example.com' }, proven] } },
      ['@x@x.test', ...proven.onBehalfOf],
    ],
    [
      { ...fromX, incoming: { evidence: [{ ...proven, onBehalfOf: many }] } },
      ['@x@x.test', ...many.slice(0, 14), '@p19@x.test'],
    ],
    [person('anonymous'), undefined],
  ]
  for (const [principal, expected] of rows)
    assert.deepEqual(evidenceIn(await messageFor(principal))?.on_behalf_of, expected, JSON.stringify(principal))
})

test('[E69] [M31] evidence goes only where the edge allows it, and never from what has expired', async () => {
  const byCard = { ...card, mentionRelay: 'none' }
  const rows: readonly (readonly [string, object, object, string | null])[] = [
    ['an address', anna, {}, '@docs@b.test'],
    ['an address that may not know', anna, { edge: { ...edge, mentionRelay: 'none', onBehalfOf: false } }, null],
    ['a card', anna, { edge: byCard }, null],
    ['a card that may know', anna, { edge: { ...byCard, onBehalfOf: true } }, 'https://travel.test/card.json'],
    ['a request without a message', anna, { isMessage: false }, null],
    ['what expires now', { ...fromX, incoming: { evidence: [{ ...proven, expiresAt: at }] } }, {}, null],
    ['what expires later', fromX, {}, '@docs@b.test'],
    [
      'what was renewed',
      { ...fromX, incoming: { evidence: [{ ...proven, expiresAt: at }], renewed } },
      {},
      '@docs@b.test',
    ],
    [
      'what was renewed and has expired',
      { ...fromX, incoming: { evidence: [proven], renewed: { ...renewed, expiresAt: at } } },
      {},
      null,
    ],
  ]
  for (const [words, principal, more, audience] of rows)
    assert.equal(evidenceIn(await messageFor(principal, more))?.['audience'] ?? null, audience, words)
  const { claims } = evidenceIn(await message()) as Minted & { readonly claims: unknown }
  assert.deepEqual(claims, { message: 'c_1' })
})
