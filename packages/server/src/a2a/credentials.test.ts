/** Verifiable credentials, which are read as evidence: ours with each of their fields changed, and as other software makes them. */
import assert from 'node:assert/strict'
import type { KeyObject } from 'node:crypto'
import { describe, test } from 'node:test'
import type { EvidenceTerms } from './evidence.ts'
import {
  checks,
  connector,
  contexts,
  credential,
  did,
  document,
  foreignKey,
  integrity,
  iso,
  outcome,
  terms,
} from '../testing/evidence-checks.ts'
import { evil, type Json, signedCredential } from '../../../../test/support/evidence.ts'

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
