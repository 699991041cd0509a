/** The part of a configuration that says who may ask. */
import { WitanError } from '@witan/protocol'
import { z } from 'zod'
import { type AuthMode, authModes } from './auth.ts'
import type { JwtAuthOptions } from './auth-jwt.ts'
import { isLoopback } from './host.ts'

const claim = z.string().min(1).max(200)
/** Whoever can change what is fetched over plain HTTP can make tokens: only this machine may be reached so. */
const issuerUrl = z
  .string()
  .max(1000)
  .refine((value) => {
    const url = URL.canParse(value) ? new URL(value) : null
    if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return false
    return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
  }, 'must be an https URL without a password; http only for this machine')

/** `auth` of a configuration. */
export const authSchema = z
  .strictObject({
    mode: z.enum(authModes).default('local'),
    /** Of mode `jwt`: who makes the tokens, letter by letter as their claim `iss` says it, and whom they are for. */
    issuer: issuerUrl.optional(),
    audience: claim.optional(),
    /** Where the public keys of the issuer are; null: `<issuer>/.well-known/jwks.json`. */
    jwksUrl: issuerUrl.nullable().optional(),
    /** Which claim says what. */
    claims: z
      .strictObject({
        database: claim.default('db'),
        id: claim.default('sub'),
        roles: claim.default('roles'),
        address: claim.nullable().default('email'),
      })
      .optional(),
  })
  .prefault({})
  .superRefine(({ mode, ...rest }, context) => {
    const wrong = (key: string, message: string): void => context.addIssue({ code: 'custom', path: [key], message })
    if (mode === 'jwt') {
      for (const key of ['issuer', 'audience'] as const)
        if (rest[key] === undefined) wrong(key, 'is needed in mode `jwt`')
      return
    }
    for (const [key, value] of Object.entries(rest)) if (value !== undefined) wrong(key, 'is only for mode `jwt`')
  })

/** `auth` as it was checked. */
type AuthConfig = z.output<typeof authSchema>

const usualClaims = { database: 'db', id: 'sub', roles: 'roles', address: 'email' }

/** What mode `jwt` accepts, its defaults filled in; null in the other modes. */
export function jwtOf(auth: AuthConfig): Pick<JwtAuthOptions, 'issuer' | 'audience' | 'jwksUrl' | 'claims'> | null {
  const { mode, issuer, audience, jwksUrl = null, claims = usualClaims } = auth
  if (mode !== 'jwt' || issuer === undefined || audience === undefined) return null
  return { issuer, audience, jwksUrl, claims }
}

/** Throws `CONFIG_INVALID` for keys in a store that ends with its process: no command could make one. */
export function checkKeyStore(mode: AuthMode, store: { readonly url: string }): void {
  if (mode !== 'keys' || store.url !== 'memory:') return
  const detail = 'auth.mode "keys" needs a store that lasts: no key can be made for one in memory.'
  const hint = 'Set store.url or WITAN_STORE_URL to file:… or postgres://….'
  throw new WitanError('CONFIG_INVALID', detail, { path: 'store.url', hint })
}
