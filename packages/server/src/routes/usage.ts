/** What a database has used. */
import { usageDimensions, usageItemSchema } from '@witan/protocol/schemas'
import { z } from 'zod'
import { defineRoute, type Route } from '../route.ts'
import { given, pageOf, pageQuery } from './paging.ts'

const date = z.string().optional()

/** The figures of this process, in the text format of Prometheus. Without `telemetry.metrics` there is nothing here. */
export const metricsRoute: Route = defineRoute({
  method: 'GET',
  path: '/metrics',
  name: 'metrics',
  tag: 'operation',
  summary: 'Figures of this process for the database, in the text format of Prometheus. Only with `telemetry.metrics`.',
  answers: { 200: { schema: null, isBytes: true, description: 'The figures as text.' } },
  handle: async ({ witan }) => ({
    status: 200,
    bytes: Uint8Array.from(Buffer.from(await witan.metrics())),
    headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
  }),
})

/** The sums of usage. */
export const usageRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/usage',
    name: 'listUsage',
    tag: 'usage',
    summary:
      'What the database has used, by agent, conversation, user, model or day. A page may be short and still have a cursor.',
    query: z.strictObject({
      ...pageQuery,
      by: z.enum(usageDimensions).meta({ description: 'By what it is listed. Days are those of UTC.' }),
      from: date.meta({ description: 'The first day, as `2026-11-25`.' }),
      to: date.meta({
        description:
          'The last day, included. A date with a time is the end itself, not included: `2026-11-26T00:00:00Z` ends with the 25th.',
      }),
    }),
    answers: { 200: { schema: pageOf(usageItemSchema), description: 'A page of sums, in the order of their keys.' } },
    handle: async ({ witan, query }) => ({ status: 200, body: await witan.usage({ ...given(query), by: query.by }) }),
  }),
]
