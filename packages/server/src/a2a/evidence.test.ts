/** Evidence: a good piece, and the same with each of its fields changed, refused by its code. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { createRuntime, postgresStore } from '@witan/core'
import { freshSchema } from '../../../../test/postgres/support/stores.ts'
import type { EvidenceTerms, GivenEvidence } from './evidence.ts'
import { at, checks, credential, iso, nextLetter, outcome, signed, terms } from '../testing/evidence-checks.ts'
import { evil, type Json, jcs } from '../../../../test/support/evidence.ts'

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

test('[E68] two processes of a store on PostgreSQL take one piece once, however close they are', async (context) => {
  const place = await freshSchema(context)
  const [first, second] = await Promise.all([0, 1].map(() => createRuntime({ store: postgresStore(place) })))
  const both = [await checks(first), await checks(second)]
  for (let round = 0; round < 20; round += 1) {
    const piece = signed({ claims: {}, assurance: `round ${round}` })
    const sent = both.map(({ one }, at) => outcome(one(piece, { messageId: `m${round}.${at}` })))
    assert.deepEqual((await Promise.all(sent)).sort(), ['EVIDENCE_REPLAYED', 'proven 1'])
  }
  const piece = signed({ claims: {}, assurance: 'the same message' })
  assert.deepEqual(await Promise.all(both.map(({ one }) => outcome(one(piece)))), ['proven 1', 'proven 1'])
  await first?.close()
  await second?.close()
})
