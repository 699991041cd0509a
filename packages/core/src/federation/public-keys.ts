/** The Ed25519 keys that an issuer publishes, as a key set or as the document of its `did:web`. */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { urlOfDid } from '../identity/trust.ts'
import { base58 } from './base58.ts'
import type { KeyPlace } from './evidence-piece.ts'
import { fieldOf, isRecord, recordsIn, textIn } from './record.ts'

/** Keys by their id. */
export type PublicKeys = ReadonlyMap<string, KeyObject>

const mostKeys = 100

/** Where the keys of an issuer are. A `did:web` with a path has its document there. */
export function keysUrl({ form, issuer }: Pick<KeyPlace, 'form' | 'issuer'>): string {
  if (form === 'jwks') return `${issuer}/.well-known/jwks.json`
  const url = urlOfDid(issuer)
  if (url === null) throw new Error('this is no did:web')
  return new URL(url).pathname === '/' ? `${url}/.well-known/did.json` : `${url}/did.json`
}

/** The keys of a document. Throws for what is none, or has more than 100. */
export function keysIn(document: unknown, { form, issuer }: Pick<KeyPlace, 'form' | 'issuer'>): PublicKeys {
  return form === 'jwks' ? keysOfSet(document) : keysOfDid(document, issuer)
}

function keysOfSet(set: unknown): PublicKeys {
  const keys = fieldOf(set, 'keys')
  if (!Array.isArray(keys) || keys.length > mostKeys) throw new Error(`no set of at most ${mostKeys} keys`)
  return new Map(
    recordsIn(set, 'keys').flatMap((jwk) => {
      const kid = textIn(jwk, 'kid')
      const key = (textIn(jwk, 'use') ?? 'sig') === 'sig' ? keyOfJwk(jwk) : null
      return kid === undefined || key === null ? [] : [[kid, key] as const]
    }),
  )
}

/** The methods of a document that its own subject controls, and asserts with. */
function keysOfDid(document: unknown, did: string): PublicKeys {
  const methods = fieldOf(document, 'verificationMethod')
  const asserting = fieldOf(document, 'assertionMethod')
  if (
    textIn(document, 'id') !== did ||
    !Array.isArray(methods) ||
    methods.length > mostKeys ||
    !Array.isArray(asserting)
  )
    throw new Error('no document of this did:web')
  return new Map(
    methods.filter(isRecord).flatMap((method) => {
      const id = textIn(method, 'id') ?? ''
      const isOwn = textIn(method, 'controller') === did && asserting.slice(0, mostKeys).includes(id)
      const key = isOwn
        ? (keyOfMultibase(textIn(method, 'publicKeyMultibase')) ?? keyOfJwk(method['publicKeyJwk']))
        : null
      return key === null ? [] : [[id, key] as const]
    }),
  )
}

function keyOfJwk(jwk: unknown): KeyObject | null {
  const x = textIn(jwk, 'x')
  if (textIn(jwk, 'kty') !== 'OKP' || textIn(jwk, 'crv') !== 'Ed25519' || x === undefined) return null
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  } catch {
    return null
  }
}

/** The mark of an Ed25519 key in multicodec. */
const ed25519Mark = [0xed, 0x01] as const
const keyBytes = 32

function keyOfMultibase(text: string | undefined): KeyObject | null {
  const bytes = text?.startsWith('z') === true ? base58(text.slice(1)) : null
  if (bytes === null || bytes.length !== ed25519Mark.length + keyBytes) return null
  if (ed25519Mark.some((mark, index) => bytes[index] !== mark)) return null
  const x = Buffer.from(bytes.subarray(ed25519Mark.length)).toString('base64url')
  return keyOfJwk({ kty: 'OKP', crv: 'Ed25519', x })
}
