/** Agents as data: save, read, check, delete. */
import type { SavedAgent, Witan } from '@witan/core'
import { type AgentInput, WitanError } from '@witan/protocol'
import { type KnowledgeBaseInput, knowledgeBaseSchema, storedKnowledgeBaseSchema } from '@witan/protocol/knowledge'
import type { ProtocolInput } from '@witan/protocol/protocols'
import {
  agentSchema,
  agentViewSchema,
  checkReportSchema,
  protocolSchema,
  storedAgentSchema,
  storedProtocolSchema,
  withoutStored,
} from '@witan/protocol/schemas'
import { z } from 'zod'
import { defineRoute, type JsonReply, param, type Route } from '../route.ts'
import { given, pageOf, pageQuery } from './paging.ts'
import { agentCalled, etag, ifMatch, refuseNew } from './revision.ts'

const tag = 'agents'
const anyObject = z.record(z.string(), z.unknown())
const anyAgents = z.array(z.custom<AgentInput>()).max(1000)
const someAgents = z.array(agentSchema).max(1000)
const anyProtocols = z.array(z.custom<ProtocolInput>()).max(1000)
const someProtocols = z.array(protocolSchema).max(1000)
const anyKnowledge = z.array(z.custom<KnowledgeBaseInput>()).max(1000)
const someKnowledge = z.array(knowledgeBaseSchema).max(1000)
const isSomething = (lists: Readonly<Record<string, readonly unknown[] | undefined>>) =>
  Object.values(lists).some((list) => list !== undefined && list.length > 0)
const nothing = { path: ['agents'], message: 'Too small: expected array to have >=1 items' }
const batchSchema = z.object({
  agents: z.array(storedAgentSchema),
  protocols: z.array(storedProtocolSchema).optional(),
  knowledge: z.array(storedKnowledgeBaseSchema).optional(),
})
const saved = { schema: storedAgentSchema, description: 'The agent as it is stored.' }
const shownAgentSchema = z.union([storedAgentSchema, agentViewSchema])
const graphSchema = z.object({
  nodes: z.array(z.object({ id: z.string(), name: z.string(), kind: z.string(), workflow: z.string().nullable() })),
  edges: z.array(
    z.object({
      from: z.string(),
      to: z.string(),
      kind: z.string(),
      description: z.string(),
      step: z.number().int().nullable().meta({ description: 'The place among the steps of a workflow, from 1.' }),
      blocking: z.string().nullable(),
      style: z.string().nullable(),
    }),
  ),
  hotSpots: z.array(z.object({ id: z.string(), in: z.number().int(), out: z.number().int() })),
})

/** Everything under /api/v1/agents, and the check. */
export const agentRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/agents',
    name: 'listAgents',
    tag,
    summary:
      'Lists the agents: whole to the roles `admin` and `read`, to `run` what a caller needs of those it may call.',
    query: z.strictObject(pageQuery),
    answers: { 200: { schema: pageOf(shownAgentSchema), description: 'A page of agents.' } },
    handle: async ({ witan, query }) => ({
      status: 200,
      body: await (readsWhole(witan) ? witan.agents.list(given(query)) : witan.agents.views(given(query))),
    }),
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
    handle: async ({ witan, body }) => savedReply(await witan.agents.save(body as AgentInput, { create: true })),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/agents/batch',
    name: 'saveAgents',
    tag,
    summary: 'Saves agents, protocols and knowledge bases at once, all or nothing, so that they may name each other.',
    body: z
      .strictObject({ agents: anyAgents, protocols: anyProtocols.optional(), knowledge: anyKnowledge.optional() })
      .refine(isSomething, nothing),
    bodyDocument: z.strictObject({
      agents: someAgents,
      protocols: someProtocols.optional(),
      knowledge: someKnowledge.optional(),
    }),
    answers: { 200: { schema: batchSchema, description: 'The definitions as they are stored.' } },
    handle: async ({ witan, body }) => {
      const { agents, protocols, knowledge } = await witan.agents.saveTogether(
        body as Parameters<typeof witan.agents.saveTogether>[0],
      )
      return {
        status: 200,
        body: {
          agents: agents.map(({ agent }) => agent),
          ...(body.protocols === undefined ? {} : { protocols: protocols.map(({ protocol }) => protocol) }),
          ...(body.knowledge === undefined ? {} : { knowledge: knowledge.map(({ base }) => base) }),
        },
      }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/agents/{id}',
    name: 'getAgent',
    tag,
    summary: 'Reads one agent; its revision is the ETag. The role `run` reads what a caller needs.',
    answers: { 200: { schema: shownAgentSchema, description: 'The agent.' } },
    handle: async (call) => {
      if (!readsWhole(call.witan)) return { status: 200, body: await call.witan.agents.view(param(call, 'id')) }
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
      const agent = withoutStored(call.body)
      const id = param(call, 'id')
      if (agent.id !== undefined && agent.id !== id) throw wrongId(id)
      const called = agentCalled(id)
      await refuseNew(call.headers, called, () => call.witan.agents.get(id))
      const options = { ifRevision: ifMatch(call.headers, called) }
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
      await call.witan.agents.delete(id, {
        force: call.query.force,
        ifRevision: ifMatch(call.headers, agentCalled(id)),
      })
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
    summary: 'Checks these definitions together with the stored ones, or the stored ones alone. Saves nothing.',
    body: z.strictObject({
      agents: anyAgents.optional(),
      protocols: anyProtocols.optional(),
      knowledge: anyKnowledge.optional(),
    }),
    bodyDocument: z.strictObject({
      agents: someAgents.optional(),
      protocols: someProtocols.optional(),
      knowledge: someKnowledge.optional(),
    }),
    bodyOptional: true,
    answers: { 200: { schema: checkReportSchema, description: 'What was found.' } },
    handle: async ({ witan, body: { agents, protocols, knowledge } }) => ({
      status: 200,
      body: await witan.agents.check(agents, protocols, knowledge),
    }),
  }),
]

/** Whether the caller reads agents whole; otherwise it reads what it may call. */
function readsWhole({ principal: { roles } }: Witan): boolean {
  return roles.includes('admin') || roles.includes('read')
}

function savedReply({ agent, created }: SavedAgent): JsonReply {
  return { status: created ? 201 : 200, body: agent, headers: etag(agent.revision) }
}

function wrongId(id: string): WitanError {
  const hint = 'Leave `id` out of the body, or make both the same.'
  return new WitanError('ID_INVALID', `The body names another agent than the path, \`${id}\`.`, { path: 'id', hint })
}
