/** Who may call an agent directly, as a root. */
import type { Principal } from './principal.ts'

/**
 * True if `access.call` of an agent admits a principal: by its id, or by `role:<name>` for one of its roles. Null admits
 * everybody.
 */
export function mayCall(call: readonly string[] | null, { id, roles }: Pick<Principal, 'id' | 'roles'>): boolean {
  return call === null || call.includes(id) || roles.some((role) => call.includes(`role:${role}`))
}
