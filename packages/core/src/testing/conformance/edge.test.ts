/** Every edge through the conformance kits of edges and of tools. */
import { describe } from 'node:test'
import { agentTools } from '../../edge/agent-tool.ts'
import { subAgentTools } from '../../edge/sub-agent.ts'
import { transferTools } from '../../edge/transfer.ts'
import { type EdgeHarness, testEdge } from './edge.ts'
import { testTool } from './tool.ts'
import { agentOf } from './tool-fixtures.ts'

const tenant = { name: 'tenant', type: 'string', policy: 'forbidModelGeneration' } as const
const overrides = { model: ['other/model'], temperature: [0, 1] as [number, number] }

const styles = [
  { style: 'delegate', argument: 'message', source: subAgentTools },
  { style: 'agentTool', argument: 'request', source: agentTools },
] as const

describe('every edge that stands', () => {
  for (const { style, argument, source } of styles) {
    for (const blocking of ['always', 'never', 'model'] as const) {
      const edge: EdgeHarness = {
        name: `an edge of style ${style} that waits ${blocking}`,
        source,
        define: (edges) => ({
          subAgents: edges.flatMap(({ agents, description, map }) =>
            agents.map((agent) => ({ agent, description, map, style, blocking, overrides })),
          ),
        }),
        arguments: (task) => ({ [argument]: task, ...(blocking === 'model' ? { blocking: false } : {}) }),
      }
      testEdge(edge)

      const helper = agentOf({
        id: 'helper',
        description: 'Helps.',
        parameters: [tenant, { name: 'size', type: 'number' }],
      })
      const fits = { ...edge.arguments('Help.'), size: 3 }
      testTool({
        name: `the tool of ${edge.name}`,
        tool: 'helper',
        agent: {
          id: 'desk',
          parameters: [tenant],
          ...edge.define([{ agents: ['helper'], description: '', map: {} }]),
        },
        open: () => ({ source: source((_, id) => (id === helper.id ? helper : null)) }),
        fitting: [
          { arguments: fits, comesTo: 'child' },
          { arguments: { ...fits, model: 'other/model', temperature: 0.5 }, comesTo: 'child' },
        ],
        unfitting: [
          { [argument]: 'Help.' },
          { ...fits, [argument]: ' ' },
          { ...fits, model: 'evil/model' },
          { ...fits, temperature: 2 },
          { ...fits, blocking: 'no' },
        ],
      })
    }
  }

  const clerk = agentOf({ id: 'clerk', description: 'Clerks.', parameters: [tenant] })
  const find = (_: unknown, id: string) => (id === clerk.id ? clerk : null)
  testTool({
    name: 'the tool that hands over',
    tool: 'transfer_to_agent',
    agent: { id: 'desk', parameters: [tenant], transfers: [{ agent: 'clerk' }] },
    open: () => ({ source: transferTools({ find, exists: () => true }) }),
    fitting: [
      { arguments: { agent_name: 'clerk' }, comesTo: 'transfer' },
      { arguments: { agent_name: 'stranger' }, comesTo: 'failure' },
      { arguments: { agent_name: 'desk' }, comesTo: 'failure' },
      { arguments: {}, comesTo: 'failure' },
      { arguments: { agent_name: { clerk: true } }, comesTo: 'failure' },
    ],
    unfitting: [],
  })
})
