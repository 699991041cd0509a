/** Model calls: what each model was asked, computed from the log, and who read an entry. */
import { entryReadersSchema, modelCallLineSchema, modelCallSchema } from '@witan/protocol/schemas'
import { z } from 'zod'
import { conversationId, defineRoute, param, type Route } from '../route.ts'
import { given, pageOf, pageQuery } from './paging.ts'

const tag = 'model calls'
const id = z.string().max(200).optional()

/** The model calls of a conversation, and the readers of its entries. */
export const modelCallRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/conversations/{id}/model-calls',
    name: 'listModelCalls',
    tag,
    summary: 'Lists the model calls of a conversation in the order of its log, those under way last.',
    query: z.strictObject({
      ...pageQuery,
      run: id.meta({ description: 'Only those of this run.' }),
      call: id.meta({ description: 'Only those of this call of an agent.' }),
      document: z.string().max(2000).optional().meta({ description: 'Only those of this document.' }),
    }),
    answers: { 200: { schema: pageOf(modelCallLineSchema), description: 'A page of model calls.' } },
    handle: async (call) => ({
      status: 200,
      body: await call.witan.modelCalls.list(conversationId(call), given(call.query)),
    }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/conversations/{id}/model-calls/{callNumber}',
    name: 'getModelCall',
    tag,
    summary:
      'A model call: what the model got, and what it replied. At most 4 MiB; the oldest messages are left out then.',
    answers: { 200: { schema: modelCallSchema, description: 'The model call.' } },
    handle: async (call) => ({
      status: 200,
      body: await call.witan.modelCalls.get(conversationId(call), param(call, 'callNumber')),
    }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/conversations/{id}/readers',
    name: 'listReaders',
    tag,
    summary: 'Which models read an entry of the log, each with the first of its model calls that did.',
    query: z.strictObject({ seq: z.number().int().min(1).meta({ description: 'The seq of the entry.' }) }),
    answers: {
      200: { schema: entryReadersSchema, description: 'The readers, in the order in which they first read it.' },
    },
    handle: async (call) => ({
      status: 200,
      body: await call.witan.modelCalls.readers(conversationId(call), call.query.seq),
    }),
  }),
]
