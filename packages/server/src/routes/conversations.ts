/** Conversations and their documents. */
import {
  conversationRequestSchema,
  conversationSchema,
  detailLevels,
  documentSchema,
  forkRequestSchema,
  startedConversationSchema,
} from '@witan/protocol/schemas'
import type { OpenedConversation, Witan } from '@witan/core'
import { z } from 'zod'
import { badRequest, conversationId, defineRoute, documentPath, type Route } from '../route.ts'
import { waitFor } from '../wait.ts'
import { given, pageOf, pageQuery } from './paging.ts'

const tag = 'conversations'
const lineSchema = conversationSchema.omit({ interruptions: true, tasks: true, runs: true })
const started = {
  schema: startedConversationSchema,
  description: 'The conversation, and its first run where a prompt came along.',
}
const date = z.union([z.iso.datetime({ offset: true }), z.iso.date()], {
  error: 'it must be a date such as 2026-01-31, or 2026-01-31T12:00:00Z',
})
const documentQuery = z.strictObject({
  before: date.optional().meta({ description: 'Messages before this date, exclusive.' }),
  after: date.optional().meta({ description: 'Messages after this date, exclusive.' }),
  limit: pageQuery.limit,
  detail: z.enum(detailLevels).default('detailed'),
})

/** Everything under /api/v1/conversations but runs and events, and /api/v1/documents. */
export const conversationRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/api/v1/conversations',
    name: 'startConversation',
    tag,
    summary: 'Starts a conversation, or goes on with one of that id; a prompt is run at once and waited for.',
    body: conversationRequestSchema,
    answers: {
      200: { ...started, description: 'The conversation existed.' },
      201: started,
      202: {
        schema: z.object({ id: z.string(), agent: z.string(), runId: z.string() }),
        description: 'The server stops; the run is stored and goes on at its next start.',
      },
    },
    handle: async ({ witan, body, halt, keyed }) => {
      const { noted, ...noting } = keyed
      const opened = noted === undefined ? await witan.start(body, noting) : await startedBefore(witan, noted)
      const { id, agent } = opened
      const status = opened.created ? 201 : 200
      opened.run?.result.catch(() => undefined)
      if (opened.run === null) return { status, body: { id, agent, run: null } }
      const run = await waitFor(opened.run.result, halt)
      if (run === null) return { status: 202, body: { id, agent, runId: opened.run.runId } }
      return { status, body: { id, agent, run } }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/conversations',
    name: 'listConversations',
    tag,
    summary: 'Lists the conversations, of one agent or all.',
    query: z.strictObject({ ...pageQuery, agent: z.string().max(64).optional() }),
    answers: { 200: { schema: pageOf(lineSchema), description: 'A page of conversations.' } },
    handle: async ({ witan, query }) => ({ status: 200, body: await witan.listConversations(given(query)) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/conversations/{id}',
    name: 'getConversation',
    tag,
    summary: 'What a second client reads before it follows the events from `lastSeq`.',
    answers: { 200: { schema: conversationSchema, description: 'The conversation as it stands.' } },
    handle: async (call) => ({ status: 200, body: await call.witan.getConversation(conversationId(call)) }),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/v1/conversations/{id}',
    name: 'deleteConversation',
    tag,
    summary: 'Deletes a conversation with all its documents.',
    answers: { 204: { schema: null, description: 'It is gone.' } },
    handle: async (call) => {
      await call.witan.deleteConversation(conversationId(call))
      return { status: 204 }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/conversations/{id}/fork',
    name: 'forkConversation',
    tag,
    summary: 'A new conversation with the same log up to `seq`, over all documents; only where no call is open.',
    body: forkRequestSchema,
    answers: { 201: { schema: conversationSchema, description: 'The fork; the copied runs are its history.' } },
    handle: async (call) => {
      const { noted: _, ...noting } = call.keyed
      return { status: 201, body: await call.witan.forkConversation(conversationId(call), call.body, noting) }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/documents/{path+}',
    name: 'getDocument',
    tag,
    summary: 'One document of a conversation: what one agent on one path said, heard and did.',
    query: documentQuery,
    answers: { 200: { schema: documentSchema, description: 'The document, newest messages of the range.' } },
    handle: async (call) => {
      if (call.query.before !== undefined && call.query.after !== undefined)
        throw badRequest('`before` and `after` cannot stand together.', { path: 'after', hint: 'Send one of the two.' })
      return { status: 200, body: await call.witan.getDocument(documentPath(call), given(call.query)) }
    },
  }),
]

/** What an earlier request has started whose reply was lost. */
async function startedBefore(witan: Witan, runId: string): Promise<OpenedConversation> {
  const run = await witan.followRun(runId)
  const { id, agent } = await witan.getConversation(run.conversationId)
  return { id, agent, created: run.fromSeq === 0, run }
}
