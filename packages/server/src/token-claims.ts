/** The principal that the claims of a token make. */
import type { Principal } from '@witan/core'
import { type DatabaseId, WitanError } from '@witan/protocol'
import { databaseNamePattern } from '@witan/protocol/keys'

/** Which claim says what. `address` null: no claim says it. */
export interface ClaimNames {
  readonly database: string
  readonly id: string
  readonly roles: string
  readonly address: string | null
}

/** The person's id goes into `user:<id>`; a blank, `:` or `/` in it could name something else. */
const personPattern = /^[^\s:/]{1,100}$/
const mostRoles = 100
const rolePattern = /^[^\s,]{1,200}$/
const addressPattern = /^\S{1,357}$/

/** Reads the claims. Throws `UNAUTHENTICATED`, naming the claim and never its value. The address may be absent: it grants nothing. */
export function principalOfClaims(claims: object, names: ClaimNames): Principal {
  const at = (name: string): unknown => (Object.hasOwn(claims, name) ? Reflect.get(claims, name) : undefined)
  const database = text(at(names.database), databaseNamePattern)
  if (database === null) throw unfit(names.database, 'the name of a database: 1 to 64 of a-z, 0-9 and `-`')
  const person = text(at(names.id), personPattern)
  if (person === null) throw unfit(names.id, 'the id of a person: at most 100 characters, no blanks, `:` or `/`')
  const roles = at(names.roles)
  if (!Array.isArray(roles) || roles.length > mostRoles || roles.some((role) => text(role, rolePattern) === null))
    throw unfit(names.roles, `an array of at most ${mostRoles} words without blanks and commas`)
  const given = names.address === null ? undefined : at(names.address)
  const address = given === undefined || given === null ? null : text(given, addressPattern)
  if (address === null && given !== undefined && given !== null)
    throw unfit(names.address ?? '', 'an address without blanks')
  return Object.freeze({
    database: database as DatabaseId,
    id: `user:${person}`,
    roles: Object.freeze([...new Set(roles as string[])]),
    address,
  })
}

function text(value: unknown, pattern: RegExp): string | null {
  return typeof value === 'string' && pattern.test(value) ? value : null
}

function unfit(claim: string, form: string): WitanError {
  return new WitanError('UNAUTHENTICATED', `The claim \`${claim}\` of this token is not ${form}.`, {
    hint: 'Change the claim at the issuer, or name another claim in auth.claims.',
    details: { realm: 'jwt' },
  })
}
