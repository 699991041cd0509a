/** Evidence: a good piece, and the same with each of its fields changed, refused by its code. */
import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { describe, test } from 'node:test'
import { createRuntime } from '@witan/core'
import { isWitanError } from '@witan/protocol'
import { createEvidenceChecks, type EvidenceTerms, type GivenEvidence } from './evidence.ts'
import { createIssuerKeySets } from './issuer-key-sets.ts'

type Json = Record<string, unknown>

const at = Date.parse('2026-11-28T12:00:00Z')
const did = 'did:web:ids.test'
const [good, evil] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')]
const jwkOf = (key: KeyObject, kid: string): Json => ({
  ...key.export({ format: 'jwk' }),
  kid,
  alg: 'EdDSA',
  use: 'sig',
})
const iso = (seconds: number): string => new Date(at + seconds * 1000).toISOString()

/** Canonical JSON, written for the tests alone. */
function jcs(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jcs).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${jcs((value as Json)[name])}`).join(',')}}`
}

const unsigned: Json = {
  ...{ subject: '@a@a.test', issuer: 'https://a.test', method: 'urn:witan:auth:delegated:v1', assurance: 'delegated' },
  ...{ audience: '@docs@bots.example', issued_at: iso(0), expires_at: iso(300) },
  on_behalf_of: ['@b@b.test', 'mailto:u@example.com'],
  claims: { thread: 'ctx', message: 'm1' },
}
const proof = { type: 'signed-attestation', alg: 'EdDSA', kid: 'k1', canonicalization: 'JCS' }

function signed(
  content: Json = {},
  { proof: more = {}, key = good.privateKey }: { proof?: Json; key?: KeyObject } = {},
): Json {
  const whole = { ...unsigned, ...content, proof: { ...proof, ...more } }
  return { ...whole, proof: { ...whole.proof, value: sign(null, Buffer.from(jcs(whole)), key).toString('base64url') } }
}

const terms: EvidenceTerms = {
  ...{
    audiences: ['@docs@bots.example', 'https://bots.example/a2a/docs/.well-known/agent-card.json'],
    caller: '@a@a.test',
  },
  ...{ server: 'https://a.test', messageId: 'm1', thread: 'ctx' },
}
const trust = [
  { issuer: 'https://ids.test', methods: ['urn:x:oauth'], subjects: ['mailto:u@example.com'] },
  { issuer: did, methods: ['urn:x:mention'], subjects: ['slack:T0/U0'] },
]
const sets: Record<string, unknown> = {
  'https://a.test/.well-known/jwks.json': { keys: [jwkOf(good.publicKey, 'k1')] },
  'https://ids.test/.well-known/jwks.json': { keys: [jwkOf(good.publicKey, 'k1')] },
  'https://ids.test/.well-known/did.json': {
    id: did,
    verificationMethod: [
      { id: `${did}#k1`, type: 'JsonWebKey', controller: did, publicKeyJwk: jwkOf(good.publicKey, 'k1') },
      {
        id: `${did}#other`,
        type: 'JsonWebKey',
        controller: 'did:web:evil.test',
        publicKeyJwk: jwkOf(evil.publicKey, 'x'),
      },
      { id: `${did}#quiet`, type: 'JsonWebKey', controller: did, publicKeyJwk: jwkOf(good.publicKey, 'x') },
    ],
    assertionMethod: [`${did}#k1`, `${did}#other`],
  },
}

/** Checks on a store of their own, or on one that others have too. */
async function checks(runtime = createRuntime()) {
  await runtime.ready
  const asked: string[] = []
  let now = at
  const fetch = async (url: string) => {
    asked.push(url)
    if (sets[url] === undefined) throw new Error('nobody there')
    return sets[url]
  }
  const keys = createIssuerKeySets(fetch, () => now)
  const { check } = createEvidenceChecks({ trust, keys, used: runtime.usedEvidence, now: () => now })
  return {
    ...{ asked, runtime, check },
    one: (piece: unknown, more: Partial<EvidenceTerms> = {}) =>
      check({ evidence: [piece], credentials: undefined }, { ...terms, ...more }),
    pass: (ms: number) => {
      now += ms
    },
  }
}

