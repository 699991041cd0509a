/** Who may run an agent as the root of a conversation. */
import { mayCall } from '../identity/agent-access.ts'
import { notFound } from '../identity/not-found.ts'
import type { Scope } from './scope.ts'

/**
 * Refuses a principal that the agent's `access` excludes, with the error for an agent that does not exist [E10]. Delegation
 * never checks this.
 */
export function refuseStranger({ parts, principal, database }: Scope, agent: string): void {
  const data = parts.registry.current(database).agents.get(agent)?.data
  if (data !== undefined && !mayCall(data.access, principal)) throw notFound('agent', agent, { path: 'agent' })
}
