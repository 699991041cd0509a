/** Evidence: a good piece, and the same with each of its fields changed, refused by its code. */
import assert from 'node:assert/strict'
import { createHash, type KeyObject } from 'node:crypto'
import { describe, test } from 'node:test'
import { createRuntime } from '@witan/core'
import { isWitanError } from '@witan/protocol'
import { createEvidenceChecks, type EvidenceTerms, type GivenEvidence } from './evidence.ts'
import { createIssuerKeySets } from './issuer-key-sets.ts'
import {
  evil,
  good,
  type Json,
  jcs,
  jwkOf,
  multikeyOf,
  signedCredential,
  signedEvidence,
} from '../../../../test/support/evidence.ts'

const at = Date.parse('2026-11-28T12:00:00Z')
const did = 'did:web:ids.test'
const connector = 'did:web:connector.test'
const foreignKey = 'did:web:evil.test#k1'
const iso = (seconds: number): string => new Date(at + seconds * 1000).toISOString()

const unsigned: Json = {
  ...{ subject: '@a@a.test', issuer: 'https://a.test', method: 'urn:witan:auth:delegated:v1', assurance: 'delegated' },
  ...{ audience: '@docs@bots.example', issued_at: iso(0), expires_at: iso(300) },
  on_behalf_of: ['@b@b.test', 'mailto:u@example.com'],
  claims: { thread: 'ctx', message: 'm1' },
}

const signed = (content: Json = {}, how: { proof?: Json; key?: KeyObject } = {}): Json =>
  signedEvidence({ ...unsigned, ...content }, how)

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
  { issuer: connector, methods: ['*'], subjects: ['slack:T1/U1', 'slack:T1/BOT', 'slack:T1/U2'] },
]
/** The document of a `did:web` with one Multikey. */
const documentOf = (of: string, kid: string, key: KeyObject): Json => ({
  id: of,
  verificationMethod: [{ id: `${of}#${kid}`, type: 'Multikey', controller: of, publicKeyMultibase: multikeyOf(key) }],
  assertionMethod: [`${of}#${kid}`],
})

const sets: Record<string, unknown> = {
  'https://connector.test/.well-known/did.json': documentOf(connector, 'k8', good.publicKey),
  'https://rogue.test/.well-known/did.json': documentOf('did:web:rogue.test', 'r8', evil.publicKey),
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
      { id: foreignKey, type: 'JsonWebKey', controller: did, publicKeyJwk: jwkOf(evil.publicKey, 'x') },
      { id: `${did}#quiet`, type: 'JsonWebKey', controller: did, publicKeyJwk: jwkOf(good.publicKey, 'x') },
    ],
    assertionMethod: [`${did}#k1`, `${did}#other`, foreignKey],
  },
}

