/** The people of a conversation. */
import { participantRequestSchema, participantSchema } from '@witan/protocol/schemas'
import { z } from 'zod'
import { conversationId, defineRoute, param, type Route } from '../route.ts'
import { given, pageOf, pageQuery } from './paging.ts'

const tag = 'conversations'
const path = '/api/v1/conversations/{id}/participants'

/** Everything under /api/v1/conversations/{id}/participants. */
export const participantRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path,
    name: 'listParticipants',
    tag,
    summary: 'Everybody who takes part in the conversation or did, in the order of joining.',
    query: z.strictObject(pageQuery),
    answers: { 200: { schema: pageOf(participantSchema), description: 'A page of people.' } },
    handle: async (call) => ({
      status: 200,
      body: await call.witan.listParticipants(conversationId(call), given(call.query)),
    }),
  }),
  defineRoute({
    method: 'POST',
    path,
    name: 'addParticipant',
    tag,
    summary: 'Adds a person. Tools that ask people change with the next run.',
    body: participantRequestSchema,
    answers: {
      200: { schema: participantSchema, description: 'The person took part already, with the same name and roles.' },
      201: { schema: participantSchema, description: 'The person takes part now.' },
    },
    handle: async (call) => {
      const { participant, created } = await call.witan.addParticipant(conversationId(call), call.body)
      return { status: created ? 201 : 200, body: participant }
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: `${path}/{user}`,
    name: 'removeParticipant',
    tag,
    summary: 'Removes a person; what waits for that person is cancelled, and the asking agent reads why.',
    answers: { 204: { schema: null, description: 'The person takes part no longer.' } },
    handle: async (call) => {
      await call.witan.removeParticipant(conversationId(call), param(call, 'user'))
      return { status: 204 }
    },
  }),
]
