/** Knowledge bases: their definitions, their documents, and what a search finds. */
import { WitanError } from '@witan/protocol'
import {
  documentInputSchema,
  documentLineSchema,
  foundPassagesSchema,
  type Ingest,
  ingestRequestSchema,
  ingestSchema,
  type KnowledgeBaseInput,
  knowledgeBaseSchema,
  knowledgeDocumentSchema,
  knowledgeSearchSchema,
  mostDocuments,
  passageSchema,
  storedKnowledgeBaseSchema,
} from '@witan/protocol/knowledge'
import { z } from 'zod'
import { wantsStream } from '../accept.ts'
import { defineRoute, param, type Route } from '../route.ts'
import { encodeFrame } from '../sse.ts'
import { given, pageOf, pageQuery } from './paging.ts'
import { etag, ifMatch, refuseNew } from './revision.ts'

const tag = 'knowledge'
const path = '/api/v1/knowledge/{id}'
const saved = { schema: storedKnowledgeBaseSchema, description: 'The base as it is stored, and how much it has.' }
const called = (id: string) => `knowledge base \`${id.slice(0, 80)}\``

/** Everything under /api/v1/knowledge but the revisions. */
export const knowledgeRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/knowledge',
    name: 'listKnowledge',
    tag,
    summary: 'Lists the knowledge bases.',
    query: z.strictObject(pageQuery),
    answers: { 200: { schema: pageOf(storedKnowledgeBaseSchema), description: 'A page of bases.' } },
    handle: async ({ witan, query }) => ({ status: 200, body: await witan.knowledge.list(given(query)) }),
  }),
  defineRoute({
    method: 'GET',
    path,
    name: 'getKnowledge',
    tag,
    summary: 'Reads one base; its revision is the ETag.',
    answers: { 200: saved },
    handle: async (call) => {
      const base = await call.witan.knowledge.get(param(call, 'id'))
      return { status: 200, body: base, headers: etag(base.revision) }
    },
  }),
  defineRoute({
    method: 'PUT',
    path,
    name: 'saveKnowledge',
    tag,
    summary: 'Creates or replaces a base; with `If-Match` only over that revision. Its documents stay.',
    guarded: true,
    body: z.record(z.string(), z.unknown()),
    bodyDocument: knowledgeBaseSchema,
    answers: { 200: saved, 201: { ...saved, description: 'The base is new.' } },
    handle: async (call) => {
      const id = param(call, 'id')
      if (call.body.id !== undefined && call.body.id !== id) throw wrongId(id)
      await refuseNew(call.headers, called(id), () => call.witan.knowledge.get(id))
      const options = { ifRevision: ifMatch(call.headers, called(id)) }
      const { base, created } = await call.witan.knowledge.save({ ...call.body, id } as KnowledgeBaseInput, options)
      return { status: created ? 201 : 200, body: base, headers: etag(base.revision) }
    },
  }),
  defineRoute({
    method: 'DELETE',
    path,
    name: 'deleteKnowledge',
    tag,
    summary: 'Deletes a base with its documents; refused while agents list it, unless forced.',
    guarded: true,
    query: z.strictObject({ force: z.boolean().default(false) }),
    answers: { 204: { schema: null, description: 'It is gone.' } },
    handle: async (call) => {
      const id = param(call, 'id')
      const options = { force: call.query.force, ifRevision: ifMatch(call.headers, called(id)) }
      await call.witan.knowledge.delete(id, options)
      return { status: 204 }
    },
  }),
  defineRoute({
    method: 'POST',
    path: `${path}/search`,
    name: 'searchKnowledge',
    tag,
    summary: 'Finds passages, best first, as an agent with this filter gets them.',
    body: knowledgeSearchSchema,
    answers: { 200: { schema: foundPassagesSchema, description: 'The passages, and what is to be said of them.' } },
    handle: async (call) => ({ status: 200, body: await call.witan.knowledge.search(param(call, 'id'), call.body) }),
  }),
  defineRoute({
    method: 'GET',
    path: `${path}/documents`,
    name: 'listKnowledgeDocuments',
    tag,
    summary: 'Lists the documents of a base by key, without their texts.',
    query: z.strictObject({
      ...pageQuery,
      prefix: z.string().max(300).optional().meta({ description: 'Only keys that begin so.' }),
    }),
    answers: { 200: { schema: pageOf(documentLineSchema), description: 'A page of documents.' } },
    handle: async (call) => ({
      status: 200,
      body: await call.witan.knowledge.documents.list(param(call, 'id'), given(call.query)),
    }),
  }),
  defineRoute({
    method: 'POST',
    path: `${path}/documents`,
    name: 'ingestDocuments',
    tag,
    summary:
      'Takes documents, which then survive a crash: 200 once all are read, or 202 with `wait: false` and after 20 s.',
    body: ingestRequestSchema,
    bodyDocument: ingestRequestSchema.extend({ documents: z.array(documentInputSchema).max(mostDocuments) }),
    takesDocuments: true,
    answers: {
      200: { schema: ingestSchema, description: 'All are read; those that failed are listed.' },
      202: { schema: ingestSchema, description: 'They are taken, and not all are read yet.' },
    },
    handle: async (call) => {
      const ingest = await call.witan.knowledge.documents.ingest(param(call, 'id'), call.body)
      return { status: ingest.status === 'completed' ? 200 : 202, body: ingest }
    },
  }),
  defineRoute({
    method: 'GET',
    path: `${path}/documents/{key}`,
    name: 'getKnowledgeDocument',
    tag,
    summary: 'Reads one document with its text. A `/` of its key is `%2F`.',
    answers: { 200: { schema: knowledgeDocumentSchema, description: 'The document as it was read.' } },
    handle: async (call) => ({
      status: 200,
      body: await call.witan.knowledge.documents.get(param(call, 'id'), param(call, 'key')),
    }),
  }),
  defineRoute({
    method: 'GET',
    path: `${path}/documents/{key}/passages`,
    name: 'listKnowledgePassages',
    tag,
    summary: 'Lists the passages of one document in their order, as a search finds them.',
    query: z.strictObject(pageQuery),
    answers: { 200: { schema: pageOf(passageSchema), description: 'A page of passages.' } },
    handle: async (call) => ({
      status: 200,
      body: await call.witan.knowledge.documents.passages(param(call, 'id'), param(call, 'key'), given(call.query)),
    }),
  }),
  defineRoute({
    method: 'DELETE',
    path: `${path}/documents/{key}`,
    name: 'deleteKnowledgeDocument',
    tag,
    summary: 'Deletes one document: no later search finds it.',
    answers: { 204: { schema: null, description: 'It is gone.' } },
    handle: async (call) => {
      await call.witan.knowledge.documents.delete(param(call, 'id'), param(call, 'key'))
      return { status: 204 }
    },
  }),
  defineRoute({
    method: 'GET',
    path: `${path}/ingests/{ingestId}`,
    name: 'getIngest',
    tag,
    summary: 'How far an ingest has come; as server-sent events a frame for each change, the last at its end.',
    answers: { 200: { schema: ingestSchema, description: 'The ingest.', stream: true } },
    handle: async (call) => {
      const { witan } = call
      const [id, ingestId] = [param(call, 'id'), param(call, 'ingestId')]
      const ingest = await witan.knowledge.documents.readIngest(id, ingestId)
      if (!wantsStream(call.headers, 'json')) return { status: 200, body: ingest }
      return { frames: (signal) => framesOf(witan.knowledge.documents.followIngest(id, ingestId, signal)) }
    },
  }),
]

async function* framesOf(ingests: AsyncIterable<Ingest>): AsyncGenerator<string> {
  for await (const ingest of ingests) yield encodeFrame({ event: 'ingest', data: JSON.stringify(ingest) })
}

function wrongId(id: string): WitanError {
  const hint = 'Leave `id` out of the body, or make both the same.'
  return new WitanError('ID_INVALID', `The body names another base than the path, \`${id.slice(0, 80)}\`.`, {
    path: 'id',
    hint,
  })
}