/** The code that refuses, `dropped`, or `proven`. */
async function outcome(checking: Promise<{ proven: readonly unknown[]; dropped: number }>): Promise<string> {
  try {
    const { proven, dropped } = await checking
    return dropped > 0 ? 'dropped' : `proven ${proven.length}`
  } catch (error) {
    if (!isWitanError(error)) throw error
    assert.doesNotMatch(error.message, /example|test|sha256/)
    return error.code
  }
}

describe('evidence', () => {
  test('[M03] [M24] [E67] a good piece proves whom it is about and for whom that one acts, and nothing of its proof is kept', async () => {
    const { one, runtime } = await checks()
    const piece = signed()
    const { proven, dropped } = await one(piece)
    const digest = `sha256:${createHash('sha256').update(jcs(piece)).digest('hex')}`
    assert.deepEqual(
      [proven, dropped],
      [
        [
          {
            ...{ subject: '@a@a.test', onBehalfOf: ['@b@b.test', 'mailto:u@example.com'], issuer: 'https://a.test' },
            ...{ digest, expiresAt: at + 300_000 },
          },
        ],
        0,
      ],
    )
    await runtime.close()
  })

  test('[E68] [M36] each field that is changed is refused by its code', async () => {
    const { value } = signed()['proof'] as { value: string }
    const without = (name: string): Json => ({ ...signed(), [name]: undefined })
    const withProof = (more: Json): Json => ({ ...signed(), proof: { ...(signed()['proof'] as Json), ...more } })
    const INVALID = 'EVIDENCE_INVALID'
    const fields = [
      'subject',
      'method',
      'assurance',
      'audience',
      'issued_at',
      'expires_at',
      'on_behalf_of',
      'claims',
      'proof',
    ]
    const rows: readonly (readonly [string, unknown, string, Partial<EvidenceTerms>?])[] = [
      // Each field gone, or another one, under the signature of the first.
      ...fields.map((name) => [`without ${name}`, without(name), INVALID] as const),
      ['another subject of its own', { ...signed(), subject: '@b@a.test' }, INVALID],
      ['another method', { ...signed(), method: 'urn:x' }, INVALID],
      ['another assurance', { ...signed(), assurance: 'domain' }, INVALID],
      ['another audience', { ...signed(), audience: '@other@bots.example' }, INVALID],
      ['another time', { ...signed(), issued_at: iso(1) }, INVALID],
      ['another end', { ...signed(), expires_at: iso(301) }, INVALID],
      ['another principal', { ...signed(), on_behalf_of: ['@boss@b.test'] }, INVALID],
      ['principals in another order', { ...signed(), on_behalf_of: ['mailto:u@example.com', '@b@b.test'] }, INVALID],
      ['another thread', { ...signed(), claims: { thread: 'x', message: 'm1' } }, INVALID],
      ['another message', { ...signed(), claims: { thread: 'ctx', message: 'm2' } }, INVALID],
      ['one field more', { ...signed(), extra: 1 }, INVALID],
      ['__proto__', JSON.parse(`{"__proto__":{"a":1},${JSON.stringify(signed()).slice(1)}`), INVALID],
      // Another issuer.
      ['an issuer that is not known', { ...signed(), issuer: 'https://evil.test' }, 'dropped'],
      ['no issuer', without('issuer'), 'dropped'],
      ['a subject of somebody else', signed({ subject: '@a@b.test' }), 'dropped'],
      [
        'a method that is not trusted',
        signed({ issuer: 'https://ids.test', subject: 'mailto:u@example.com' }),
        'dropped',
      ],
      ['a trusted issuer without a method', { ...signed(), issuer: 'https://ids.test', method: undefined }, INVALID],
      // The proof.
      ['a wrong signature', withProof({ value: `${value.slice(0, -4)}AAAA` }), INVALID],
      ['a signature with more behind', withProof({ value: `${value}=` }), INVALID],
      ['a short signature', withProof({ value: 'AA' }), INVALID],
      ['a signature that is none', withProof({ value: 7 }), INVALID],
      ['another key under the id', signed({}, { key: evil.privateKey }), INVALID],
      ['an unknown key', signed({}, { proof: { kid: 'k2' } }), INVALID],
      ['no key', signed({}, { proof: { kid: 7 } }), INVALID],
      ['another algorithm', signed({}, { proof: { alg: 'none' } }), INVALID],
      ['another form', signed({}, { proof: { canonicalization: 'raw' } }), INVALID],
      ['transport', signed({}, { proof: { type: 'transport' } }), INVALID],
      ['bearer-token', signed({}, { proof: { type: 'bearer-token' } }), INVALID],
      // What is signed, and malformed.
      ['a list as subject', signed({ subject: ['@a@a.test'] }), INVALID],
      ['no time', signed({ issued_at: 'today' }), INVALID],
      ['a number as time', signed({ issued_at: at }), INVALID],
      ['17 principals', signed({ on_behalf_of: Array.from({ length: 17 }, () => '@x@x.test') }), INVALID],
      ['a long principal', signed({ on_behalf_of: [`mailto:${'x'.repeat(320)}`] }), INVALID],
      ['a principal that is none', signed({ on_behalf_of: [1] }), INVALID],
      ['half a character', signed({ method: 'urn:\ud800' }), INVALID],
      ['a number beyond all', { ...signed(), extra: Number.POSITIVE_INFINITY }, INVALID],
      ['claims that are none', signed({ claims: [] }), INVALID],
      // The audience.
      ['for another agent', signed({ audience: '@other@bots.example' }), 'EVIDENCE_AUDIENCE'],
      ['for others', signed({ audience: ['@other@bots.example', '@x@x.test'] }), 'EVIDENCE_AUDIENCE'],
      ['for nobody', signed({ audience: [] }), 'EVIDENCE_AUDIENCE'],
      ['for two', signed({ audience: ['@other@bots.example', '@docs@bots.example'] }), 'proven 1'],
      ['for the card', signed({ audience: terms.audiences[1] }), 'proven 1'],
      ['for it in capitals', signed({ audience: '@Docs@Bots.Example' }), 'proven 1'],
      // Times, with the skew.
      ['expired', signed({ issued_at: iso(-400), expires_at: iso(-61) }), 'EVIDENCE_EXPIRED'],
      ['expired within the skew', signed({ issued_at: iso(-400), expires_at: iso(-60) }), 'proven 1'],
      ['expired and long', signed({ issued_at: iso(-9000), expires_at: iso(-61) }), 'EVIDENCE_EXPIRED'],
      ['not yet', signed({ issued_at: iso(61), expires_at: iso(300) }), INVALID],
      ['not yet within the skew', signed({ issued_at: iso(60), expires_at: iso(300) }), 'proven 1'],
      ['not before', signed({ not_before: iso(61) }), INVALID],
      ['too long', signed({ expires_at: iso(601) }), INVALID],
      ['as long as may be', signed({ expires_at: iso(600) }), 'proven 1'],
      ['ends before it begins', signed({ issued_at: iso(30), expires_at: iso(20) }), INVALID],
      ['of another thread', signed({ claims: { thread: 'x', message: 'm1' } }), INVALID],
      ['of a thread without one', signed(), INVALID, { thread: null }],
      ['of another message', signed({ claims: { message: 'm2' } }), INVALID],
      ['of any message', signed({ claims: {} }), 'proven 1'],
      ['Ed25519 by its other name', signed({}, { proof: { alg: 'Ed25519' } }), 'proven 1'],
    ]
    for (const [words, piece, expected, more] of rows) {
      const { one, runtime } = await checks()
      // As it comes over the wire: what is undefined is not there.
      const sent = words === 'a number beyond all' ? piece : JSON.parse(JSON.stringify(piece))
      assert.equal(await outcome(one(sent, more)), expected, words)
      await runtime.close()
    }
  })

  test('[E68] a piece counts for one message, in all processes of a store, and the same one again passes', async () => {
    const first = await checks()
    const second = await checks(first.runtime)
    const piece = signed({ claims: {} })
    assert.equal(await outcome(first.one(piece)), 'proven 1')
    assert.equal(await outcome(first.one(piece)), 'proven 1')
    assert.equal(await outcome(second.one(piece)), 'proven 1')
    for (const other of [
      { messageId: 'm2' },
      { caller: '@b@b.test' },
      { audiences: ['@docs@bots.example', 'x'], messageId: 'm3' },
    ])
      assert.equal(await outcome(second.one(piece, other)), 'EVIDENCE_REPLAYED', JSON.stringify(other))
    // The rows stand in an order: who used it comes before whether it has expired, or is of another message.
    const bound = signed()
    assert.equal(await outcome(first.one(bound)), 'proven 1')
    assert.equal(await outcome(first.one(bound, { messageId: 'm2' })), 'EVIDENCE_REPLAYED')
    first.pass(361_000)
    assert.equal(await outcome(first.one(bound, { messageId: 'm2' })), 'EVIDENCE_REPLAYED')
    assert.equal(await outcome(first.one(bound)), 'EVIDENCE_EXPIRED')
    // What is refused was not used.
    const later = await checks(first.runtime)
    const third = signed({ claims: { message: 'm9' } })
    assert.equal(await outcome(later.one(third)), 'EVIDENCE_INVALID')
    assert.equal(await outcome(later.one(third, { messageId: 'm9' })), 'proven 1')
    const raced = signed({ claims: {}, assurance: 'raced' })
    const both = await Promise.all(['a', 'b'].map((messageId) => outcome(later.one(raced, { messageId }))))
    assert.deepEqual(both.sort(), ['EVIDENCE_REPLAYED', 'proven 1'])
    await first.runtime.close()
  })

  test('[Mb10] nothing of an issuer that is not trusted is fetched, and a flood of keys asks once', async () => {
    const { one, asked, pass, runtime } = await checks()
    assert.equal(await outcome(one({ ...signed(), issuer: 'https://evil.test' })), 'dropped')
    assert.deepEqual(asked, [])
    for (let kid = 0; kid < 50; kid += 1) await outcome(one(signed({}, { proof: { kid: `x${kid}` } })))
    assert.equal(asked.length, 2)
    pass(10_000)
    await outcome(one(signed({}, { proof: { kid: 'y' } })))
    assert.equal(asked.length, 3)
    await runtime.close()
  })

  test('[Mb09] more than is taken is dropped unread', async () => {
    const { check, asked, runtime } = await checks()
    const deep = JSON.parse(`${'['.repeat(60)}${']'.repeat(60)}`)
    const rows: readonly (readonly [GivenEvidence, number])[] = [
      [{ evidence: Array.from({ length: 5 }, () => signed()), credentials: undefined }, 5],
      [{ evidence: [signed(), signed(), signed()], credentials: [{}, {}] }, 5],
      [{ evidence: [signed({ extra: 'x'.repeat(65_536) })], credentials: undefined }, 1],
      [{ evidence: [signed({ extra: 'é'.repeat(33_000) })], credentials: undefined }, 1],
      [{ evidence: Array.from({ length: 100_000 }, () => 1), credentials: undefined }, 100_000],
      [{ evidence: [null, 7, 'x', deep], credentials: undefined }, 4],
      [{ evidence: { issuer: {} }, credentials: 'x' }, 2],
    ]
    for (const [given, count] of rows) assert.deepEqual(await check(given, terms), { proven: [], dropped: count })
    assert.deepEqual(asked, [])
    await runtime.close()
  })
})

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

