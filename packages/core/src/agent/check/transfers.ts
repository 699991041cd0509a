/** Warns of hand-overs that show a value too much, or that answer in another form. */
import type { AgentData, Finding } from '@witan/protocol'
import { type AgentEdge, agentEdgesOf, mappedName } from '@witan/protocol/edges'
import type { AgentSet } from './graph.ts'

/** Warnings about the hand-overs of one agent. */
export function checkTransfers(agent: AgentData, agents: AgentSet): Finding[] {
  return agentEdgesOf(agent).flatMap((edge) => {
    const target = edge.kind === 'transfers' ? agents.get(edge.agent) : undefined
    return target === undefined ? [] : [...exposed(agent, edge, target), ...differs(agent, edge, target)]
  })
}

/** What the agent was shown may stand in the document that the target reads. */
function exposed(agent: AgentData, edge: AgentEdge, target: AgentData): Finding[] {
  const shown = new Set(agent.parameters.filter(({ sendToModel }) => sendToModel).map(({ name }) => name))
  return target.parameters.flatMap(({ name, sendToModel }): Finding[] => {
    const source = mappedName(edge, name)
    if (sendToModel || source === null || !shown.has(source)) return []
    const alias = source === name ? '' : ` as \`${source}\``
    return [
      {
        code: 'PARAM_EXPOSED_BY_TRANSFER',
        severity: 'warning',
        agent: agent.id,
        path: edge.agentAt,
        detail: `\`${name}\` is hidden from \`${target.id}\`, but shown to \`${agent.id}\`${alias}: earlier texts and tool results in the document may hold it.`,
        hint: `Set \`sendToModel: false\` in \`${agent.id}\` too, or hand over with \`history: "words"\`.`,
      },
    ]
  })
}

/** The answer of a run follows the schema of the agent that gives it. */
function differs(agent: AgentData, { agentAt }: AgentEdge, target: AgentData): Finding[] {
  const edge = agent.transfers.find((one) => one.agent === target.id)
  if (edge?.returnsTo === 'caller' || same(agent.outputSchema, target.outputSchema)) return []
  return [
    {
      code: 'OUTPUT_SCHEMA_DIFFERS',
      severity: 'warning',
      agent: agent.id,
      path: agentAt,
      detail: `\`${target.id}\` answers in another form than \`${agent.id}\`: after a hand-over \`output\` follows the schema of \`${target.id}\`.`,
      hint: 'Give both the same output schema, or read `agent` of the result before its `output`.',
    },
  ]
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
