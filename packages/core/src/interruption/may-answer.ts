/** Who may answer an interruption, and who may see it. */
import type { Requester } from '../identity/principal.ts'
import { hasRole, type Involvement, isAddressed, mayDo, personOf } from '../identity/rights.ts'

/** Its addressee, and what connects the principal with its conversation. */
interface Waiting extends Involvement {
  readonly addressee: string | null
}

/**
 * Those to whom it is addressed, or everybody without an addressee: with the role `answer`, with `run` in a conversation of their own,
 * or as a person who takes part and is addressed by id. An `admin` may answer all.
 */
export function mayAnswer(principal: Requester, { addressee, isCreator, takesPart }: Waiting): boolean {
  if (hasRole(principal, 'admin')) return true
  if (!isAddressed(principal, addressee)) return false
  if (hasRole(principal, 'answer') || (isCreator && hasRole(principal, 'run'))) return true
  return takesPart && addressee !== null && addressee === personOf(principal)
}

/** Everybody who may answer it, or may read its conversation. */
export function mayKnow(principal: Requester, waiting: Waiting): boolean {
  return mayDo(principal, 'read', waiting) || mayAnswer(principal, waiting)
}
