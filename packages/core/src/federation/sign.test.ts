/** Keys of the server, one form of JSON, and signatures of cards, beside the official SDK's. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import {
  type AgentCard,
  canonicalizeAgentCard,
  generateAgentCardSignature,
  verifyAgentCardSignature,
} from '@a2a-js/sdk'
import { calculateJwkThumbprint } from 'jose'
import { createRuntime } from '../runtime.ts'
import { memoryStore } from '../store/drivers/memory.ts'
import { canonicalCard, canonicalJson } from './canonical.ts'
import { createOwnKeys } from './own-keys.ts'
import { checkCard, signedCard } from './sign.ts'

const card = {
  name: 'Docs',
  description: '',
  version: '3',
  supportedInterfaces: [
    { url: 'https://b.test/a2a/docs', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: 'https://b.test/a2a/docs/v1', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  ],
  capabilities: {
    streaming: true,
    pushNotifications: false,
    extendedAgentCard: false,
    extensions: [{ uri: 'https://mentionable.dev/ns/policy/v0.1' }],
  },
  securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
  securityRequirements: [{ schemes: { bearer: {} } }],
  defaultInputModes: ['text/plain', 'application/json'],
  defaultOutputModes: ['text/plain', 'application/json'],
  skills: [{ id: 'docs', name: 'Docs “ü” \u2028 😀', description: 'Finds\npages.', tags: ['agent'] }],
}
const jku = 'https://b.test/.well-known/jwks.json'
const dayMs = 86_400_000

describe('JSON in one form', () => {
  test('is that of RFC 8785', () => {
    for (const [value, text] of [
      [{ b: 1, a: [true, null, 'x'] }, '{"a":[true,null,"x"],"b":1}'],
      [{ '\ufb33': 1, '\ud83d\ude00': 2, '\u20ac': 3, '1': 4, '\r': 5 }, '{"\\r":5,"1":4,"€":3,"😀":2,"\ufb33":1}'],
      [[1e30, 4.5, 0.002, 1e-27, 1e21, -0], '[1e+30,4.5,0.002,1e-27,1e+21,0]'],
      [{ a: undefined, __proto__: null }, '{}'],
      [JSON.parse('{"__proto__":{"x":1}}'), '{"__proto__":{"x":1}}'],
      ['\u000f\n"\\', '"\\u000f\\n\\"\\\\"'],
    ] as const)
      assert.equal(canonicalJson(value), text)
  })

  test('[Mb14] of a card as it stands on the wire is byte for byte that of the official SDK', () => {
    for (const one of [
      card,
      { ...card, description: 'x', skills: [] },
      { ...card, capabilities: { ...card.capabilities, extensions: [] }, securityRequirements: [] },
    ])
      assert.equal(canonicalCard(one), canonicalizeAgentCard(one as unknown as AgentCard))
  })
})

describe('the keys of a server', () => {
  test('are the same in every process of a store, and made once', async () => {
    const store = memoryStore()
    await store.open()
    const [one, other] = [createOwnKeys(store), createOwnKeys(store)]
    const [first, second] = await Promise.all([one.list(), other.list()])
    assert.equal(first.length, 1)
    assert.deepEqual(
      first.map(({ kid }) => kid),
      second.map(({ kid }) => kid),
    )
    assert.equal(first[0]?.kid, await calculateJwkThumbprint(first[0]?.publicJwk ?? {}))
    assert.deepEqual(Object.keys(first[0]?.publicJwk ?? {}), ['kty', 'crv', 'x', 'kid', 'alg', 'use'])
    assert.ok(!/PRIVATE|MC4C|"d"/.test(inspect(first, { depth: 9 }) + JSON.stringify(first)))
  })

  test('sign beside the one before for a day after a rotation, which other processes see', async () => {
    let now = 1_000_000
    const store = memoryStore({ now: () => now })
    await store.open()
    const [one, other] = [createOwnKeys(store), createOwnKeys(store)]
    const [old] = await one.list()
    await other.list()
    now += 5_000
    const rotated = await one.rotate()
    assert.deepEqual(
      rotated.map(({ kid, until }) => [kid === old?.kid, until]),
      [
        [false, null],
        [true, now + dayMs],
      ],
    )
    now += 10_000
    assert.deepEqual(
      (await other.list()).map(({ kid }) => kid),
      rotated.map(({ kid }) => kid),
    )
    const signed = await signedCard(card, rotated, jku)
    assert.equal(signed.signatures.length, 2)
    for (const key of rotated) {
      const proof = await checkCard(signed, [key.publicJwk])
      assert.deepEqual(proof, { kind: 'signed', kids: [key.kid] })
    }
    now += dayMs
    assert.deepEqual(
      (await one.list()).map(({ kid }) => kid),
      [rotated[0]?.kid],
    )
    assert.equal((await one.rotate()).length, 2)
    const all = await one.list()
    assert.ok(!all.some(({ kid }) => kid === old?.kid))
  })

  test('stand in the audit: the first by the program, each other one by whom it was made', async () => {
    const runtime = createRuntime()
    await runtime.signingKeys.list()
    const [newest] = await runtime.signingKeys.rotate()
    const { items } = await runtime.audit({ kind: 'signing-key' })
    assert.deepEqual(
      items.map(({ by, via, action }) => [by, via, action]),
      [
        ['user:local', 'local', 'create'],
        ['user:local', 'code', 'create'],
      ],
    )
    assert.equal(items[0]?.name, newest?.kid)
    await runtime.close()
  })

  test('are the same each time that a runtime is asked', async () => {
    const runtime = createRuntime()
    const [key] = await runtime.signingKeys.list()
    const [again] = await runtime.signingKeys.list()
    assert.equal(key?.kid, again?.kid)
    await runtime.close()
  })
})

describe('the signature of a card', () => {
  const signed = async () => {
    const store = memoryStore()
    await store.open()
    const keys = await createOwnKeys(store).list()
    return { keys, card: await signedCard(card, keys, jku), jwks: keys.map(({ publicJwk }) => publicJwk) }
  }

  test('[Mb14] is accepted by the official SDK, and the SDK’s by us', async () => {
    const { card: own, jwks, keys } = await signed()
    const asked: unknown[] = []
    await verifyAgentCardSignature(async (kid, from) => {
      asked.push([kid, from])
      return jwks[0] ?? {}
    })(own as unknown as AgentCard)
    assert.deepEqual(asked, [[jwks[0]?.kid, jku]])
    const [key] = keys
    assert.ok(key !== undefined)
    for (const alg of ['EdDSA', 'Ed25519']) {
      const generate = generateAgentCardSignature(key.privateKey, { alg, kid: key.kid, typ: 'JOSE' })
      const { signatures } = await generate(card as unknown as AgentCard)
      const theirs = { ...card, signatures }
      assert.deepEqual(await checkCard(theirs, jwks), { kind: 'signed', kids: [key.kid] }, alg)
    }
  })

  test('does not hold for a card with any field changed, nor for another key', async () => {
    const { card: own, jwks } = await signed()
    const other = await signed()
    for (const wrong of [
      ...Object.entries(card)
        // A requirement without scopes is empty, and what is empty is not signed (A2A §8.4.1).
        .filter(([name]) => name !== 'securityRequirements')
        .map(([name, value]) => ({
          ...own,
          [name]: typeof value === 'string' ? `${value}x` : Array.isArray(value) ? [] : { x: 1 },
        })),
      { ...own, more: 1 },
      { ...own, signatures: [{ ...own.signatures[0], signature: other.card.signatures[0]?.signature }] },
      { ...own, signatures: [{ ...own.signatures[0], signature: '' }] },
      { ...own, signatures: [...own.signatures, { ...own.signatures[0], signature: 'AAAA' }] },
      { ...own, signatures: [{}] },
      { ...own, signatures: [null] },
      { ...own, signatures: 'x' },
      { ...own, signatures: Array(17).fill(own.signatures[0]) },
      { ...own, signatures: [{ ...own.signatures[0], protected: '!' }] },
    ])
      assert.equal((await checkCard(wrong, jwks)).kind, 'wrong', JSON.stringify(wrong).slice(0, 200))
    assert.equal((await checkCard(own, other.jwks)).kind, 'wrong')
    assert.equal((await checkCard(own, [])).kind, 'wrong')
    assert.equal((await checkCard({ ...own, signatures: [] }, jwks)).kind, 'unsigned')
    assert.equal((await checkCard(card, jwks)).kind, 'unsigned')
  })

  test('by a method that needs no key, or a weaker one, does not count', async () => {
    const { card: own, jwks } = await signed()
    for (const alg of ['none', 'HS256', 'RS256', 'ES256']) {
      const head = Buffer.from(JSON.stringify({ alg, kid: jwks[0]?.kid })).toString('base64url')
      for (const signature of ['', 'AAAA', own.signatures[0]?.signature])
        assert.equal(
          (await checkCard({ ...own, signatures: [{ protected: head, signature }] }, jwks)).kind,
          'wrong',
          alg,
        )
    }
  })
})
