/** Holds a message back whose evidence has expired: fresh evidence is asked for, and somebody may let the call go out without [E22]. */
import { saysForWhom } from '../agent/remote-agent.ts'
import { leadingEvidence } from '../identity/on-behalf-of.ts'
import { askForEvidence, expiredEvidence } from '../interruption/fresh-evidence.ts'
import { policyAnswer } from '../tool/policy.ts'
import { pendingOn, type PendingOutcome, type ResultOutcome } from '../tool/outcome.ts'
import type { RemoteCall } from '../tool/remote.ts'

/**
 * What takes the place of the next message of a call: what is asked, or the outcome if that was declined or came too late. Null if the
 * message may go out. Each piece is asked for once in a call.
 */
export function waitForEvidence(
  { edge, from, context }: RemoteCall,
  now: number,
): PendingOutcome | ResultOutcome | null {
  const leading = saysForWhom(edge) ? leadingEvidence(context.caller.principal) : null
  if (leading === null || leading.expiresAt > now) return null
  for (const given of context.answers) {
    if (given.kind !== 'interruption' || expiredEvidence(given.asked)?.digest !== leading.digest) continue
    const met = policyAnswer(given.answer)
    return 'resolution' in met ? null : met
  }
  return pendingOn(askForEvidence(from.id, leading))
}
