/** Mode `jwt`: every caller shows a token of one issuer, which says its database, id and roles. */
import { createHash } from 'node:crypto'
import type { Principal } from '@witan/core'
import { isWitanError, WitanError } from '@witan/protocol'
import { errors, jwtVerify } from 'jose'
import { type Auth, bearerOf } from './auth.ts'
import { signInCookie } from './auth-cookie.ts'
import { dropOldest } from './drop-oldest.ts'
import { type IssuerKeys, issuerKeys } from './issuer-keys.ts'
import { type ClaimNames, principalOfClaims } from './token-claims.ts'

/** Only signatures that a public key proves: with the others, who can check a token could also make one. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
/** By how much the issuer's clock may differ. */
const toleranceSeconds = 5
/** How long a verified token counts without another check of its signature. */
const verifiedMs = 60_000
const mostVerified = 5_000
/** Browsers refuse cookies of more than 4096 bytes. */
const mostInCookie = 3_500
const recheckMs = 1_500

/** What tokens are accepted. `now` is the store's clock. */
export interface JwtAuthOptions {
  readonly issuer: string
  readonly audience: string
  /** Null: `<issuer>/.well-known/jwks.json`. */
  readonly jwksUrl: string | null
  readonly claims: ClaimNames
  readonly now: () => number
  readonly port: () => number
  /** For tests: another source of keys. */
  readonly keys?: IssuerKeys
}

interface Verified {
  readonly principal: Principal
  readonly endsAt: number
  readonly at: number
  readonly generation: number
}

/**
 * Creates the authentication by tokens of one issuer. A token without one of the claims, with one of another form, or without an
 * end is refused. If the keys of the issuer cannot be read, nobody is let in: `ISSUER_UNAVAILABLE`.
 */
export function createJwtAuth(options: JwtAuthOptions): Auth {
  const { issuer, audience, claims, now } = options
  const url = options.jwksUrl ?? `${issuer.replace(/\/+$/, '')}/.well-known/jwks.json`
  const keys = options.keys ?? issuerKeys(url)
  const cookie = signInCookie(options.port)
  const verified = new Map<string, Verified>()

  async function verify(token: string): Promise<Verified> {
    const at = now()
    const generation = keys.generation()
    try {
      const { payload } = await verifyWith(token, keys, {
        ...{ issuer, audience, algorithms, requiredClaims: ['exp'] },
        ...{ clockTolerance: toleranceSeconds, currentDate: new Date(at) },
      })
      const endsAt = ((payload.exp ?? 0) + toleranceSeconds) * 1000
      return { principal: principalOfClaims(payload, claims), endsAt, at, generation }
    } catch (error) {
      throw isWitanError(error) ? error : refused(whyNot(error), issuer)
    }
  }

  async function admitted(token: string | null): Promise<Principal> {
    if (token === null || token === '') throw refused('This needs a token.', issuer)
    const name = createHash('sha256').update(token).digest('base64url')
    const known = verified.get(name)
    if (known !== undefined && known.endsAt <= now()) throw refused('This token has expired.', issuer)
    const isOld = known === undefined || now() - known.at > verifiedMs || known.generation !== keys.generation()
    if (!isOld) return known.principal
    const { principal, ...about } = await verify(token)
    verified.delete(name)
    verified.set(name, { ...about, principal })
    dropOldest(verified, mostVerified)
    return principal
  }

  return {
    ...{ mode: 'jwt', token: null, issuer, recheckMs },
    check: (request, requestOrigin = 'own') =>
      admitted(bearerOf(request) ?? (requestOrigin === 'own' ? cookie.read(request) : null)),
    exchange: () => null,
    async signIn(request) {
      const token = bearerOf(request)
      await admitted(token)
      if (token === null || token.length > mostInCookie)
        throw refused(`A browser keeps tokens of at most ${mostInCookie} characters.`, issuer)
      return cookie.set(token, request)
    },
    signOut: () => cookie.end(),
    close: async () => undefined,
  }
}

/** Tries every key that fits, if the token names none of several. */
async function verifyWith(token: string, { keyOf }: IssuerKeys, options: Parameters<typeof jwtVerify>[2]) {
  try {
    return await jwtVerify(token, keyOf, options)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    for await (const key of error) {
      try {
        return await jwtVerify(token, key, options)
      } catch (wrong) {
        if (!(wrong instanceof errors.JWSSignatureVerificationFailed)) throw wrong
      }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

/** Why a token was refused, in words that repeat nothing of it. */
function whyNot(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'This token has expired.'
  if (error instanceof errors.JWTClaimValidationFailed)
    return `The claim \`${error.claim}\` of this token does not fit this server.`
  if (error instanceof errors.JOSEAlgNotAllowed) return 'The algorithm of this token is not accepted.'
  if (error instanceof errors.JWKSNoMatchingKey) return 'The issuer has no key for this token.'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'The signature of this token is not valid.'
  return 'This is not a valid token.'
}

function refused(detail: string, issuer: string): WitanError {
  const hint = `Send a token of ${issuer} for this server as \`Authorization: Bearer …\`, on the command line as --token or WITAN_TOKEN.`
  return new WitanError('UNAUTHENTICATED', detail, { hint, details: { realm: 'jwt' } })
}
