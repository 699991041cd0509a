/**
 * The thirteen published examples of Mentionable identity v0.2, by the names of their manifest, with the keys and signatures that were published:
 * each gives what its manifest names, in the codes of this server.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRuntime } from '@witan/core'
import { contexts, outcome } from '../testing/evidence-checks.ts'
import type { Json } from '../../../../test/support/evidence.ts'
import { createEvidenceChecks, type EvidenceTerms } from './evidence.ts'
import { createIssuerKeySets } from './issuer-key-sets.ts'

const connector = 'connector.fixtures.mentionable.dev'
const mismatch = 'mismatch.fixtures.mentionable.dev'
const keys = {
  [connector]: ['fixture-2026-08', 'z6MkmVFNVPJHDB9QCGSkgH5YiWiQ1XPkV12VqiWm7CHKgEfs'],
  [mismatch]: ['rogue-2026-08', 'z6MkgVT6Uh8yMCppMN7DWJaNjEmeDt4nJy857fS1mFHMAXAV'],
} as const
type Host = keyof typeof keys

const keyIdOf = (host: Host) => `did:web:${host}#${keys[host][0]}`
const documentOf = (host: Host): Json => {
  const controller = `did:web:${host}`
  const method = { id: keyIdOf(host), type: 'Multikey', controller, publicKeyMultibase: keys[host][1] }
  return { id: controller, verificationMethod: [method], assertionMethod: [method.id] }
}

const verifiedAt = Date.parse('2026-08-19T00:01:00Z')
const audience = '@fixture-agent@agents.example'
const source = { connector, channel: 'C0FIXTURE' }
const platform = { provider: 'slack', workspace_id: 'T0FIXTURE' }
const member = {
  ...{ id: 'slack:T0FIXTURE/U0FIXTURE', method: 'urn:mentionable:auth:slack-workspace-member:v0.1' },
  ...{ assurance: 'platform', platform },
  profile: { display_name: 'Fixture User', username: 'fixture-user', locale: 'en-US', timezone: 'UTC' },
  source,
}
const mention = {
  ...{ id: 'slack:T0FIXTURE/U0BOTFIX', method: 'urn:mentionable:auth:platform-mention:v0.1' },
  ...{ assurance: 'platform', platform },
  observedInvocation: {
    ...{ target: 'acct:fixture-agent@agents.example', channel: 'C0FIXTURE' },
    ...{ thread: '1755561600.000100', message: '1755561601.000200' },
  },
  source,
}

interface Published {
  readonly name: string
  readonly expected: string
  /** The `id` of the credential, its `proof.challenge`, and its `proof.proofValue`. */
  readonly facts: readonly [id: string, challenge: string, proofValue: string]
  readonly messageId?: string
  readonly content?: Json
  readonly proof?: Json
}

