/** Checks addresses: one agent has an address, and no other agent has its local part as id, which makes an address too [M01]. */
import type { AgentData, Finding } from '@witan/protocol'
import { localOf } from '../address.ts'
import type { AgentSet } from './graph.ts'
import { errorAt } from './names.ts'

/** The clash of an agent's address or id with that of another agent; at most one. */
export function checkAddresses(agent: AgentData, agents: AgentSet): Finding[] {
  const local = localOf(agent)
  for (const other of agents.values()) {
    if (other.id === agent.id) continue
    if (agent.address !== null && agent.address === other.address)
      return [
        errorAt(agent, 'address', {
          code: 'NAME_TAKEN',
          detail: `Agent \`${other.id}\` has the address \`${agent.address}\` already.`,
          hint: 'An address leads to one agent. Choose another local part.',
        }),
      ]
    if (local === other.id)
      return [
        errorAt(agent, 'address', {
          code: 'NAME_TAKEN',
          detail: `The local part of \`${agent.address}\` is the id of agent \`${other.id}\`.`,
          hint: 'An agent without an address calls under its id. Choose another local part.',
        }),
      ]
    if (localOf(other) === agent.id)
      return [
        errorAt(agent, 'id', {
          code: 'NAME_TAKEN',
          detail: `Agent \`${other.id}\` has the address \`${other.address}\`, whose local part is the id \`${agent.id}\`.`,
          hint: 'An agent without an address calls under its id. Choose another id.',
        }),
      ]
  }
  return []
}
