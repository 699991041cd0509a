/** Reads a piece of evidence that came with a message: its form, not yet whether it is signed [Mb08, Mb09]. */
import { Buffer } from 'node:buffer'
import { createHash, type KeyObject, verify } from 'node:crypto'
import { canonicalSubject } from '../identity/trust.ts'
import { canonicalJson } from './canonical.ts'
import { fieldOf, isRecord, type JsonRecord } from './record.ts'

/** Where the key of a signature is found: in a set of JSON Web Keys, or in the document of a `did:web`. */
export interface KeyPlace {
  readonly form: 'jwks' | 'did'
  readonly issuer: string
  readonly kid: string
}

/** A piece that has the form of evidence. Addresses in it are in canonical form; times are in ms. */
export interface EvidencePiece {
  readonly subject: string
  readonly issuer: string
  readonly onBehalfOf: readonly string[]
  readonly audiences: readonly string[]
  readonly issuedAt: number
  readonly validFrom: number
  readonly expiresAt: number
  /** The context and the message that it is for; null for any. */
  readonly thread: string | null
  readonly message: string | null
  /** `sha256:` and the digest of its canonical JSON. */
  readonly digest: string
  readonly key: KeyPlace
  readonly signed: Uint8Array
  readonly signature: Uint8Array
}

const longestText = 320
const mostPrincipals = 16
const mostAudiences = 16

/** Reads a piece; null for what is malformed, or has no signed attestation. */
export function readEvidence(piece: unknown): EvidencePiece | null {
  if (!isRecord(piece) || !isPlain(piece)) return null
  const { subject, issuer, method, assurance } = piece
  if (![subject, issuer, method, assurance].every(isText)) return null
  const times = [piece['issued_at'], piece['expires_at'], piece['not_before'] ?? piece['issued_at']].map(timeOf)
  const [issuedAt = null, expiresAt = null, validFrom = null] = times
  const onBehalfOf = textsOf(piece['on_behalf_of'] ?? [], mostPrincipals)
  const audiences = textsOf(isText(piece['audience']) ? [piece['audience']] : piece['audience'], mostAudiences)
  const claims = piece['claims'] ?? {}
  const [thread, message] = ['thread', 'message'].map((name) => fieldOf(claims, name) ?? null)
  const proof = attestationOf(piece)
  if (issuedAt === null || expiresAt === null || validFrom === null || onBehalfOf === null || audiences === null)
    return null
  if (proof === null || !isRecord(claims) || !isClaim(thread) || !isClaim(message)) return null
  return {
    ...{ subject: canonicalSubject(subject as string), issuer: issuer as string, onBehalfOf, audiences },
    ...{ issuedAt, expiresAt, validFrom: Math.max(issuedAt, validFrom), thread, message },
    ...{ digest: digestOf(piece), signed: proof.signed, signature: proof.signature },
    key: { form: 'jwks', issuer: issuer as string, kid: proof.kid },
  }
}

/** True if the key made the signature. */
export function isSignedBy({ signed, signature }: EvidencePiece, key: KeyObject): boolean {
  // Ed25519 names its own digest.
  return verify(null, signed, key, signature)
}

/** `sha256:` and the digest of the canonical JSON of a value. */
export function digestOf(value: unknown): string {
  return `sha256:${createHash('sha256').update(canonicalJson(value)).digest('hex')}`
}

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** A time in ms; null for what is none. */
export function timeOf(value: unknown): number | null {
  if (typeof value !== 'string' || !timePattern.test(value)) return null
  const time = Date.parse(value)
  return Number.isFinite(time) ? time : null
}

/** True for a text of 1 to 320 characters. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= longestText
}

/** True for what has a canonical form: no number beyond those of JSON, and no half of a surrogate pair. */
export function isPlain(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value === 'number') return Number.isFinite(value)
  if (Array.isArray(value)) return value.every(isPlain)
  if (!isRecord(value)) return true
  return Object.entries(value).every(([name, one]) => name.isWellFormed() && isPlain(one))
}

interface Attestation {
  readonly kid: string
  readonly signed: Uint8Array
  readonly signature: Uint8Array
}

function attestationOf(piece: JsonRecord): Attestation | null {
  const { proof } = piece
  if (!isRecord(proof) || proof['type'] !== 'signed-attestation') return null
  const { value, ...rest } = proof
  const { alg, kid, canonicalization = 'JCS' } = rest as JsonRecord
  if ((alg !== 'EdDSA' && alg !== 'Ed25519') || canonicalization !== 'JCS' || !isText(kid)) return null
  const signature = typeof value === 'string' && value.length === 86 ? Buffer.from(value, 'base64url') : null
  // One signature has one text: another one would be another piece.
  if (signature === null || signature.toString('base64url') !== value) return null
  return { kid, signature, signed: Buffer.from(canonicalJson({ ...piece, proof: rest })) }
}

const longestClaim = 400

function isClaim(value: unknown): value is string | null {
  return value === null || (typeof value === 'string' && value.length <= longestClaim)
}

function textsOf(value: unknown, most: number): readonly string[] | null {
  if (!Array.isArray(value) || value.length > most || !value.every(isText)) return null
  return value.map(canonicalSubject)
}
