/** Checks the evidence of a message, row by row: what is not trusted is dropped, and what is trusted and wrong refuses the message [M03, M24, E68]. */
import { createHash } from 'node:crypto'
import {
  credentialClaim,
  type EvidencePiece,
  isSignedBy,
  isTrusted,
  jsonLength,
  readCredential,
  readEvidence,
  type TrustedIssuer,
  type UsedEvidence,
} from '@witan/core/tooling'
import { isWitanError, WitanError } from '@witan/protocol'
import type { ProvenEvidence } from '@witan/protocol/entries'
import type { IssuerKeySets } from './issuer-key-sets.ts'
import { fieldOf } from './wire.ts'

/** What came with a message, as it came. */
export interface GivenEvidence {
  /** `metadata.mentionable.identity_evidence` and `verifiable_credentials`; undefined for none. */
  readonly evidence: unknown
  readonly credentials: unknown
}

/** The message that evidence must be for. */
export interface EvidenceTerms {
  /** The names of the called agent: its address, and the URL of its card. */
  readonly audiences: readonly string[]
  /** The id of the caller. */
  readonly caller: string
  /** The server of the caller's address; null for a caller of this one. */
  readonly server: string | null
  readonly messageId: string
  readonly thread: string | null
}

/** What the evidence of a message proves, and how many pieces of it were dropped. */
export interface CheckedEvidence {
  readonly proven: readonly ProvenEvidence[]
  readonly dropped: number
}

/** Checks evidence. */
export interface EvidenceChecks {
  /** Throws `EVIDENCE_INVALID`, `EVIDENCE_AUDIENCE`, `EVIDENCE_REPLAYED` or `EVIDENCE_EXPIRED`. */
  check(given: GivenEvidence, terms: EvidenceTerms): Promise<CheckedEvidence>
}

/** What evidence is checked with. */
interface EvidenceOptions {
  readonly trust: readonly TrustedIssuer[]
  readonly keys: IssuerKeySets
  readonly used: UsedEvidence
  /** In ms. */
  now(): number
}

const mostPieces = 4
const mostBytes = 65_536
const skewMs = 60_000
const longestLifeMs = 600_000
/** How long a piece is remembered after its end: the clocks of two processes are not the same. */
const keptMs = 600_000

/** A piece, and how it is read. */
interface Carried {
  readonly value: unknown
  readonly claim: Readonly<Record<'issuer' | 'method' | 'subject', unknown>>
  readonly read: (value: unknown) => EvidencePiece | null
}

/** Creates the checks. */
export function createEvidenceChecks(options: EvidenceOptions): EvidenceChecks {
  return {
    async check(given, terms) {
      const carried = carriedIn(given)
      if (carried.length === 0) return { proven: [], dropped: 0 }
      const trusted = isTooMuch(carried) ? [] : carried.filter((one) => isBelieved(one, options.trust, terms))
      const dropped = carried.length - trusted.length
      const pieces: EvidencePiece[] = []
      for (const one of trusted) pieces.push(await signedPiece(one, options.keys))
      await checkUse(pieces, terms, options)
      return { proven: pieces.map(provenBy), dropped }
    },
  }
}