const INVALID = 'EVIDENCE_INVALID'
const onDay = (day: number): Json => ({
  validFrom: `2026-08-${day}T00:00:00Z`,
  validUntil: `2026-08-${day}T00:05:00Z`,
})
const replayed: Published = {
  name: 'replay-scenario',
  expected: 'proven 1',
  facts: [
    'aac9d1e3-0f1a-4be4-9352-7f8a9b0c1d2e',
    '8c9d0e1f-2a3b-4ce4-95f6-7a8b9c0d1e2f',
    'z2XUULJ2RoH3ed9BvDAoZfXesj9Kw7TFxmAhgPbYMPAoGF5RAuMnaiXDxXGNeTnoT9c3vK9VZLyHrXJ743ekgjwry',
  ],
}
const published: readonly Published[] = [
  {
    name: 'direct-user',
    expected: 'proven 1',
    facts: [
      '0d6f5f1e-8f3a-4a2e-9d38-6a4c8d1a9b21',
      '9f4b6c2e-1d3a-4c5b-8e7f-2a1b3c4d5e6f',
      'z3YUbD2EhhoywC6gHe5vxyimTBLhJ7B6uKXdby3D2osZ7JuBz65KBAUqW51mqAkFi4Anc63t2AvimbyfkbvaVkvQ2',
    ],
  },
  {
    name: 'platform-mention',
    expected: 'proven 1',
    facts: [
      '7c2e9b40-51df-4f6a-b1a3-9e8d0c2f4a55',
      '3a7d1e88-6b2c-4f90-a5d4-c1e2f3a4b5c6',
      'z5LXTG1DtWjrswQkpLTYNkoEDaV9DRJxm1eXPxiohgSn8wtFPuQrEbivmRu9ENvFGHrgwr3Y2D2vNE2dRnj9Wvyh1',
    ],
    content: { credentialSubject: mention },
  },
  {
    name: 'wrong-domain',
    expected: 'EVIDENCE_AUDIENCE',
    facts: [
      '11f0e2c4-9a8b-4c7d-8e6f-5a4b3c2d1e0f',
      'c0a80121-7ac0-4e5b-9fd1-1a2b3c4d5e6f',
      'z3Bsxn3uVs5ngEKEF69d1BTA1U7mGvLu8NwUuWBFbJYqHb6cuNX3UknwAU9bcAJNTtEfFsk4CcdsYwKNhaVw9KmFb',
    ],
    proof: { domain: '@other-agent@agents.example' },
  },
  {
    name: 'challenge-mismatch',
    expected: INVALID,
    facts: [
      '22a1b3c5-8d7e-4f6a-9b0c-1d2e3f4a5b6c',
      '5d1f2a3b-4c5d-4e6f-8a9b-0c1d2e3f4a5b',
      'z4bqFHKCku3ZtcuHEyZsbfbRSCs7nRLziieCTk8e2UxUp9AJ3RQ5R2E419NLKwt9eie9v3tozyQcwMvBBLzp1hiNV',
    ],
    messageId: 'e7f8a9b0-c1d2-4e3f-8a5b-6c7d8e9f0a1b',
  },
  {
    name: 'expired',
    expected: 'EVIDENCE_EXPIRED',
    facts: [
      '33b2c4d6-7e8f-4a5b-8c9d-0e1f2a3b4c5d',
      '1b2c3d4e-5f6a-4b7c-8d9e-0f1a2b3c4d5e',
      'z3ktVfechExGPeuE4yQEts2AjasD36HajABiihv8wZ4AX4Yrj1SkSrtxDXiCW3nBqDk7gRaLdPrbuMeKFCTHaUYLP',
    ],
    content: onDay(18),
    proof: { created: '2026-08-18T00:00:00Z' },
  },
  {
    name: 'not-yet-valid',
    expected: INVALID,
    facts: [
      '44c3d5e7-6f7a-4b8c-9d0e-1f2a3b4c5d6e',
      '2c3d4e5f-6a7b-4c8d-9e0f-1a2b3c4d5e6f',
      'z31Z8bmbctoq3nHeAuN1a1wWuqBnWGPkrQiCTebBcSgs6i4VrVERzhZzf716VuSHgXNpB1JrLwUTAdfn6JiPcnWAn',
    ],
    content: onDay(20),
    proof: { created: '2026-08-20T00:00:00Z' },
  },
  {
    name: 'ttl-exceeded',
    expected: INVALID,
    facts: [
      'aad4e6f8-2b3c-4d5e-8f60-1a2b3c4d5e6f',
      '9e0f1a2b-3c4d-4e5f-8a6b-7c8d9e0f1a2b',
      'z4pV27VtwA5JHYisce93drj78LHskQuXaBigGG2n3AdjQJAhfrW47v7SN1H8sNxDFxRX11eyUZYRf7bs66CF7oYW',
    ],
    content: { validUntil: '2026-08-19T01:00:00Z' },
  },
  {
    name: 'malformed-context',
    expected: INVALID,
    facts: [
      '55d4e6f8-5a6b-4c9d-8e0f-2a3b4c5d6e7f',
      '3d4e5f6a-7b8c-4d9e-a0f1-2b3c4d5e6f7a',
      'z67qSCLHHLHKNzyLjqUMyuMfrYVUhSNHSpNQEB14k1THEAPVPsWbz6KQF71eCazJSMLGKAmvPirNRNyFx99iYiMAq',
    ],
    content: { '@context': contexts.toReversed() },
  },
  {
    name: 'malformed-type',
    expected: INVALID,
    facts: [
      '66e5f7a9-4b5c-4da0-9f1e-3b4c5d6e7f8a',
      '4e5f6a7b-8c9d-4ea0-b1f2-3c4d5e6f7a8b',
      'zzhBxgdqKVbBE1PFraM3o35hXyjcxFGBUTDj6D17fvVbPYBmyZZdmwQYkPX8ue8XToyeZ7ZQfstcSQ4pCzasRT1T',
    ],
    content: { type: ['VerifiableCredential'] },
  },
  {
    name: 'tampered-payload',
    expected: INVALID,
    facts: [
      '77f6a8b0-3c4d-4eb1-a02f-4c5d6e7f8a9b',
      '5f6a7b8c-9d0e-4fb1-a2c3-4d5e6f7a8b9c',
      'z3nddgozjoCUciqy2pyJoAH3kdFm6VDmEFhAnBBqLy5ZBGPYEBdqdNcmuPnaMqdchdPWGJYCV4zTk1wirdckikzEk',
    ],
    content: { credentialSubject: { ...member, id: 'slack:T0FIXTURE/U0TAMPERED' } },
  },
  {
    name: 'tampered-signature',
    expected: INVALID,
    facts: [
      '88a7b9c1-2d3e-4fc2-b130-5d6e7f8a9b0c',
      '6a7b8c9d-0e1f-4ac2-b3d4-5e6f7a8b9c0d',
      'z5CAU5JuxYoLxdFBZzKrVmWESdtVQXdNP8iAB8Pf7xXQobhQfk5qArz3fLojmEDSrHnJbWPsZ3cjovbv3GZmVyMy2',
    ],
  },
  {
    name: 'issuer-controller-mismatch',
    expected: INVALID,
    facts: [
      '99b8c0d2-1e2f-4ad3-8241-6e7f8a9b0c1d',
      '7b8c9d0e-1f2a-4bd3-c4e5-6f7a8b9c0d1e',
      'z4dZNHYi2uL1oX6yCRBM5hJFh2g5jqfBvapqVH3jsv5PkxnCYn35Ntn2JdyPKn7SJG5n1oPeMLG3TkTtZm7R3TEGS',
    ],
    proof: { verificationMethod: keyIdOf(mismatch) },
  },
  replayed,
]

