/** Warns of descriptions that are longer than some providers take, and of lists that lose their end for it. */
import type { AgentData, Finding } from '@witan/protocol'
import { edgesOf } from '@witan/protocol/edges'
import { listOf, longestDescription, roomBeside } from '../capabilities.ts'
import type { AgentSet } from './graph.ts'
import type { Surroundings } from './names.ts'

/** Warnings about the descriptions of the tools that the model of an agent reads. */
export function checkLongDescriptions(
  agent: AgentData,
  { agents, tools }: Pick<Surroundings, 'tools'> & { readonly agents: AgentSet },
): Finding[] {
  const warn = (path: string, detail: string, hint: string): Finding => {
    return { code: 'DESCRIPTION_LONG', severity: 'warning', agent: agent.id, path, detail, hint }
  }
  const own = (path: string, tool: string, description: string): Finding[] => {
    if (description.length <= longestDescription) return []
    const detail = `The description of \`${tool}\` has ${description.length} characters; some providers refuse more than ${longestDescription}.`
    return [warn(path, detail, 'Shorten it: a model decides by the first sentences.')]
  }
  const delegates = agent.subAgents.flatMap((edge, index) => {
    const child = agents.get(edge.agent)
    if (child === undefined) return []
    const path = `subAgents.${index}`
    const text = edge.description || child.description
    const found = own(path, edge.agent, text)
    if (found.length > 0 || edge.style !== 'delegate') return found
    const others = edgesOf(child).map((one) => agents.get(one.agent) ?? null)
    const { leftOut } = listOf(child, { others, isShown: () => true, room: roomBeside(text) })
    if (leftOut === 0) return []
    const detail = `The description of \`${edge.agent}\` leaves out ${leftOut} of the tools that it can use: it would have more than ${longestDescription} characters or 40 tools.`
    return [
      warn(path, detail, `Say in its description what \`${edge.agent}\` is for, or split it into several agents.`),
    ]
  })
  return [
    ...agent.actions.flatMap(({ name, description }, index) => own(`actions.${index}`, name, description)),
    ...agent.queries.flatMap(({ name, description }, index) => own(`queries.${index}`, name, description)),
    ...agent.tools.flatMap((name, index) => own(`tools.${index}`, name, tools.get(name)?.description ?? '')),
    ...delegates,
  ]
}
