/** Checks addresses: one agent has each, no other agent has its local part as id, and callers from outside can use a published agent [M01]. */
import type { AgentData, Finding } from '@witan/protocol'
import { demandsOf } from '../../tool/demand.ts'
import { localOf } from '../address.ts'
import type { AgentSet } from './graph.ts'
import { likelyNamesakes } from './likely.ts'
import { errorAt } from './names.ts'

/** The clash of an agent's address or id with that of another agent; at most one. */
export function checkAddresses(agent: AgentData, agents: AgentSet): Finding[] {
  const local = localOf(agent)
  for (const other of likelyNamesakes(agent, agents)) {
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

/** Warnings about a published agent that nobody on another server may call, or whose call must fail or wait. */
export function checkPublished(agent: AgentData): Finding[] {
  const {
    id,
    address,
    access: { call },
    parameters,
  } = agent
  if (address === null) return []
  const findings: Finding[] = []
  if (call === null || call.length === 0) {
    const why = call === null ? 'null, which lets in the principals of this database alone' : 'empty'
    findings.push({
      ...{ code: 'ADDRESS_CLOSED', severity: 'warning', agent: id, path: 'access.call' },
      detail: `Agent \`${id}\` is published as \`${address}\`, and nobody on another server may call it: \`access.call\` is ${why}.`,
      hint: 'Name who may, such as `@*@b.example` or `@*`; or take the address out.',
    })
  }
  for (const [index, { name, sendToModel }] of parameters.entries()) {
    if (!sendToModel) continue
    findings.push({
      ...{ code: 'ADDRESS_PARAM_UNBOUND', severity: 'warning', agent: id, path: `parameters.${index}` },
      detail: `Agent \`${id}\` is published and needs \`${name}\`, which no caller on another server can give: its call fails.`,
      hint: 'Hide the parameter, or publish another agent that passes its value on.',
    })
  }
  return [...findings, ...demandsOfNobody(agent)]
}

/** Demands that a caller from outside, whom the agent lets in, cannot meet itself. */
function demandsOfNobody(agent: AgentData): Finding[] {
  const {
    id,
    access: { call },
  } = agent
  const letsIn = (call ?? []).flat().filter(isOutsideEntry)
  return demandsOf(agent).flatMap(({ of }, index): Finding[] => {
    const isMet = of.flat().some((entry) => entry.startsWith('@'))
    if (letsIn.length === 0 || (isMet && !letsIn.includes('anonymous'))) return []
    const who = isMet ? 'a caller without a credential owns no task' : '`of` names no address'
    return [
      {
        ...{ code: 'DEMAND_UNRESOLVABLE', severity: 'warning', agent: id, path: `demands.${index}.of` },
        detail: `Agent \`${id}\` lets in callers that cannot meet what it demands: ${who}. Each waits until somebody here meets it.`,
        hint: 'Name in `of` the addresses that `access.call` names, and take `anonymous` out there; or watch the inbox.',
      },
    ]
  })
}

function isOutsideEntry(entry: string): boolean {
  return entry.startsWith('@') || entry === 'anonymous'
}
