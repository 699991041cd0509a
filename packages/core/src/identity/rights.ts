/**
 * What the roles of a principal let it do in its database: `admin` everything, `read` every read, `run` what it created, `answer` what
 * is addressed to it. Whoever takes part in a conversation needs no role to read it and to speak in it.
 */
import { isAnonymous, isOutside, type Requester, type Role } from './principal.ts'

/** What somebody wants to do with a conversation and all that belongs to it: read, say something, or control and delete it. */
export type Deed = 'read' | 'speak' | 'own'

/** What connects a principal with a conversation. */
export interface Involvement {
  readonly isCreator: boolean
  readonly takesPart: boolean
}

/** True if the principal has at least one of these roles. */
export function hasRole({ roles }: Pick<Requester, 'roles'>, ...wanted: readonly Role[]): boolean {
  return wanted.some((role) => roles.includes(role))
}

/** Whom a principal takes part as: `user:anna` as `anna`; null for a key and for a remote caller. */
export function personOf({ id }: Pick<Requester, 'id'>): string | null {
  return id.startsWith('user:') ? id.slice('user:'.length) : null
}

/** True if the principal may do this with a conversation. Who may speak may read, and who owns may speak. An anonymous one owns nothing. */
export function mayDo(principal: Requester, deed: Deed, { isCreator, takesPart }: Involvement): boolean {
  if (hasRole(principal, 'admin') || (isCreator && ownsWhatItCreates(principal))) return true
  if (deed === 'own') return false
  return takesPart || (deed === 'read' && hasRole(principal, 'read'))
}

/** False for a caller without a credential: what it creates would belong to all such callers. */
function ownsWhatItCreates(principal: Requester): boolean {
  return hasRole(principal, 'run') && !isAnonymous(principal)
}

/** True if the principal may read every conversation, agent and protocol of its database. */
export function readsAll(principal: Requester): boolean {
  return hasRole(principal, 'admin', 'read')
}

/** Whose conversations a principal may read: those of a creator, and those of a person who takes part. */
export interface ReadLimit {
  readonly createdBy: string | null
  readonly participant: string | null
}

/** Whose conversations the principal may read; null for all. */
export function readLimitOf(principal: Requester): ReadLimit | null {
  if (readsAll(principal)) return null
  return { createdBy: ownsWhatItCreates(principal) ? principal.id : null, participant: personOf(principal) }
}

/**
 * True if something addressed to this addressee is addressed to the principal: by its id, by a role of it, or to nobody in particular. To a
 * caller from outside nothing else is addressed.
 */
export function isAddressed(principal: Requester, addressee: string | null): boolean {
  if (addressee === null) return true
  if (isOutside(principal)) return false
  const { id, roles } = principal
  if (addressee.startsWith('role:')) return roles.includes(addressee.slice('role:'.length))
  return id === `user:${addressee}`
}

/** Everything that `isAddressed` admits; null stands for nobody in particular. */
export function addresseesOf(principal: Requester): readonly (string | null)[] {
  if (isOutside(principal)) return [null]
  const person = personOf(principal)
  return [null, ...(person === null ? [] : [person]), ...principal.roles.map((role) => `role:${role}`)]
}
