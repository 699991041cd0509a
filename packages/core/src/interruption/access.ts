/** Who may answer what waits, and who may know of it. */
import type { Principal } from '../identity/principal.ts'

/** Whom it is for, and who started the conversation it stands in. */
export interface Waiting {
  readonly addressee: string | null
  readonly createdBy: string
}

/** Whoever it is addressed to, by id or by role; with no addressee the role `answer`, or `run` in a conversation of one's own. An `admin` may answer all. */
export function mayAnswer({ id, roles }: Pick<Principal, 'id' | 'roles'>, { addressee, createdBy }: Waiting): boolean {
  if (roles.includes('admin')) return true
  if (addressee === null) return roles.includes('answer') || (roles.includes('run') && createdBy === id)
  if (addressee.startsWith('role:')) return roles.includes(addressee.slice('role:'.length))
  return id === `user:${addressee}`
}

/** Whoever may answer it, read the database, or started the conversation. */
export function mayKnow(principal: Pick<Principal, 'id' | 'roles'>, waiting: Waiting): boolean {
  return principal.roles.includes('read') || principal.id === waiting.createdBy || mayAnswer(principal, waiting)
}
