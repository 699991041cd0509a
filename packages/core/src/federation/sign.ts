/** Signs A2A cards with the keys of this server, and checks the signatures of others' cards. */
import { Buffer } from 'node:buffer'
import type { JWK } from 'jose'
import { canonicalCard } from './canonical.ts'
import type { OwnKey } from './own-keys.ts'

/** A signature of a card: flattened JWS without its payload. */
interface CardSignature {
  readonly protected: string
  readonly signature: string
}

/** The card with a signature of each key, in their order. `jku` says where the keys are published. */
export async function signedCard<Card extends object>(
  card: Card,
  keys: readonly OwnKey[],
  jku: string,
): Promise<Card & { readonly signatures: readonly CardSignature[] }> {
  const { FlattenedSign } = await import('jose')
  const payload = Buffer.from(canonicalCard(card))
  const signatures: CardSignature[] = []
  for (const { kid, privateKey } of keys) {
    const header = { alg: 'EdDSA', typ: 'JOSE', kid, jku }
    const { protected: head = '', signature } = await new FlattenedSign(payload)
      .setProtectedHeader(header)
      .sign(privateKey)
    signatures.push({ protected: head, signature })
  }
  return { ...card, signatures }
}

/** What the signatures of a card say. */
type CardProof =
  | { readonly kind: 'signed'; readonly kids: readonly string[] }
  | { readonly kind: 'unsigned' }
  | { readonly kind: 'wrong'; readonly problem: string }

const mostSignatures = 16

/**
 * Checks the signatures of a card against the keys that its domain publishes. A signature by another key does not count, wherever its `jku`
 * leads. One that is wrong spoils the card.
 */
export async function checkCard(card: object, keys: readonly JWK[]): Promise<CardProof> {
  const { signatures } = card as { readonly signatures?: unknown }
  if (signatures === undefined || (Array.isArray(signatures) && signatures.length === 0)) return { kind: 'unsigned' }
  if (!Array.isArray(signatures) || signatures.length > mostSignatures)
    return { kind: 'wrong', problem: `\`signatures\` is no list of at most ${mostSignatures}` }
  const payload = Buffer.from(canonicalCard(card)).toString('base64url')
  const kids: string[] = []
  for (const signature of signatures) {
    const proof = await checkSignature(signature, payload, keys)
    if (proof.problem !== null) return { kind: 'wrong', problem: proof.problem }
    if (proof.kid !== null) kids.push(proof.kid)
  }
  if (kids.length > 0) return { kind: 'signed', kids }
  return { kind: 'wrong', problem: 'no key that its domain publishes has signed it' }
}

type Checked = { readonly kid: string | null; readonly problem: string | null }

/** `kid` null: the key is not among those that count. */
async function checkSignature(signature: unknown, payload: string, keys: readonly JWK[]): Promise<Checked> {
  const { decodeProtectedHeader, flattenedVerify, importJWK } = await import('jose')
  const jws = signature as { readonly protected?: unknown; readonly signature?: unknown } | null
  if (typeof jws?.protected !== 'string' || typeof jws.signature !== 'string')
    return { kid: null, problem: 'a signature has no `protected` and `signature`' }
  try {
    const { kid } = decodeProtectedHeader({ protected: jws.protected })
    const key = keys.find((one) => typeof kid === 'string' && one.kid === kid)
    if (kid === undefined || key === undefined) return { kid: null, problem: null }
    const algorithms = ['EdDSA', 'Ed25519']
    await flattenedVerify(
      { protected: jws.protected, signature: jws.signature, payload },
      await importJWK({ kty: 'OKP', crv: 'Ed25519', x: key.x ?? '' }, 'EdDSA'),
      { algorithms },
    )
    return { kid, problem: null }
  } catch {
    return { kid: null, problem: 'a signature is wrong' }
  }
}
