/** The revisions of agents, protocols and knowledge bases. */
import { storedAgentSchema, storedProtocolSchema } from '@witan/protocol/schemas'
import { storedKnowledgeBaseSchema } from '@witan/protocol/knowledge'
import { revisionLineSchema } from '@witan/protocol/tools'
import type { Witan } from '@witan/core'
import { z } from 'zod'
import { type Call, defineRoute, param, type Route } from '../route.ts'
import { given, pageOf, pageQuery } from './paging.ts'

/** The revisions of one kind of definition. */
interface Kind {
  readonly path: string
  readonly id: string
  readonly tag: string
  readonly names: readonly [list: string, get: string]
  readonly schema: z.ZodType
  of(witan: Witan): Witan['agents' | 'protocols' | 'knowledge']['revisions']
}

const kinds: readonly Kind[] = [
  {
    path: '/api/v1/agents/{id}',
    id: 'id',
    tag: 'agents',
    names: ['listAgentRevisions', 'getAgentRevision'],
    schema: storedAgentSchema,
    of: ({ agents }) => agents.revisions,
  },
  {
    path: '/api/v1/protocols/{name}',
    id: 'name',
    tag: 'protocols',
    names: ['listProtocolRevisions', 'getProtocolRevision'],
    schema: storedProtocolSchema,
    of: ({ protocols }) => protocols.revisions,
  },
  {
    path: '/api/v1/knowledge/{id}',
    id: 'id',
    tag: 'knowledge',
    names: ['listKnowledgeRevisions', 'getKnowledgeRevision'],
    schema: storedKnowledgeBaseSchema,
    of: ({ knowledge }) => knowledge.revisions,
  },
]

/** Everything under /revisions of a definition. */
export const revisionRoutes: readonly Route[] = kinds.flatMap(({ path, id, tag, names, schema, of }) => [
  defineRoute({
    method: 'GET',
    path: `${path}/revisions`,
    name: names[0],
    tag,
    summary: 'Lists the revisions, the newest first: who made each, when, and which keys it changed.',
    query: z.strictObject(pageQuery),
    answers: { 200: { schema: pageOf(revisionLineSchema), description: 'A page of revisions.' } },
    handle: async (call) => ({ status: 200, body: await of(call.witan).list(param(call, id), given(call.query)) }),
  }),
  defineRoute({
    method: 'GET',
    path: `${path}/revisions/{n}`,
    name: names[1],
    tag,
    summary: 'Reads one revision, whole.',
    answers: { 200: { schema, description: 'The definition as it was.' } },
    handle: async (call) => ({ status: 200, body: await of(call.witan).get(param(call, id), revisionOf(call)) }),
  }),
])

/** The number in the path; 0, which no revision has, for anything else. */
function revisionOf(call: Pick<Call<unknown, unknown>, 'params'>): number {
  const text = param(call, 'n')
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0
}
