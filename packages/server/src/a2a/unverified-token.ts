/** What a token says before anything of it is checked. */
import { readJson } from '@witan/protocol/schemas'
import { fieldOf, isObject } from './wire.ts'

const longestToken = 32_768

/** The claims of a token; null for what is none. */
export function payloadOf(token: string): Readonly<Record<string, unknown>> | null {
  const [, claims, , ...more] = token.length > longestToken ? [] : token.split('.')
  if (claims === undefined || more.length > 0 || token.split('.', 3).length < 3) return null
  const read = readJson(Buffer.from(claims, 'base64url').toString('utf8'))
  return read.ok && isObject(read.value) ? read.value : null
}

/** Who a token says that it is from; null for what is no token. */
export function unverifiedIssuer(token: string): string | null {
  const issuer = fieldOf(payloadOf(token), 'iss')
  return typeof issuer === 'string' ? issuer : null
}
