/** Checks of evidence with issuers whose keys are known, and pieces and credentials that these have signed. */
import assert from 'node:assert/strict'
import type { KeyObject } from 'node:crypto'
import { createRuntime } from '@witan/core'
import { isWitanError } from '@witan/protocol'
import { createEvidenceChecks, type EvidenceTerms } from '../a2a/evidence.ts'
import { createIssuerKeySets } from '../a2a/issuer-key-sets.ts'
import {
  evil,
  good,
  type Json,
  jwkOf,
  multikeyOf,
  signedCredential,
  signedEvidence,
} from '../../../../test/support/evidence.ts'

/** Far ahead: a store forgets by its own clock what has ended. */
export const at = Date.parse('2100-11-28T12:00:00Z')
export const did = 'did:web:ids.test'
export const connector = 'did:web:connector.test'
export const foreignKey = 'did:web:evil.test#k1'
export const iso = (seconds: number): string => new Date(at + seconds * 1000).toISOString()

const unsigned: Json = {
  ...{ subject: '@a@a.test', issuer: 'https://a.test', method: 'urn:witan:auth:delegated:v1', assurance: 'delegated' },
  ...{ audience: '@docs@bots.example', issued_at: iso(0), expires_at: iso(300) },
  on_behalf_of: ['@b@b.test', 'mailto:u@example.com'],
  claims: { thread: 'ctx', message: 'm1' },
}

export const signed = (content: Json = {}, how: { proof?: Json; key?: KeyObject } = {}): Json =>
  signedEvidence({ ...unsigned, ...content }, how)

export const terms: EvidenceTerms = {
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

export const nextLetter = (text: string): string => String.fromCharCode(text.charCodeAt(text.length - 1) + 1)

/** Checks on a store of their own, or on one that others have too. */
export async function checks(runtime = createRuntime()) {
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
export async function outcome(checking: Promise<{ proven: readonly unknown[]; dropped: number }>): Promise<string> {
  try {
    const { proven, dropped } = await checking
    return dropped > 0 ? 'dropped' : `proven ${proven.length}`
  } catch (error) {
    if (!isWitanError(error)) throw error
    assert.doesNotMatch(error.message, /example|test|sha256/)
    return error.code
  }
}

export const contexts = [
  'https://www.w3.org/ns/credentials/v2',
  'https://mentionable.dev/ns/identity/v0.2/context.jsonld',
]
export const document: Json = {
  ...{
    '@context': contexts,
    id: 'urn:uuid:1',
    type: ['VerifiableCredential', 'PlatformIdentityCredential'],
    issuer: did,
  },
  ...{ validFrom: iso(-60), validUntil: iso(240) },
  credentialSubject: {
    id: 'slack:T0/U0',
    method: 'urn:x:mention',
    assurance: 'platform',
    platform: { provider: 'slack' },
  },
}
export const integrity: Json = {
  ...{ type: 'DataIntegrityProof', created: iso(-60), verificationMethod: `${did}#k1` },
  ...{ cryptosuite: 'eddsa-jcs-2022', proofPurpose: 'assertionMethod', domain: '@docs@bots.example', challenge: 'm1' },
  '@context': contexts,
}

export const credential = (content: Json = {}, options: Json = {}, key: KeyObject = good.privateKey): Json =>
  signedCredential({ ...document, ...content }, { ...integrity, ...options }, key)
