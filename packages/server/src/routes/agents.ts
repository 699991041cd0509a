/** Agents as data: save, read, check, delete. */
import type { SavedAgent } from '@witan/core'
import { WitanError } from '@witan/protocol'
import { agentSchema, checkReportSchema, storedAgentSchema } from '@witan/protocol/schemas'
import { z } from 'zod'
import { defineRoute, type JsonReply, param, type Route } from '../route.ts'
import { given, pageOf, pageQuery } from './paging.ts'
import { etag, ifMatch, refuseNew } from './revision.ts'

const tag = 'agents'
const anyObject = z.record(z.string(), z.unknown())
const anyAgents = z.array(z.unknown()).max(1000)
const someAgents = z.array(agentSchema).max(1000)
const saved = { schema: storedAgentSchema, description: 'The agent as it is stored.' }
const graphSchema = z.object({
  nodes: z.array(z.object({ id: z.string(), name: z.string(), kind: z.string() })),
  edges: z.array(z.object({ from: z.string(), to: z.string(), kind: z.string(), description: z.string() })),
  hotSpots: z.array(z.object({ id: z.string(), in: z.number().int(), out: z.number().int() })),
})

/** Everything under /api/v1/agents, and the check. */
export const agentRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/agents',
    name: 'listAgents',
    tag,
    summary: 'Lists the agents.',
    query: z.strictObject(pageQuery),
    answers: { 200: { schema: pageOf(storedAgentSchema), description: 'A page of agents.' } },
    handle: async ({ witan, query }) => ({ status: 200, body: await witan.agents.list(given(query)) }),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/agents',
    name: 'createAgent',
    tag,
    summary: 'Creates an agent; refused where its id exists.',
    body: anyObject,
    bodyDocument: agentSchema,
    answers: { 201: saved },
    handle: async ({ witan, body }) => savedReply(await witan.agents.save(body, { create: true })),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/agents/batch',
    name: 'saveAgents',
    tag,
    summary: 'Saves several agents at once, all or nothing, so that they may list each other.',
    body: z.strictObject({ agents: anyAgents.min(1) }),
    bodyDocument: z.strictObject({ agents: someAgents.min(1) }),
    answers: {
      200: { schema: z.object({ agents: z.array(storedAgentSchema) }), description: 'The agents as they are stored.' },
    },
    handle: async ({ witan, body }) => {
      const all = await witan.agents.saveAll(body.agents)
      return { status: 200, body: { agents: all.map((one) => one.agent) } }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/agents/{id}',
    name: 'getAgent',
    tag,
    summary: 'Reads one agent; its revision is the ETag.',
    answers: { 200: saved },
    handle: async (call) => {
      const agent = await call.witan.agents.get(param(call, 'id'))
      return { status: 200, body: agent, headers: etag(agent.revision) }
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/api/v1/agents/{id}',
    name: 'saveAgent',
    tag,
    summary: 'Creates or replaces an agent; with `If-Match` only over that revision.',
    guarded: true,
    body: anyObject,
    bodyDocument: agentSchema,
    answers: { 200: saved, 201: { ...saved, description: 'The agent is new.' } },
    handle: async (call) => {
      const { revision: _revision, source: _source, warnings: _warnings, modelKind: _modelKind, ...agent } = call.body
      const id = param(call, 'id')
      if (agent.id !== undefined && agent.id !== id) throw wrongId(id)
      await refuseNew(call, id)
      const options = { ifRevision: ifMatch(call.headers, id) }
      return savedReply(await call.witan.agents.save({ ...agent, id }, options))
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/v1/agents/{id}',
    name: 'deleteAgent',
    tag,
    summary: 'Deletes an agent; refused while others list it, unless forced.',
    guarded: true,
    query: z.strictObject({ force: z.boolean().default(false) }),
    answers: { 204: { schema: null, description: 'It is gone.' } },
    handle: async (call) => {
      const id = param(call, 'id')
      await call.witan.agents.delete(id, { force: call.query.force, ifRevision: ifMatch(call.headers, id) })
      return { status: 204 }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/agents/{id}/graph',
    name: 'getAgentGraph',
    tag,
    summary: 'What can be reached from an agent, and over which edges.',
    answers: { 200: { schema: graphSchema, description: 'Nodes and edges.' } },
    handle: async (call) => ({ status: 200, body: await call.witan.agents.graph(param(call, 'id')) }),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/check',
    name: 'check',
    tag,
    summary: 'Checks these agents together with the stored ones, or the stored ones alone. Saves nothing.',
    body: z.strictObject({ agents: anyAgents.optional() }),
    bodyDocument: z.strictObject({ agents: someAgents.optional() }),
    bodyOptional: true,
    answers: { 200: { schema: checkReportSchema, description: 'What was found.' } },
    handle: async ({ witan, body }) => ({ status: 200, body: await witan.agents.check(body.agents) }),
  }),
]

function savedReply({ agent, created }: SavedAgent): JsonReply {
  return { status: created ? 201 : 200, body: agent, headers: etag(agent.revision) }
}

function wrongId(id: string): WitanError {
  const hint = 'Leave `id` out of the body, or make both the same.'
  return new WitanError('ID_INVALID', `The body names another agent than the path, \`${id}\`.`, { path: 'id', hint })
}
