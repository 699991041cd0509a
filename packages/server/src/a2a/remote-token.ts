/** Tokens that other servers sign for the calls of their agents: a JWT for one address and one message [M03]. */
import { type Address, readAddress } from '@witan/protocol/names'
import type { KeyObject } from 'node:crypto'
import { errors, type JWTHeaderParameters, type JWTPayload, jwtVerify } from 'jose'
import type { IssuerKeySets } from './issuer-key-sets.ts'
import { refused } from './credential-error.ts'
import { payloadOf } from './unverified-token.ts'
import { fieldOf } from './wire.ts'

/** What a token proves: the agent that calls, and the chain that its server counted. */
interface ProvenCaller {
  readonly address: Address
  readonly chain: unknown
  readonly audience: string
  /** The id of the message that it goes with; of a method without one, any id. */
  readonly messageId: string
}

export interface RemoteTokens {
  /** `audiences` says whom the token may be for. Throws `UNAUTHENTICATED`. */
  verify(token: string, audiences: (audience: string) => boolean): Promise<ProvenCaller>
}

/** Nothing else: a token has one meaning, whoever made it. */
const algorithms = ['EdDSA', 'Ed25519']
const longestLifeSeconds = 600
const skewSeconds = 60
const longestKeyId = 200

/** Creates the check. `now` is in ms. */
export function createRemoteTokens(keys: IssuerKeySets, now: () => number): RemoteTokens {
  return {
    async verify(token, audiences) {
      const { issuer, address } = claimed(token)
      const at = now()
      const payload = await verified(token, keys, { issuer, at })
      const { aud, jti, iat, exp } = payload
      if (typeof aud !== 'string' || !audiences(aud))
        throw refused('The claim `aud` is not the address that was called.')
      if (typeof jti !== 'string' || jti === '') throw refused('The claim `jti` is missing.')
      if (!Number.isFinite(iat) || !Number.isFinite(exp)) throw refused('The claims `iat` and `exp` must be times.')
      if ((exp as number) > (iat as number) + longestLifeSeconds)
        throw refused(`The token lives longer than ${longestLifeSeconds} seconds.`)
      if ((iat as number) * 1000 > at + skewSeconds * 1000) throw refused('The claim `iat` is in the future.')
      return { address, chain: payload['witan_chain'], audience: aud, messageId: jti }
    },
  }
}

/** The claims that say whose keys to ask for: an address, and the server of its domain. */
function claimed(token: string): { readonly issuer: string; readonly address: Address } {
  const payload = payloadOf(token)
  if (payload === null) throw refused('This is not a valid token.')
  const sub = fieldOf(payload, 'sub')
  const read = typeof sub === 'string' ? readAddress(sub) : null
  if (read === null || !read.ok || read.address.text !== sub)
    throw refused('The claim `sub` must be the address of an agent, such as `@a@b.example`.')
  const issuer = `https://${read.address.domain}`
  if (fieldOf(payload, 'iss') !== issuer) throw refused('The claim `iss` must be `https://` and the domain of `sub`.')
  return { issuer, address: read.address }
}

async function verified(
  token: string,
  keys: IssuerKeySets,
  { issuer, at }: { readonly issuer: string; readonly at: number },
): Promise<JWTPayload> {
  const keyOf = async (header: JWTHeaderParameters): Promise<KeyObject> => {
    const { kid } = header
    if (typeof kid !== 'string' || kid === '' || kid.length > longestKeyId)
      throw refused('The header of the token must name a `kid`.')
    const key = await keys.keyOf({ form: 'jwks', issuer, kid })
    if (key === null) throw new errors.JWKSNoMatchingKey()
    return key
  }
  try {
    const options = { algorithms, issuer, clockTolerance: skewSeconds, currentDate: new Date(at) }
    const { payload } = await jwtVerify(token, keyOf, { ...options, requiredClaims: ['exp', 'iat', 'aud', 'jti'] })
    return payload
  } catch (error) {
    throw error instanceof errors.JOSEError ? refused(whyNot(error)) : error
  }
}

/** Why a token was refused, in words that repeat nothing of it. */
function whyNot(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'The token has expired.'
  if (error instanceof errors.JWTClaimValidationFailed) return `The claim \`${error.claim}\` of the token is not valid.`
  if (error instanceof errors.JOSEAlgNotAllowed) return 'The algorithm of the token must be EdDSA.'
  if (error instanceof errors.JWKSNoMatchingKey) return 'Its issuer has no key for this token.'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'The signature of the token is not valid.'
  return 'This is not a valid token.'
}
