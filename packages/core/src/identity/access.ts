/** Who may call an agent from outside. */
import type { Principal } from './principal.ts'

/** Whether `access.call` of an agent lets a principal in: by its id, or by `role:<name>` of one of its roles. Null lets everybody in. */
export function mayCall(call: readonly string[] | null, { id, roles }: Pick<Principal, 'id' | 'roles'>): boolean {
  return call === null || call.includes(id) || roles.some((role) => call.includes(`role:${role}`))
}
