/** Conversations and their documents. */
import {
  conversationLineSchema,
  conversationRequestSchema,
  conversationSchema,
  detailLevels,
  documentSchema,
  forkRequestSchema,
  startedConversationSchema,
} from '@witan/protocol/schemas'
import type { OpenedConversation, Witan } from '@witan/core'
import { liftDeadline } from '@witan/core/tooling'
import { z } from 'zod'
import { fileReply } from '../file-reply.ts'
import { conversationId, defineRoute, documentPath, param, type Route } from '../route.ts'
import { waitFor } from '../wait.ts'
import { traceparentIn } from './runs.ts'
import { given, pageOf, pageQuery } from './paging.ts'

const tag = 'conversations'
const started = {
  schema: startedConversationSchema,
  description: 'The conversation, and its first run where a prompt came along.',
}
const date = z.union([z.iso.datetime({ offset: true }), z.iso.date()], {
  error: 'must be a date such as 2026-01-31, or 2026-01-31T12:00:00Z',
})
const documentQuery = z.strictObject({
  before: date.optional().meta({ description: 'Messages before this date, exclusive.' }),
  after: date.optional().meta({ description: 'Messages after this date, exclusive.' }),
  cursor: z.string().max(200).optional().meta({ description: '`olderCursor` or `newerCursor` of another page.' }),
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
    summary: 'Starts a conversation, or continues one of that id; a prompt runs at once, and the reply is its result.',
    body: conversationRequestSchema,
    takesFiles: true,
    answers: {
      200: { ...started, description: 'The conversation existed.' },
      201: started,
      202: {
        schema: z.object({ id: z.string(), agent: z.string(), runId: z.string() }),
        description: 'The server stops; the run is stored and goes on at its next start.',
      },
    },
    handle: async ({ witan, body, halt, keyed, headers }) => {
      const { noted, made, ...note } = keyed
      if (made !== undefined) {
        const { id, agent } = await witan.getConversation(made)
        return { status: 201, body: { id, agent, run: null } }
      }
      const noting = { ...note, ...traceparentIn(headers) }
      const opened = noted === undefined ? await witan.start(body, noting) : await startedBefore(witan, noted)
      const { id, agent } = opened
      const status = opened.created ? 201 : 200
      opened.run?.result.catch(() => undefined)
      if (opened.run === null) return { status, body: { id, agent, run: null } }
      liftDeadline() // the request is stored: now it waits for the run
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
    summary: 'Lists the conversations, of one agent or all, or those that a search finds.',
    query: z.strictObject({
      ...pageQuery,
      agent: z.string().max(64).optional(),
      search: z.string().max(200).optional().meta({
        description:
          'Words that all stand in the beginning of the first message, the agent’s id or name, or the id. A page may be short; the cursor goes on.',
      }),
    }),
    answers: { 200: { schema: pageOf(conversationLineSchema), description: 'A page of conversations.' } },
    handle: async ({ witan, query }) => ({ status: 200, body: await witan.listConversations(given(query)) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/conversations/{id}',
    name: 'getConversation',
    tag,
    summary: 'What a second client reads before it follows the events from `lastSeq`.',
    answers: { 200: { schema: conversationSchema, description: 'The current state of the conversation.' } },
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
      const { noted: _, made, ...noting } = call.keyed
      if (made !== undefined) return { status: 201, body: await call.witan.getConversation(made) }
      return { status: 201, body: await call.witan.forkConversation(conversationId(call), call.body, noting) }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/conversations/{id}/files/{digest}',
    name: 'getFile',
    tag,
    summary: 'The content of a file that came with a message of the conversation.',
    answers: {
      200: {
        schema: null,
        isBytes: true,
        description: 'Its bytes. A browser saves them and never shows or runs them.',
      },
      304: { schema: null, description: 'The same as `If-None-Match` names.' },
    },
    handle: async (call) => {
      const digest = param(call, 'digest')
      return fileReply(await call.witan.readFile(conversationId(call), digest), { digest, headers: call.headers })
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/documents/{path+}',
    name: 'getDocument',
    tag,
    summary: 'One document of a conversation: the messages and calls of one agent on one path.',
    query: documentQuery,
    answers: { 200: { schema: documentSchema, description: 'The document, with a page of its messages.' } },
    handle: async (call) => ({
      status: 200,
      body: await call.witan.getDocument(documentPath(call), given(call.query)),
    }),
  }),
]

/** What an earlier request has started whose reply was lost. */
async function startedBefore(witan: Witan, runId: string): Promise<OpenedConversation> {
  const run = await witan.followRun(runId)
  const { id, agent } = await witan.getConversation(run.conversationId)
  return { id, agent, created: run.fromSeq === 0, run }
}
