/** Who may answer an interruption, and who may see it. */
import type { InterruptionKind } from '@witan/protocol'
import { isAnonymous, isOutside, type Requester } from '../identity/principal.ts'
import { hasRole, type Involvement, isAddressed, mayDo, personOf } from '../identity/rights.ts'

/** What it is, its addressee, and what connects the principal with its conversation. */
interface Waiting extends Involvement {
  readonly kind: InterruptionKind
  readonly addressee: string | null
}

/**
 * Those to whom it is addressed, or everybody without an addressee: with the role `answer`, with `run` in a conversation of their own,
 * or as a person who takes part and is addressed by id. An `admin` may answer all. A caller from outside answers questions, actions and
 * conditions of its own conversations, and nothing else: never an approval.
 */
export function mayAnswer(principal: Requester, { kind, addressee, isCreator, takesPart }: Waiting): boolean {
  const owns = isCreator && hasRole(principal, 'run') && !isAnonymous(principal)
  if (isOutside(principal)) return owns && addressee === null && outsideKinds.includes(kind)
  if (hasRole(principal, 'admin')) return true
  if (!isAddressed(principal, addressee)) return false
  if (hasRole(principal, 'answer') || owns) return true
  return takesPart && addressee !== null && addressee === personOf(principal)
}

/** What a caller from outside is asked. A `policy` it resolves only by the state that it was sent, which the A2A server checks. */
export const outsideKinds: readonly InterruptionKind[] = ['question', 'action', 'policy']

/** Everybody who may answer it, or may read its conversation. */
export function mayKnow(principal: Requester, waiting: Waiting): boolean {
  return (mayDo(principal, 'read', waiting) && !isOutside(principal)) || mayAnswer(principal, waiting)
}
