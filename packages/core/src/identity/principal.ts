/** The caller of a request, and whom a run works for. */
import type { DatabaseId } from '@witan/protocol'
import type { Role } from '@witan/protocol/access'
import { callerOf, type IncomingCall, type RunPrincipal } from '@witan/protocol/entries'
import type { ChangeVia } from '@witan/protocol/keys'
import type { OutsideCaller } from '@witan/protocol/schemas'
import type { Address } from '@witan/protocol/names'

/** What a principal may do: everything, run, answer, or only read. */
export type { Role }

/**
 * A caller within one database. `id` is for example `user:anna` or `key:ab12`; of a caller from outside an address, or `anonymous`. Role names other than `Role` matter only for
 * access lists and for whom a question is addressed to.
 */
export interface Principal {
  readonly database: DatabaseId
  readonly id: string
  readonly roles: readonly (Role | (string & {}))[]
  /** Where the caller is reached, such as `@anna@example.com`, as the key or the token says; null without one. It grants nothing. */
  readonly address: string | null
  /** Of a run: the participant who wrote the message that began it, if that is not the principal itself. It grants nothing. */
  readonly person?: string
  /** How the caller was known, for the audit; absent for this machine itself. It grants nothing. */
  readonly via?: ChangeVia
  /** How it calls, if it calls over A2A: what holds for the runs that it starts. It grants nothing. */
  readonly incoming?: IncomingCall
}

/** The part of a principal that its rights depend on. */
export type Requester = Pick<Principal, 'id' | 'roles' | 'incoming'>

/** The one principal of local and unauthenticated use: it has every role on the database `default`. */
export const localPrincipal: Principal = Object.freeze({
  database: 'default' as DatabaseId,
  id: 'user:local',
  roles: Object.freeze(['admin', 'run', 'answer', 'read'] as const),
  address: null,
})

const anonymousId = 'anonymous'

/** An agent on another server, whose wire credential proved this address. It may start runs, and holds no other right here. */
export function remotePrincipal(database: DatabaseId, { text }: Address): Principal {
  return Object.freeze({ database, id: text, roles: Object.freeze(['run'] as const), address: text })
}

/** A caller without a credential. It may start runs, and owns none of them: all such callers have this one id. */
export function anonymousPrincipal(database: DatabaseId): Principal {
  return Object.freeze({ database, id: anonymousId, roles: Object.freeze(['run'] as const), address: null })
}

/** True for a caller from outside the database: one with an address for its id, or none at all. It holds no role of an access list. */
export function isOutside({ id }: Pick<Principal, 'id'>): boolean {
  return id.startsWith('@') || id === anonymousId
}

/** True for a caller without a credential. */
export function isAnonymous({ id }: Pick<Principal, 'id'>): boolean {
  return id === anonymousId
}

/** A principal as the log of its run keeps it; null for the local one, of which a log keeps nothing. */
export function storedPrincipal(principal: Principal): RunPrincipal | null {
  if (principal === localPrincipal) return null
  const { id, roles, address, person } = principal
  const isLocal =
    id === localPrincipal.id && address === null && localPrincipal.roles.every((role) => roles.includes(role))
  if (isLocal && roles.length === localPrincipal.roles.length && person === undefined) return null
  const known = { ...(address === null ? {} : { address }), ...(person === undefined ? {} : { person }) }
  return { id, roles: [...roles], ...known }
}

/** The principal that the run of a message works for, which this person wrote; undefined: nobody of the conversation did. */
export function workingFor(principal: Principal, author: string | undefined): Principal {
  if (author === undefined || principal.id === `user:${author}`) return principal
  return Object.freeze({ ...principal, person: author })
}

/** Whom a run is about: the person who began it, such as `user:anna`, else its principal. Null for a caller without a credential: all such are one. */
export function subjectOf({ id, person }: Pick<Principal, 'id' | 'person'>): string | null {
  if (person !== undefined) return `user:${person}`
  return id === anonymousId ? null : id
}

/** The author of what a principal says under no person's name: an agent of another server says it under its address. */
export function authorOf({ id }: Pick<Principal, 'id'>): string {
  return id.startsWith('@') ? id : 'user'
}

const nobody = Object.freeze({})

/** Who called from another server, as lists and cards show it; nothing for any other run. */
export function shownCaller({ id, address, incoming }: Principal): { readonly caller?: OutsideCaller } {
  if (incoming === undefined && !id.startsWith('@')) return nobody
  const caller = callerOf({ principal: { id, ...(address === null ? {} : { address }) }, incoming })
  return caller === null ? {} : { caller }
}

/** The principal that the log of a run keeps, frozen, and how it called. */
export function principalOf(
  database: string,
  stored: RunPrincipal | undefined,
  incoming: IncomingCall | undefined,
): Principal {
  const isPlain = stored === undefined && incoming === undefined
  if (isPlain && database === localPrincipal.database) return localPrincipal
  const { id, roles } = stored ?? localPrincipal
  const address = stored?.address ?? null
  const person = stored?.person === undefined ? {} : { person: stored.person }
  const principal = { database: database as DatabaseId, id, roles: Object.freeze([...roles]), address, ...person }
  return Object.freeze(incoming === undefined ? principal : { ...principal, incoming: Object.freeze(incoming) })
}

/** True if two runs work for the same principal, with the same roles, and came in the same way. */
export function isSamePrincipal(one: Principal, other: Principal): boolean {
  if (one === other) return true
  const { id, roles, address, person } = one
  const isCaller = id === other.id && address === other.address && person === other.person
  const isEqual = isCaller && roles.length === other.roles.length
  if (!isEqual || !roles.every((role, index) => role === other.roles[index])) return false
  return one.incoming === other.incoming || JSON.stringify(one.incoming) === JSON.stringify(other.incoming)
}
