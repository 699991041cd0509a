/** The tools of the server and of its agents: read, assign, try. The knowledge bases of an agent: assign. */
import { knowledgeSettingsSchema } from '@witan/protocol/knowledge'
import { storedAgentSchema } from '@witan/protocol/schemas'
import {
  agentToolSchema,
  previewBodySchema,
  previewRequestSchema,
  previewSchema,
  serverToolSchema,
  trialRequestSchema,
  trialSchema,
} from '@witan/protocol/tools'
import { z } from 'zod'
import { defineRoute, param, type Route } from '../route.ts'
import { given, pageOf, pageQuery } from './paging.ts'
import { agentCalled, etag, ifMatch } from './revision.ts'

const path = '/api/v1/agents/{id}/tools/{tool}'
const knowledgePath = '/api/v1/agents/{id}/knowledge/{base}'
const saved = { schema: storedAgentSchema, description: 'The agent as it is stored.' }

/** Everything under /api/v1/tools and /api/v1/agents/{id}/tools, and the preview of an agent. */
export const toolRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/tools',
    name: 'listServerTools',
    tag: 'agents',
    summary: 'Lists the function tools of this server, with the agents that have each.',
    query: z.strictObject(pageQuery),
    answers: { 200: { schema: pageOf(serverToolSchema), description: 'A page of tools.' } },
    handle: async ({ witan, query }) => ({ status: 200, body: await witan.agents.tools.all(given(query)) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/agents/{id}/tools',
    name: 'listAgentTools',
    tag: 'agents',
    summary: 'Lists the tools of an agent of every kind, as in a conversation that gives it no values.',
    answers: { 200: { schema: z.object({ items: z.array(agentToolSchema) }), description: 'Its tools.' } },
    handle: async (call) => ({ status: 200, body: { items: await call.witan.agents.tools.list(param(call, 'id')) } }),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/agents/{id}/preview',
    name: 'previewAgent',
    tag: 'agents',
    summary: 'What the first model call of an agent, or of a draft of it, would get. Stores and asks nothing.',
    body: previewRequestSchema,
    bodyDocument: previewBodySchema,
    bodyOptional: true,
    answers: { 200: { schema: previewSchema, description: 'The preview.' } },
    handle: async (call) => ({
      status: 200,
      body: await call.witan.agents.preview(param(call, 'id'), call.body),
    }),
  }),
  defineRoute({
    method: 'POST',
    path: `${path}/try`,
    name: 'tryTool',
    tag: 'agents',
    summary:
      'Runs a function or a query of an agent alone, with the values of a new conversation. It leaves no conversation.',
    body: trialRequestSchema,
    bodyOptional: true,
    answers: { 200: { schema: trialSchema, description: 'What came of it.' } },
    async handle(call) {
      const { witan, halt, log } = call
      const tool = param(call, 'tool')
      const onStart = (agent: string) => log('info', 'a tool is tried', { principal: witan.principal.id, agent, tool })
      const options = { request: call.body, signal: halt, onStart }
      return { status: 200, body: await witan.agents.tools.try(param(call, 'id'), tool, options) }
    },
  }),
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
  defineRoute({
    method: 'PUT',
    path: knowledgePath,
    name: 'assignKnowledge',
    tag: 'agents',
    summary:
      'Lets an agent search a knowledge base, or replaces how it does; with `If-Match` only over that revision of the agent.',
    guarded: true,
    body: z.record(z.string(), z.unknown()),
    bodyDocument: knowledgeSettingsSchema,
    bodyOptional: true,
    answers: { 200: { ...saved, description: 'The agent had it.' }, 201: saved },
    handle: async (call) => {
      const id = param(call, 'id')
      const options = { ifRevision: ifMatch(call.headers, agentCalled(id)), use: call.body }
      const { agent, created } = await call.witan.agents.knowledge.assign(id, param(call, 'base'), options)
      return { status: created ? 201 : 200, body: agent, headers: etag(agent.revision) }
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: knowledgePath,
    name: 'unassignKnowledge',
    tag: 'agents',
    summary: 'Takes a knowledge base from an agent; with `If-Match` only over that revision of the agent.',
    guarded: true,
    answers: { 204: { schema: null, description: 'The agent searches it no more; the ETag is its new revision.' } },
    handle: async (call) => {
      const id = param(call, 'id')
      const options = { ifRevision: ifMatch(call.headers, agentCalled(id)) }
      const { revision } = await call.witan.agents.knowledge.unassign(id, param(call, 'base'), options)
      return { status: 204, headers: etag(revision) }
    },
  }),
]
