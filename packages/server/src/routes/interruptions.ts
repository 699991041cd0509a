/** Interruptions: listed and answered. */
import { type InterruptionAnswer, interruptionSchema, interruptionStates } from '@witan/protocol/schemas'
import { z } from 'zod'
import { defineRoute, param, type Route } from '../route.ts'
import { given, pageOf, pageQuery } from './paging.ts'

const tag = 'interruptions'
const questionAnswer = z.strictObject({ options: z.array(z.string()).optional(), text: z.string().optional() })
const answerBody = z.union([z.strictObject({ answer: z.unknown() }), z.strictObject({ error: z.string().min(1) })])

const answerBodyShape = z.strictObject({ answer: z.unknown().optional(), error: z.unknown().optional() })
const answered = { 200: { schema: interruptionSchema, description: 'The interruption, answered.' } }

/** Everything under /api/v1/interruptions, and the route that answers only questions [F29]. */
export const interruptionRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/interruptions',
    name: 'listInterruptions',
    tag,
    summary: 'Lists the interruptions that you may answer or read, by state and addressee.',
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
    summary: 'Answers an interruption, or reports that an action failed. The run goes on.',
    body: answerBodyShape,
    bodyDocument: answerBody,
    answers: answered,
    handle: async (call) => ({
      status: 200,
      body: await call.witan.answerInterruption(param(call, 'id'), call.body as InterruptionAnswer),
    }),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/questions/{id}/respond',
    name: 'respondToQuestion',
    tag,
    summary: 'Answers a question, by the ids of what it asks. The run goes on by itself.',
    body: answerBodyShape,
    bodyDocument: z.strictObject({ answer: z.record(z.string(), questionAnswer) }),
    answers: answered,
    handle: async (call) => ({
      status: 200,
      body: await call.witan.answerInterruption(param(call, 'id'), call.body as InterruptionAnswer, {
        kind: 'question',
      }),
    }),
  }),
]
