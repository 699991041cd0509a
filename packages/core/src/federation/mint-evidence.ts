/** Makes evidence of for whom an agent calls, for one recipient and one message, signed by this server [M20, M22, M31, M36]. */
import { Buffer } from 'node:buffer'
import { sign } from 'node:crypto'
import { canonicalJson } from './canonical.ts'
import type { OwnKey } from './own-keys.ts'

/** The extension whose messages carry evidence. */
export const identityExtension = 'https://mentionable.dev/ns/identity/v0.1'

/** What a piece of evidence says. */
interface EvidenceContent {
  /** The address of the agent that calls. */
  readonly subject: string
  /** The one recipient: an address, or the URL of a card. */
  readonly audience: string
  /** The immediate principal first, the origin last. */
  readonly onBehalfOf: readonly string[]
  readonly messageId: string
  /** Null where no context is sent. */
  readonly thread: string | null
  /** The digest of the evidence that the run itself came with; null without. */
  readonly digest: string | null
}

const method = 'urn:witan:auth:delegated:v1'
/** How long evidence holds: as long as the token beside it. */
const lifeMs = 300_000

/** A signed piece of evidence. `at` is in ms. */
export function mintEvidence(key: OwnKey, content: EvidenceContent, at: number): Readonly<Record<string, unknown>> {
  const { subject, audience, onBehalfOf, messageId, thread, digest } = content
  const proof = { type: 'signed-attestation', alg: 'EdDSA', kid: key.kid, canonicalization: 'JCS' }
  const unsigned = {
    ...{
      subject,
      issuer: `https://${subject.slice(subject.indexOf('@', 1) + 1)}`,
      method,
      assurance: 'delegated',
      audience,
    },
    ...{ issued_at: new Date(at).toISOString(), expires_at: new Date(at + lifeMs).toISOString() },
    ...(onBehalfOf.length === 0 ? {} : { on_behalf_of: onBehalfOf }),
    claims: {
      ...(thread === null ? {} : { thread }),
      message: messageId,
      ...(digest === null ? {} : { evidence_digest: digest }),
    },
    proof,
  }
  // Ed25519 names its own digest.
  const value = sign(null, Buffer.from(canonicalJson(unsigned)), key.privateKey).toString('base64url')
  return { ...unsigned, proof: { ...proof, value } }
}
