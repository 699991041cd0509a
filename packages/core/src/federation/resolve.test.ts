/** Finding an agent on another server: each step, and each way in which a document of it is wrong. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readAddress } from '@witan/protocol/names'
import { WitanError } from '@witan/protocol'
import { memoryStore } from '../store/drivers/memory.ts'
import { createOwnKeys, type OwnKey } from './own-keys.ts'
import { type DiscoveryStep, resolveAddress } from './resolve.ts'
import { signedCard } from './sign.ts'

const read = readAddress('@docs@b.test')
assert.ok(read.ok)
const { address } = read
const relation = 'https://mentionable.dev/ns/rel/agent-card'
const finger = 'https://b.test/.well-known/webfinger?resource=acct:docs@b.test'
const cardAt = 'https://bots.b.test/.well-known/agent-card/docs'
const a2aAt = 'https://bots.b.test/a2a/docs/.well-known/agent-card.json'
const keysAt = 'https://b.test/.well-known/jwks.json'

async function newKey(): Promise<OwnKey> {
  const store = memoryStore()
  await store.open()
  const [key] = await createOwnKeys(store).list()
  assert.ok(key !== undefined)
  return key
}
const key = await newKey()
const stranger = await newKey()
const a2aCard = {
  name: 'Docs',
  version: '1',
  supportedInterfaces: [
    { url: 'https://bots.b.test/grpc', protocolBinding: 'GRPC', protocolVersion: '1.0' },
    { url: 'https://bots.b.test/old', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    { url: 'https://bots.b.test/a2a/docs', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 't' },
    { url: 'https://bots.b.test/a2a/docs/v1', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  ],
}
const jku = 'https://elsewhere.test/.well-known/jwks.json'
const good: Record<string, unknown> = {
  [finger]: {
    subject: 'acct:docs@b.test',
    links: [
      { rel: 'self', href: 'x' },
      { rel: relation, href: cardAt },
    ],
  },
  [cardAt]: { address: '@Docs@B.test', name: 'Docs', a2a: { endpoint: 'https://bots.b.test/a2a/docs/' } },
  [a2aAt]: await signedCard(a2aCard, [key], jku),
  [keysAt]: { keys: [{ kty: 'EC', kid: 'other', x: 'x' }, stranger.publicJwk, key.publicJwk] },
}

async function found(changed: Record<string, unknown> = {}) {
  const documents = { ...good, ...changed }
  const steps: DiscoveryStep[] = []
  const asked: string[] = []
  const fetch = {
    json: async (url: string) => {
      asked.push(url)
      if (!Object.hasOwn(documents, url)) throw new WitanError('REMOTE_UNREACHABLE', url)
      return { url, value: documents[url] }
    },
  }
  const agent = await resolveAddress(address, { fetch, note: (step) => steps.push(step) })
  return { agent, steps, asked }
}

describe('an agent on another server', () => {
  test('[Mb02] [Mb14] [M01] is found by WebFinger, its card and its signed A2A card', async () => {
    const { agent, steps, asked } = await found()
    assert.deepEqual(asked, [finger, cardAt, a2aAt, keysAt])
    assert.deepEqual(
      steps.map(({ step, url, found: what }) => [step, url, what]),
      [
        ['webfinger', finger, cardAt],
        ['card', cardAt, 'https://bots.b.test/a2a/docs'],
        ['a2a-card', a2aAt, 'Docs'],
        ['interface', 'https://bots.b.test/a2a/docs', 'JSONRPC of protocol version 1.0'],
        ['signature', keysAt, `signed by ${key.kid}`],
      ],
    )
    assert.deepEqual(agent.endpoint, { url: 'https://bots.b.test/a2a/docs', binding: 'JSONRPC', tenant: 't' })
    assert.deepEqual(agent.signedBy, [key.kid])
  })

  test('without a signature is found, and its keys are not asked for', async () => {
    const { agent, asked } = await found({ [a2aAt]: a2aCard })
    assert.deepEqual(agent.signedBy, [])
    assert.ok(!asked.includes(keysAt))
  })

  test('[Mb02] [Mb14] is not found by a document that is for another one, or wrong', async () => {
    const link = (href: unknown) => ({ subject: 'acct:docs@b.test', links: [{ rel: relation, href }] })
    const card = good[cardAt] as object
    for (const [url, document, said] of [
      [finger, null, /its `subject`/],
      [finger, [], /its `subject`/],
      [finger, { ...link(cardAt), subject: 'acct:other@b.test' }, /its `subject` is not @docs@b.test/],
      [finger, { ...link(cardAt), subject: 'https://b.test/docs' }, /its `subject`/],
      [finger, { subject: 'acct:docs@b.test' }, /no link/],
      [finger, { subject: 'acct:docs@b.test', links: [null, 1, { rel: 'self', href: cardAt }] }, /no link/],
      [finger, link(7), /no link/],
      [cardAt, { ...card, address: '@docs@evil.test' }, /its `address`/],
      [cardAt, { ...card, address: undefined }, /its `address`/],
      [cardAt, { ...card, a2a: {} }, /a2a\.endpoint/],
      [cardAt, { ...card, a2a: { endpoint: 'nothing' } }, /a2a\.endpoint/],
      [a2aAt, 'text', /no card/],
      [a2aAt, { ...a2aCard, supportedInterfaces: [] }, /no interface/],
      [a2aAt, { ...a2aCard, supportedInterfaces: a2aCard.supportedInterfaces.slice(0, 2) }, /speaks A2A 0\.3, and/],
      [a2aAt, { name: 'Docs', url: 'https://b.test', protocolVersion: '0.3.0' }, /speaks A2A 0\.3\.0, and this server/],
      [a2aAt, { name: 'Docs', protocolVersion: 'obey me' }, /JSON\.$/],
      [a2aAt, { ...a2aCard, supportedInterfaces: 'x' }, /no interface/],
      [a2aAt, { ...(good[a2aAt] as object), version: '2' }, /signature is wrong/],
      [a2aAt, await signedCard(a2aCard, [await newKey()], jku), /no key that its domain publishes/],
      [keysAt, { keys: [] }, /no key that its domain publishes/],
      [keysAt, {}, /no set of at most 100 keys/],
      [keysAt, { keys: Array(101).fill(key.publicJwk) }, /no set of at most 100 keys/],
    ] as const)
      await assert.rejects(
        found({ [url]: document }),
        (error: Error & { code?: string }) => {
          assert.equal(error.code, 'REMOTE_CARD_INVALID')
          assert.match(error.message, said)
          return true
        },
        JSON.stringify(document),
      )
  })
})
