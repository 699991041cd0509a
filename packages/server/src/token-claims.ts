/** The principal that the claims of a token make. */
import type { Principal } from '@witan/core'
import { type DatabaseId, WitanError } from '@witan/protocol'
import { databaseNamePattern } from '@witan/protocol/keys'
import { nameProblem, type NameKind } from '@witan/protocol/names'

/** Which claim says what. `address` null: no claim says it. */
export interface ClaimNames {
  readonly database: string
  readonly id: string
  readonly roles: string
  readonly address: string | null
}

const mostRoles = 100
/** How long each may be. The rule for names holds of all: models, terminals and logs show them. */
const longest = { person: 100, role: 200, address: 357 } as const

/** Reads the claims. Throws `UNAUTHENTICATED`, naming the claim and never its value. The address may be absent: it grants nothing. */
export function principalOfClaims(claims: object, names: ClaimNames): Principal {
  const at = (name: string): unknown => (Object.hasOwn(claims, name) ? Reflect.get(claims, name) : undefined)
  const database = at(names.database)
  if (typeof database !== 'string' || !databaseNamePattern.test(database))
    throw unfit(names.database, 'the name of a database: 1 to 64 of a-z, 0-9 and `-`')
  const person = named(at(names.id), 'id', longest.person)
  if (person === null)
    throw unfit(
      names.id,
      'the id of a person: at most 100 letters, digits and marks such as `.`, `@` and `|`, of one alphabet',
    )
  const roles = at(names.roles)
  if (
    !Array.isArray(roles) ||
    roles.length > mostRoles ||
    roles.some((role) => named(role, 'word', longest.role)?.includes(',') !== false)
  )
    throw unfit(names.roles, `an array of at most ${mostRoles} words without blanks, commas and brackets`)
  const given = names.address === null ? undefined : at(names.address)
  const address = given === undefined || given === null ? null : named(given, 'word', longest.address)
  if (address === null && given !== undefined && given !== null)
    throw unfit(names.address ?? '', 'an address without blanks and brackets')
  return Object.freeze({
    database: database as DatabaseId,
    id: `user:${person}`,
    roles: Object.freeze([...new Set(roles as string[])]),
    address,
    via: 'token',
  })
}

function named(value: unknown, kind: NameKind, most: number): string | null {
  return typeof value === 'string' && value.length <= most && nameProblem(value, kind) === null ? value : null
}

function unfit(claim: string, form: string): WitanError {
  return new WitanError('UNAUTHENTICATED', `The claim \`${claim}\` of this token is not ${form}.`, {
    hint: 'Change the claim at the issuer, or name another claim in auth.claims.',
    details: { realm: 'jwt' },
  })
}