function base58(bytes: Buffer): string {
  let number = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (; number > 0n; number /= 58n) text = `${alphabet[Number(number % 58n)]}${text}`
  // A leading byte of zero is a digit of its own.
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return `z${'1'.repeat(zeros)}${text}`
}

const contexts = ['https://www.w3.org/ns/credentials/v2', 'https://mentionable.dev/ns/identity/v0.2/context.jsonld']
const document: Json = {
  ...{
    '@context': contexts,
    id: 'urn:uuid:1',
    type: ['VerifiableCredential', 'PlatformIdentityCredential'],
    issuer: did,
  },
  ...{ validFrom: '2026-11-28T11:59:00Z', validUntil: '2026-11-28T12:04:00Z' },
  credentialSubject: {
    id: 'slack:T0/U0',
    method: 'urn:x:mention',
    assurance: 'platform',
    platform: { provider: 'slack' },
  },
}
const integrity: Json = {
  ...{ type: 'DataIntegrityProof', created: '2026-11-28T11:59:00Z', verificationMethod: `${did}#k1` },
  ...{ cryptosuite: 'eddsa-jcs-2022', proofPurpose: 'assertionMethod', domain: '@docs@bots.example', challenge: 'm1' },
  '@context': contexts,
}

function credential(content: Json = {}, options: Json = {}, key: KeyObject = good.privateKey): Json {
  const [whole, config] = [
    { ...document, ...content },
    { ...integrity, ...options },
  ]
  const digests = [config, whole].map((one) => createHash('sha256').update(jcs(one)).digest())
  return { ...whole, proof: { ...config, proofValue: base58(sign(null, Buffer.concat(digests), key)) } }
}

