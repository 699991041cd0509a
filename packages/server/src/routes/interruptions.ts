/** What waits for somebody: listed, and answered. */
import { interruptionSchema, interruptionStates } from '@witan/protocol/schemas'
import { z } from 'zod'
import { defineRoute, param, type Route } from '../route.ts'
import { given, pageOf, pageQuery } from './paging.ts'

const tag = 'interruptions'
const answerBody = z.union([z.strictObject({ answer: z.unknown() }), z.strictObject({ error: z.string().min(1) })])

/** Everything under /api/v1/interruptions. */
export const interruptionRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/interruptions',
    name: 'listInterruptions',
    tag,
    summary: 'Lists what waits, or in another state, for one addressee or all.',
    query: z.strictObject({
      ...pageQuery,
      state: z.enum(interruptionStates).default('open'),
      addressee: z.string().max(200).optional(),
    }),
    answers: { 200: { schema: pageOf(interruptionSchema), description: 'A page of interruptions.' } },
    handle: async ({ witan, query }) => ({ status: 200, body: await witan.listInterruptions(given(query)) }),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/interruptions/{id}/answer',
    name: 'answerInterruption',
    tag,
    summary: 'Answers an interruption, or reports that it failed. The run goes on by itself.',
    body: z.strictObject({ answer: z.unknown().optional(), error: z.unknown().optional() }),
    bodyDocument: answerBody,
    answers: { 200: { schema: interruptionSchema, description: 'The interruption, answered.' } },
    handle: async (call) => ({
      status: 200,
      body: await call.witan.answerInterruption(param(call, 'id'), call.body),
    }),
  }),
]
