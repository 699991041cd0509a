/** Reads a verifiable credential of a platform's identity as evidence: `eddsa-jcs-2022` by a `did:web`. It is never made here. */
import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { canonicalSubject } from '../identity/trust.ts'
import { base58 } from './base58.ts'
import { canonicalJson } from './canonical.ts'
import { digestOf, type EvidencePiece, isPlain, isText, timeOf } from './evidence-piece.ts'
import { fieldOf, isRecord, type JsonRecord } from './record.ts'

const contexts = ['https://www.w3.org/ns/credentials/v2', 'https://mentionable.dev/ns/identity/v0.2/context.jsonld']
const types = ['VerifiableCredential', 'PlatformIdentityCredential']

/** What a credential says of itself where evidence has `issuer`, `method` and `subject`. */
export function credentialClaim(credential: unknown): Readonly<Record<'issuer' | 'method' | 'subject', unknown>> {
  const about = fieldOf(credential, 'credentialSubject')
  return { issuer: fieldOf(credential, 'issuer'), method: fieldOf(about, 'method'), subject: fieldOf(about, 'id') }
}

/** Reads a credential; null for what is malformed, or has no proof of that kind by its issuer. */
export function readCredential(credential: unknown): EvidencePiece | null {
  if (!isRecord(credential) || !isPlain(credential)) return null
  const { proof, ...document } = credential
  const { issuer, subject } = credentialClaim(credential)
  if (!isText(issuer) || !isText(subject) || !isRecord(proof) || !hasForm(document)) return null
  const issuedAt = timeOf(document['validFrom'])
  const expiresAt = timeOf(document['validUntil'])
  const { proofValue, ...options } = proof
  const { domain, challenge } = options as JsonRecord
  const kid = keyIdOf(options, issuer)
  const signature = signatureOf(proofValue)
  if (issuedAt === null || expiresAt === null || kid === null || signature === null) return null
  if (!isText(domain) || typeof challenge !== 'string' || challenge === '') return null
  const digests = [options, document].map((one) => createHash('sha256').update(canonicalJson(one)).digest())
  return {
    ...{ subject: canonicalSubject(subject), issuer, onBehalfOf: [], audiences: [canonicalSubject(domain)] },
    ...{ issuedAt, validFrom: issuedAt, expiresAt, thread: null, message: challenge, digest: digestOf(credential) },
    ...{ key: { form: 'did', issuer, kid }, signed: Buffer.concat(digests), signature },
  }
}

function hasForm(document: JsonRecord): boolean {
  const context = document['@context']
  const type = document['type']
  if (!Array.isArray(context) || !contexts.every((one, index) => context[index] === one)) return false
  return Array.isArray(type) && types.every((one) => type.includes(one))
}

/** The id of the key that made a proof; null for a proof of another kind, or by anybody but the issuer. */
function keyIdOf(options: JsonRecord, issuer: string): string | null {
  const { type, cryptosuite, proofPurpose, verificationMethod: kid } = options
  if (type !== 'DataIntegrityProof' || cryptosuite !== 'eddsa-jcs-2022' || proofPurpose !== 'assertionMethod')
    return null
  return isText(kid) && kid.startsWith(`${issuer}#`) ? kid : null
}

const signatureBytes = 64

function signatureOf(value: unknown): Uint8Array | null {
  if (typeof value !== 'string' || !value.startsWith('z') || value.length > 100) return null
  const bytes = base58(value.slice(1))
  return bytes?.length === signatureBytes ? bytes : null
}