function carriedIn({ evidence, credentials }: GivenEvidence): readonly Carried[] {
  const claimOf = (value: unknown) => ({
    ...{ issuer: fieldOf(value, 'issuer'), method: fieldOf(value, 'method'), subject: fieldOf(value, 'subject') },
  })
  return [
    ...listOf(evidence).map((value) => ({ value, claim: claimOf(value), read: readEvidence })),
    ...listOf(credentials).map((value) => ({ value, claim: credentialClaim(value), read: readCredential })),
  ]
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

/** Measured before anything of it is read. The quick estimate, up to three times too long, bounds what the exact one costs. */
function isTooMuch(carried: readonly Carried[]): boolean {
  if (carried.length > mostPieces) return true
  const values = carried.map(({ value }) => value)
  return jsonLength(values, mostBytes * 3) > mostBytes * 3 || Buffer.byteLength(JSON.stringify(values)) > mostBytes
}

/**
 * Whether a piece is of a trusted issuer, method and subject. One that names no method or subject is wrong, if its issuer is one of the list
 * or the caller's own server; else it is nobody's.
 */
function isBelieved({ claim }: Carried, trust: readonly TrustedIssuer[], { server }: EvidenceTerms): boolean {
  const { issuer, method, subject } = claim
  if (typeof issuer !== 'string') return false
  if (typeof method === 'string' && typeof subject === 'string') return isTrusted(trust, { issuer, method, subject })
  if (issuer !== server && !trust.some((one) => one.issuer === issuer)) return false
  throw invalid()
}

/** A piece that its issuer has signed. Throws `EVIDENCE_INVALID`. */
async function signedPiece({ value, read }: Carried, keys: IssuerKeySets): Promise<EvidencePiece> {
  const piece = read(value)
  if (piece === null) throw invalid()
  const key = await keyOf(piece, keys)
  if (key === null || !isSignedBy(piece, key))
    throw new WitanError('EVIDENCE_INVALID', 'The evidence is not signed by a key that its issuer publishes.')
  return piece
}

async function keyOf({ key }: EvidencePiece, keys: IssuerKeySets): ReturnType<IssuerKeySets['keyOf']> {
  try {
    return await keys.keyOf(key)
  } catch (error) {
    if (!isWitanError(error) || error.code !== 'UNAUTHENTICATED') throw error
    throw new WitanError('EVIDENCE_INVALID', 'The keys of the issuer of the evidence cannot be read.')
  }
}

/** The rows about one message, in their order. Only what passes them all counts as used. */
async function checkUse(
  pieces: readonly EvidencePiece[],
  terms: EvidenceTerms,
  { used, now }: EvidenceOptions,
): Promise<void> {
  if (!pieces.every(({ audiences }) => audiences.some((one) => terms.audiences.includes(one))))
    throw new WitanError('EVIDENCE_AUDIENCE', 'The evidence is for somebody else than the agent that was called.')
  const at = now()
  const message = messageKey(terms)
  const refusal = pieces.some(({ expiresAt }) => expiresAt + skewMs < at)
    ? new WitanError('EVIDENCE_EXPIRED', 'The evidence has expired.')
    : pieces.some((piece) => !isForNow(piece, terms, at))
      ? new WitanError('EVIDENCE_INVALID', 'The evidence is for another time, thread or message.')
      : null
  for (const { digest, expiresAt } of pieces) {
    const isUsable =
      refusal === null
        ? await used.use({ digest, message, until: expiresAt + skewMs + keptMs })
        : ((await used.usedWith(digest)) ?? message) === message
    if (!isUsable) throw new WitanError('EVIDENCE_REPLAYED', 'The evidence was used with another message.')
  }
  if (refusal !== null) throw refusal
}

function isForNow(piece: EvidencePiece, { thread, messageId }: EvidenceTerms, at: number): boolean {
  const { issuedAt, validFrom, expiresAt } = piece
  const life = expiresAt - issuedAt
  if (validFrom > at + skewMs || life < 0 || life > longestLifeMs) return false
  return (piece.thread === null || piece.thread === thread) && (piece.message === null || piece.message === messageId)
}

/** What makes a message another one: who sends it, to whom, and its id. */
function messageKey({ caller, audiences, messageId }: EvidenceTerms): string {
  const text = JSON.stringify([caller, audiences[0], messageId])
  return createHash('sha256').update(text).digest('base64url')
}

function provenBy({ subject, onBehalfOf, issuer, digest, expiresAt }: EvidencePiece): ProvenEvidence {
  return { subject, onBehalfOf, issuer, digest, expiresAt }
}

function invalid(): WitanError {
  const hint =
    'It needs its fields, and a proof of the type `signed-attestation` or, of a credential, `eddsa-jcs-2022`.'
  return new WitanError('EVIDENCE_INVALID', 'The evidence is malformed.', { hint })
}
