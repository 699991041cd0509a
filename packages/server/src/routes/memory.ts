/** What agents remember: for whom it is about without a role, and for administrators. */
import {
  changedMemorySchema,
  erasedMemorySchema,
  memoryBlockSchema,
  memoryKinds,
  memoryRevisionSchema,
  memoryScopes,
  memoryConversationSchema,
  newMemorySchema,
} from '@witan/protocol/memory'
import { z } from 'zod'
import { defineRoute, param, type Route } from '../route.ts'
import { given, pageOf, pageQuery } from './paging.ts'

const tag = 'memory'
const path = '/api/v1/memory'
const one = `${path}/{id}`
const block = { schema: memoryBlockSchema, description: 'The block as it is stored.' }
const subject = z.string().min(1).max(300)
const agent = z.string().min(1).max(300).optional().meta({ description: 'Only blocks of this agent.' })

/** Everything under /api/v1/memory. */
export const memoryRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path,
    name: 'listMemory',
    tag,
    summary: 'Lists what agents remember, the latest first: about the caller, or with `admin` about everybody.',
    query: z.strictObject({
      ...pageQuery,
      agent,
      subject: subject.optional().meta({ description: 'Whom it is about, such as `user:anna`.' }),
      scope: z.enum(memoryScopes).optional(),
      kind: z.enum(memoryKinds).optional(),
      q: z.string().max(200).optional().meta({ description: 'Words that all stand in key or text.' }),
    }),
    answers: { 200: { schema: pageOf(memoryBlockSchema), description: 'A page of blocks.' } },
    handle: async ({ witan, query }) => ({ status: 200, body: await witan.memory.list(given(query)) }),
  }),
  defineRoute({
    method: 'POST',
    path,
    name: 'createMemory',
    tag,
    summary: 'Adds a block; refused if its key exists.',
    body: newMemorySchema,
    answers: { 201: { ...block, description: 'The block is new.' } },
    handle: async ({ witan, body }) => ({ status: 201, body: await witan.memory.create(body) }),
  }),
  defineRoute({
    method: 'DELETE',
    path,
    name: 'eraseMemory',
    tag,
    summary: 'Erases all blocks about somebody with their revisions, and names the conversations that quote them.',
    query: z.strictObject({
      subject: subject.meta({ description: 'Whom they are about, such as `user:anna`.' }),
      agent,
      conversations: z.boolean().default(false).meta({ description: 'Delete those conversations too.' }),
    }),
    answers: { 200: { schema: erasedMemorySchema, description: 'What was erased.' } },
    handle: async ({ witan, query }) => ({ status: 200, body: await witan.memory.erase(aboutOf(query)) }),
  }),
  defineRoute({
    method: 'GET',
    path: `${path}/conversations`,
    name: 'listMemoryConversations',
    tag,
    summary: 'Lists the conversations whose logs hold what a model read or wrote of the blocks about somebody.',
    query: z.strictObject({
      ...pageQuery,
      subject: subject.meta({ description: 'Whom they are about, such as `user:anna`.' }),
      agent,
    }),
    answers: { 200: { schema: pageOf(memoryConversationSchema), description: 'A page of conversations, by id.' } },
    handle: async ({ witan, query: { subject, ...rest } }) => ({
      status: 200,
      body: await witan.memory.conversations({ ...given(rest), subject }),
    }),
  }),
  defineRoute({
    method: 'GET',
    path: one,
    name: 'getMemory',
    tag,
    summary: 'Reads one block.',
    answers: { 200: block },
    handle: async (call) => ({ status: 200, body: await call.witan.memory.get(param(call, 'id')) }),
  }),
  defineRoute({
    method: 'PUT',
    path: one,
    name: 'changeMemory',
    tag,
    summary: 'Gives a block another text, if it has the expected revision; else the error has it as `current`.',
    body: changedMemorySchema,
    answers: { 200: block },
    handle: async (call) => ({ status: 200, body: await call.witan.memory.change(param(call, 'id'), call.body) }),
  }),
  defineRoute({
    method: 'DELETE',
    path: one,
    name: 'deleteMemory',
    tag,
    summary: 'Erases one block with its revisions.',
    answers: { 204: { schema: null, description: 'It is gone.' } },
    handle: async (call) => {
      await call.witan.memory.delete(param(call, 'id'))
      return { status: 204 }
    },
  }),
  defineRoute({
    method: 'GET',
    path: `${one}/revisions`,
    name: 'listMemoryRevisions',
    tag,
    summary: 'Lists the texts of a block, the latest first, and who wrote each, when, in which run.',
    query: z.strictObject(pageQuery),
    answers: { 200: { schema: pageOf(memoryRevisionSchema), description: 'A page of revisions.' } },
    handle: async (call) => ({
      status: 200,
      body: await call.witan.memory.revisions(param(call, 'id'), given(call.query)),
    }),
  }),
]

function aboutOf({
  subject,
  agent = null,
  conversations,
}: {
  subject: string
  agent?: string | null | undefined
  conversations: boolean
}) {
  return { subject, agent, conversations }
}