const nextLetter = (text: string): string => String.fromCharCode(text.charCodeAt(text.length - 1) + 1)

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

  test('[E68] [M36] what its issuer has signed otherwise, or somebody else, is refused by its code', async () => {
    const { value } = signed()['proof'] as { value: string }
    const withProof = (more: Json): Json => ({ ...signed(), proof: { ...(signed()['proof'] as Json), ...more } })
    const INVALID = 'EVIDENCE_INVALID'
    const rows: readonly (readonly [string, unknown, string, Partial<EvidenceTerms>?])[] = [
      ['__proto__', JSON.parse(`{"__proto__":{"a":1},${JSON.stringify(signed()).slice(1)}`), INVALID],
      ['a subject of its own server', { ...signed(), subject: '@b@a.test' }, INVALID],
      // Another issuer.
      ['an issuer that is not known', { ...signed(), issuer: 'https://evil.test' }, 'dropped'],
      ['a subject of somebody else', signed({ subject: '@a@b.test' }), 'dropped'],
      [
        'a method that is not trusted',
        signed({ issuer: 'https://ids.test', subject: 'mailto:u@example.com' }),
        'dropped',
      ],
      ['a trusted issuer without a method', { ...signed(), issuer: 'https://ids.test', method: undefined }, INVALID],
      // The proof.
      ['a wrong signature', withProof({ value: `${value.slice(0, -4)}AAAA` }), INVALID],
      // Its last letter has four bits that count for nothing: `A` may be written as `B`.
      ['a signature in other letters', withProof({ value: `${value.slice(0, -1)}${nextLetter(value)}` }), INVALID],
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

  test('[Mb09] up to 64 KiB are taken, whatever they consist of', async () => {
    const { check, runtime } = await checks()
    const filling = { numbers: Array(7_500).fill(0), nothing: Array(3_000).fill([]), texts: Array(5_000).fill('') }
    for (const [what, extra] of Object.entries(filling)) {
      const evidence = ['a', 'b', 'c', 'd'].map((assurance) => signed({ extra, assurance, id: what }))
      assert.equal((await check({ evidence, credentials: undefined }, terms)).proven.length, 4, what)
    }
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

const credential = (content: Json = {}, options: Json = {}, key: KeyObject = good.privateKey): Json =>
  signedCredential({ ...document, ...content }, { ...integrity, ...options }, key)

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
      ['a key of another issuer', credential({}, { verificationMethod: foreignKey }, evil.privateKey), INVALID],
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

/** A value with each of its members changed, left out, or with one more beside it: what was changed, and the whole. */
function* tampered(value: unknown, path: string): Generator<readonly [string, unknown]> {
  if (Array.isArray(value)) {
    yield [`${path} turned`, value.toReversed()]
    yield [`${path} and one more`, [...value, 'x']]
    for (const [index, one] of value.entries()) {
      yield [`no ${path}.${index}`, value.toSpliced(index, 1)]
      for (const [words, other] of tampered(one, `${path}.${index}`)) yield [words, value.with(index, other)]
    }
  } else if (typeof value === 'object' && value !== null) {
    yield [`${path} and one more`, { ...value, 'one more': 1 }]
    for (const [name, one] of Object.entries(value)) {
      const inner = path === '' ? name : `${path}.${name}`
      const { [name]: _, ...rest } = value as Json
      yield [`no ${inner}`, rest]
      for (const [words, other] of tampered(one, inner)) yield [words, { ...value, [name]: other }]
    }
  } else {
    for (const other of [`${value}x`, String(value).slice(1), 7, null, [value]])
      yield [`${path}: ${JSON.stringify(other)}`, other]
  }
}

const whole = {
  ...{ id: 'urn:uuid:1', not_before: iso(0), source: { connector: 'c.test' } },
  claims: { thread: 'ctx', message: 'm1', evidence_digest: 'sha256:1', amount: 10 },
}

test('[E68] [M36] [Mb08] each member that was changed, taken or added behind the signature makes evidence invalid', async () => {
  const { one, check, runtime } = await checks()
  let count = 0
  for (const [words, piece] of tampered(signed(whole), '')) {
    count += 1
    // Who is not trusted about somebody is not looked at any further.
    const isAnother = /^(?:no )?issuer|^subject: "/.test(words)
    assert.equal(await outcome(one(piece)), isAnother ? 'dropped' : 'EVIDENCE_INVALID', words)
  }
  for (const [words, piece] of tampered(credential(), '')) {
    count += 1
    const isAnother = /^(?:no )?issuer|^credentialSubject\.(?:id|method): "/.test(words)
    const checking = check({ evidence: undefined, credentials: [piece] }, terms)
    assert.equal(await outcome(checking), isAnother ? 'dropped' : 'EVIDENCE_INVALID', words)
  }
  assert.ok(count > 200, `${count} were changed`)
  assert.equal(await outcome(one(signed(whole))), 'proven 1')
  await runtime.close()
})

/** What the published examples of identity v0.2 state, with credentials of our own: thirteen, by the names of their manifest. */
describe('credentials as other software makes them', () => {
  const member = {
    ...{ id: 'slack:T1/U1', method: 'urn:x:auth:member:v0.1', assurance: 'platform' },
    platform: { provider: 'slack', workspace_id: 'T1' },
    profile: { display_name: 'Ümit 𝒰', locale: 'de', n: [1e21, -0, 1.5] },
  }
  const mention = {
    ...{ id: 'slack:T1/BOT', method: 'urn:x:auth:mention:v0.1', assurance: 'platform' },
    ...{ platform: { provider: 'slack' }, observedInvocation: { target: 'acct:docs@bots.example', channel: 'C1' } },
  }
  const made = (content: Json = {}, options: Json = {}, key?: KeyObject): Json =>
    signedCredential(
      { ...document, issuer: connector, credentialSubject: member, ...content },
      { ...integrity, verificationMethod: `${connector}#k8`, ...options },
      key,
    )
  const time = (validFrom: number, validUntil: number) => ({ validFrom: iso(validFrom), validUntil: iso(validUntil) })
  const flipped = ({ proof, ...rest }: Json): Json => {
    const { proofValue, ...others } = proof as { readonly proofValue: string }
    const last = proofValue.endsWith('2') ? '3' : '2'
    return { ...rest, proof: { ...others, proofValue: `${proofValue.slice(0, -1)}${last}` } }
  }
  const INVALID = 'EVIDENCE_INVALID'
  const rows: readonly (readonly [string, Json, string])[] = [
    ['direct-user', made(), 'proven 1'],
    ['platform-mention', made({ credentialSubject: mention }), 'proven 1'],
    ['wrong-domain', made({}, { domain: '@other@bots.example' }), 'EVIDENCE_AUDIENCE'],
    ['challenge-mismatch', made({}, { challenge: 'another' }), INVALID],
    ['expired', made(time(-86_400, -86_100)), 'EVIDENCE_EXPIRED'],
    ['not-yet-valid', made(time(86_400, 86_700)), INVALID],
    ['ttl-exceeded', made(time(0, 3_600)), INVALID],
    ['malformed-context', made({ '@context': contexts.toReversed() }), INVALID],
    ['malformed-type', made({ type: ['VerifiableCredential'] }), INVALID],
    ['tampered-payload', { ...made(), credentialSubject: { ...member, id: 'slack:T1/U2' } }, INVALID],
    ['tampered-signature', flipped(made()), INVALID],
    ['issuer-controller-mismatch', made({}, { verificationMethod: 'did:web:rogue.test#r8' }, evil.privateKey), INVALID],
  ]

  for (const [name, given, expected] of rows)
    test(`[Mb10] ${name}: ${expected}`, async () => {
      const { check, runtime } = await checks()
      assert.equal(await outcome(check({ evidence: undefined, credentials: [given] }, terms)), expected)
      await runtime.close()
    })

  test('[Mb10] [E68] replay-scenario: accepted once; again only with the message that it came with', async () => {
    const { check, runtime } = await checks()
    const shown = (more: Partial<EvidenceTerms> = {}) =>
      outcome(check({ evidence: undefined, credentials: [made()] }, { ...terms, ...more }))
    assert.equal(await shown(), 'proven 1')
    assert.equal(await shown(), 'proven 1')
    assert.equal(await shown({ caller: '@z@z.test' }), 'EVIDENCE_REPLAYED')
    assert.equal(await shown({ messageId: 'm2' }), 'EVIDENCE_REPLAYED')
    await runtime.close()
  })
})
