/** The sub-agents of an agent, one by one, and direct runs of them. The parent's revision is the ETag of all replies. */
import type { SubAgentAssignment } from '@witan/core/tooling'
import type { AgentInput } from '@witan/protocol'
import {
  agentSchema,
  directRunBodySchema,
  namelessEdgeSchema,
  storedAgentSchema,
  subAgentEdgeSchema,
} from '@witan/protocol/schemas'
import { z } from 'zod'
import { defineRoute, type JsonReply, param, type Route } from '../route.ts'
import { given, pageOf, pageQuery } from './paging.ts'
import { agentCalled, etag, ifMatch } from './revision.ts'
import { runAnswers, runIn } from './runs.ts'

const tag = 'agents'
const roster = '/api/v1/agents/{parentId}/subagents'
const lineSchema = z.object({ agent: storedAgentSchema.nullable(), edge: subAgentEdgeSchema })
const assignedSchema = z.object({ agent: storedAgentSchema, edge: subAgentEdgeSchema, parent: storedAgentSchema })
const receiptSchema = z.object({ runId: z.string(), conversationId: z.string() })
const assigned = {
  schema: assignedSchema,
  description: 'The sub-agent, the edge to it, and the parent as it is stored.',
}

/** Everything under /api/v1/agents/{parentId}/subagents. */
export const subAgentRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: roster,
    name: 'listSubAgents',
    tag,
    summary: 'Lists the sub-agents of an agent in the order of its roster; `agent` is null where it was deleted.',
    query: z.strictObject(pageQuery),
    answers: { 200: { schema: pageOf(lineSchema), description: 'A page of sub-agents.' } },
    handle: async (call) => ({
      status: 200,
      body: await call.witan.agents.subAgents.list(param(call, 'parentId'), given(call.query)),
    }),
  }),
  defineRoute({
    method: 'POST',
    path: roster,
    name: 'createSubAgent',
    tag,
    summary: 'Creates an agent and lists it, both or neither; with `If-Match` only over that revision of the parent.',
    guarded: true,
    body: z.strictObject({ agent: z.record(z.string(), z.unknown()), edge: namelessEdgeSchema.optional() }),
    bodyDocument: z.strictObject({ agent: agentSchema, edge: namelessEdgeSchema.optional() }),
    answers: { 201: assigned },
    handle: async (call) => {
      const parent = param(call, 'parentId')
      const ifRevision = ifMatch(call.headers, agentCalled(parent))
      return assignedReply(
        await call.witan.agents.subAgents.create(parent, {
          ...call.body,
          agent: call.body.agent as AgentInput,
          ifRevision,
        }),
      )
    },
  }),
  defineRoute({
    method: 'PUT',
    path: `${roster}/{id}`,
    name: 'assignSubAgent',
    tag,
    summary: 'Lists an agent, or replaces the edge to it; with `If-Match` only over that revision of the parent.',
    guarded: true,
    body: namelessEdgeSchema,
    bodyOptional: true,
    answers: { 200: { ...assigned, description: 'It was listed already.' }, 201: assigned },
    handle: async (call) => {
      const parent = param(call, 'parentId')
      const options = { edge: call.body, ifRevision: ifMatch(call.headers, agentCalled(parent)) }
      return assignedReply(await call.witan.agents.subAgents.assign(parent, param(call, 'id'), options))
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: `${roster}/{id}`,
    name: 'unassignSubAgent',
    tag,
    summary: 'Removes an agent from the list; the agent itself stays. With `If-Match` only over that revision.',
    guarded: true,
    answers: { 204: { schema: null, description: 'It is not listed; the ETag is the new revision of the parent.' } },
    handle: async (call) => {
      const parent = param(call, 'parentId')
      const options = { ifRevision: ifMatch(call.headers, agentCalled(parent)) }
      const { revision } = await call.witan.agents.subAgents.unassign(parent, param(call, 'id'), options)
      return { status: 204, headers: etag(revision) }
    },
  }),
  directRun(`${roster}/{id}/run`, 'runSubAgent'),
  directRun('/api/v1/agent/{parentId}/subagents/{id}/run', 'runSubAgentOfAgent'),
]

/** A direct run is reached on two paths [F41]. */
function directRun(path: string, name: string): Route {
  return defineRoute({
    method: 'POST',
    path,
    name,
    tag: 'runs',
    summary:
      'Runs a listed sub-agent as the root of a conversation of its own: a new one, or `conversationId`. Answers as every run does.',
    body: directRunBodySchema,
    takesFiles: true,
    keyOf: (body) => {
      const { conversationId = null, messageId = null } = Object(body) as Readonly<Record<string, unknown>>
      return messageId === null ? undefined : { key: JSON.stringify([conversationId, messageId]), name: 'messageId' }
    },
    answers: { ...runAnswers, 202: { ...runAnswers[202], schema: receiptSchema } },
    handle: async (call) => {
      const { subAgents } = call.witan.agents
      const { messageId: _, ...request } = call.body
      const { conversationId, body } = await subAgents.open(param(call, 'parentId'), param(call, 'id'), request)
      return runIn({ ...call, body }, { id: conversationId, receipt: ({ runId }) => ({ runId, conversationId }) })
    },
  })
}

function assignedReply({ created, ...body }: SubAgentAssignment): JsonReply {
  return { status: created ? 201 : 200, body, headers: etag(body.parent.revision) }
}
