/** Evidence and verifiable credentials as another server makes them, written from the contract alone; and the keys that sign them. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

export type Json = Record<string, unknown>

/** Canonical JSON, written for the tests alone. */
export function jcs(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jcs).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${jcs((value as Json)[name])}`).join(',')}}`
}

export const [good, evil] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')]

export const jwkOf = (key: KeyObject, kid: string): Json => ({
  ...{ ...key.export({ format: 'jwk' }), kid, alg: 'EdDSA', use: 'sig' },
})

interface Signing {
  readonly proof?: Json
  readonly key?: KeyObject
}

/** A piece of evidence with this content, signed with the key `k1`, or as `proof` and `key` say. */
export function signedEvidence(content: Json, { proof: more = {}, key = good.privateKey }: Signing = {}): Json {
  const proof = { type: 'signed-attestation', alg: 'EdDSA', kid: 'k1', canonicalization: 'JCS', ...more }
  const whole = { ...content, proof }
  return { ...whole, proof: { ...proof, value: sign(null, Buffer.from(jcs(whole)), key).toString('base64url') } }
}

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Base58 with the mark of multibase. */
export function base58(bytes: Buffer): string {
  let number = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (; number > 0n; number /= 58n) text = `${alphabet[Number(number % 58n)]}${text}`
  // A leading byte of zero is a digit of its own.
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return `z${'1'.repeat(zeros)}${text}`
}

/** The public key of a pair as a Multikey. */
export function multikeyOf(key: KeyObject): string {
  const { x = '' } = key.export({ format: 'jwk' })
  return base58(Buffer.concat([Buffer.from([0xed, 0x01]), Buffer.from(x, 'base64url')]))
}

/** A credential with a proof of `eddsa-jcs-2022`: a signature over the digests of the proof's options and of the document. */
export function signedCredential(document: Json, options: Json, key: KeyObject = good.privateKey): Json {
  const digests = [options, document].map((one) => createHash('sha256').update(jcs(one)).digest())
  return { ...document, proof: { ...options, proofValue: base58(sign(null, Buffer.concat(digests), key)) } }
}