/** The credential as it was published. */
function credentialOf({ facts: [id, challenge, proofValue], content, proof }: Published): Json {
  const created = '2026-08-19T00:00:00Z'
  const types = ['VerifiableCredential', 'PlatformIdentityCredential']
  return {
    ...{ '@context': contexts, id: `urn:uuid:${id}`, type: types, issuer: `did:web:${connector}` },
    ...{ ...onDay(19), credentialSubject: member, ...content },
    proof: {
      ...{ type: 'DataIntegrityProof', created, verificationMethod: keyIdOf(connector), cryptosuite: 'eddsa-jcs-2022' },
      ...{ proofPurpose: 'assertionMethod', domain: audience, challenge, '@context': contexts, proofValue, ...proof },
    },
  }
}

/** Checks at the time of the manifest, with the issuer's documents as they were published. */
async function opened() {
  const runtime = createRuntime()
  await runtime.ready
  const documents: Json = Object.fromEntries(
    [connector, mismatch].map((host) => [`https://${host}/.well-known/did.json`, documentOf(host as Host)]),
  )
  const sets = createIssuerKeySets(
    async (url) => documents[url],
    () => verifiedAt,
  )
  const subjects = [member.id, mention.id, 'slack:T0FIXTURE/U0TAMPERED']
  const trust = [{ issuer: `did:web:${connector}`, methods: ['*'], subjects }]
  const { check } = createEvidenceChecks({ trust, keys: sets, used: runtime.usedEvidence, now: () => verifiedAt })
  const shown = (one: Published, more: Partial<EvidenceTerms> = {}) => {
    const server = 'https://caller.example'
    const messageId = one.messageId ?? one.facts[1]
    const terms = { audiences: [audience], caller: '@a@caller.example', server, messageId, thread: null, ...more }
    return outcome(check({ evidence: undefined, credentials: [credentialOf(one)] }, terms))
  }
  return { runtime, shown }
}

describe('published credentials of identity v0.2', () => {
  for (const one of published)
    test(`[Mb10] ${one.name}: ${one.expected}`, async () => {
      const { runtime, shown } = await opened()
      assert.equal(await shown(one), one.expected)
      await runtime.close()
    })

  test('[Mb10] [E68] replay-scenario: a second presentation is refused, unless it is the same message again', async () => {
    const { runtime, shown } = await opened()
    assert.equal(await shown(replayed), 'proven 1')
    assert.equal(await shown(replayed, { caller: '@b@caller.example' }), 'EVIDENCE_REPLAYED')
    assert.equal(await shown(replayed, { messageId: 'another' }), 'EVIDENCE_REPLAYED')
    assert.equal(await shown(replayed), 'proven 1')
    await runtime.close()
  })

  test('[Mb10] the published signatures hold, but for what is tampered with, malformed, or signed by another controller', async () => {
    const { runtime, shown } = await opened()
    // A signature is checked before the audience.
    for (const one of published) {
      const isWrong = /^(?:tampered|malformed|issuer)/.test(one.name)
      const found = await shown(one, { audiences: ['@nobody@agents.example'] })
      assert.equal(found, isWrong ? INVALID : 'EVIDENCE_AUDIENCE', one.name)
    }
    await runtime.close()
  })
})