describe('verifiable credentials', () => {
  test('[Mb10] are read as evidence by the same rows', async () => {
    const INVALID = 'EVIDENCE_INVALID'
    const whole = credential()
    const subject = document['credentialSubject'] as Json
    const rows: readonly (readonly [string, unknown, string])[] = [
      ['good', whole, 'proven 1'],
      ['for another agent', credential({}, { domain: '@other@bots.example' }), 'EVIDENCE_AUDIENCE'],
      ['for another message', credential({}, { challenge: 'm2' }), INVALID],
      ['expired', credential({ validFrom: iso(-400), validUntil: iso(-100) }), 'EVIDENCE_EXPIRED'],
      ['not yet', credential({ validFrom: iso(100), validUntil: iso(300) }), INVALID],
      ['too long', credential({ validUntil: iso(3600) }), INVALID],
      ['contexts in another order', credential({ '@context': contexts.toReversed() }), INVALID],
      ['another type', credential({ type: ['VerifiableCredential'] }), INVALID],
      ['another subject', { ...whole, credentialSubject: { ...subject, assurance: 'domain' } }, INVALID],
      ['another signature', credential({}, {}, evil.privateKey), INVALID],
      ['a key of another issuer', credential({}, { verificationMethod: 'did:web:evil.test#k1' }), INVALID],
      ['a key that another controls', credential({}, { verificationMethod: `${did}#other` }, evil.privateKey), INVALID],
      ['a key that asserts nothing', credential({}, { verificationMethod: `${did}#quiet` }), INVALID],
      ['another suite', credential({}, { cryptosuite: 'eddsa-rdfc-2022' }), INVALID],
      ['another purpose', credential({}, { proofPurpose: 'authentication' }), INVALID],
      ['no proof', { ...document }, INVALID],
      ['an issuer that is not named', credential({ issuer: 'did:web:evil.test' }), 'dropped'],
      ['a method that is not named', credential({ credentialSubject: { ...subject, method: 'urn:y' } }), 'dropped'],
    ]
    for (const [words, given, expected] of rows) {
      const { check, runtime } = await checks()
      const checking = check({ evidence: undefined, credentials: [given] }, terms)
      assert.equal(await outcome(checking), expected, words)
      await runtime.close()
    }
  })
})
