/** Who may answer an interruption, and who may see it. */
import type { Principal } from '../identity/principal.ts'

/** Its addressee, and the creator of its conversation. */
export interface Waiting {
  readonly addressee: string | null
  readonly createdBy: string
}

/**
 * The addressee, by id or by role. Without an addressee: the role `answer`, or `run` in the caller's own conversation. An
 * `admin` may answer all.
 */
export function mayAnswer({ id, roles }: Pick<Principal, 'id' | 'roles'>, { addressee, createdBy }: Waiting): boolean {
  if (roles.includes('admin')) return true
  if (addressee === null) return roles.includes('answer') || (roles.includes('run') && createdBy === id)
  if (addressee.startsWith('role:')) return roles.includes(addressee.slice('role:'.length))
  return id === `user:${addressee}`
}

/** Anybody who may answer it, may read the database, or started the conversation. */
export function mayKnow(principal: Pick<Principal, 'id' | 'roles'>, waiting: Waiting): boolean {
  return principal.roles.includes('read') || principal.id === waiting.createdBy || mayAnswer(principal, waiting)
}
