/** Who may run an agent as the root of a conversation. */
import { mayCall } from '../identity/access.ts'
import type { Principal } from '../identity/principal.ts'
import { noAgentError } from '../command/accept.ts'
import type { Parts } from './wiring.ts'

/** Refuses a principal that the agent's `access` leaves out, in the words for an agent that is not there [E10]. Delegation never asks this. */
export function refuseStranger(
  { parts, principal }: { readonly parts: Parts; readonly principal: Principal },
  agent: string,
): void {
  const data = parts.registry.rows(principal.database).get(agent)?.data
  if (data !== undefined && !mayCall(data.access.call, principal)) throw noAgentError(agent)
}
