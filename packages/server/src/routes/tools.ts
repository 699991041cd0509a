/** The tools of an agent, one by one. */
import { storedAgentSchema } from '@witan/protocol/schemas'
import { defineRoute, param, type Route } from '../route.ts'
import { agentCalled, etag, ifMatch } from './revision.ts'

const path = '/api/v1/agents/{id}/tools/{tool}'
const saved = { schema: storedAgentSchema, description: 'The agent as it is stored.' }

/** Everything under /api/v1/agents/{id}/tools. */
export const toolRoutes: readonly Route[] = [
  defineRoute({
    method: 'PUT',
    path,
    name: 'assignTool',
    tag: 'agents',
    summary: 'Gives an agent a tool; with `If-Match` only over that revision of the agent.',
    guarded: true,
    answers: { 200: { ...saved, description: 'The agent had it.' }, 201: saved },
    handle: async (call) => {
      const id = param(call, 'id')
      const options = { ifRevision: ifMatch(call.headers, agentCalled(id)) }
      const { agent, created } = await call.witan.agents.tools.assign(id, param(call, 'tool'), options)
      return { status: created ? 201 : 200, body: agent, headers: etag(agent.revision) }
    },
  }),
  defineRoute({
    method: 'DELETE',
    path,
    name: 'unassignTool',
    tag: 'agents',
    summary: 'Takes a tool from an agent; with `If-Match` only over that revision of the agent.',
    guarded: true,
    answers: { 204: { schema: null, description: 'The agent has it no more; the ETag is its new revision.' } },
    handle: async (call) => {
      const id = param(call, 'id')
      const options = { ifRevision: ifMatch(call.headers, agentCalled(id)) }
      const { revision } = await call.witan.agents.tools.unassign(id, param(call, 'tool'), options)
      return { status: 204, headers: etag(revision) }
    },
  }),
]
