/** Who changed what an administrator may change. */
import { auditKinds } from '@witan/protocol/keys'
import { auditEntrySchema } from '@witan/protocol/schemas'
import { z } from 'zod'
import { defineRoute, type Route } from '../route.ts'
import { given, pageOf, pageQuery } from './paging.ts'

const name = z.string().max(400).optional()

/** The audit of the database. */
export const auditRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/audit',
    name: 'listAudit',
    tag: 'audit',
    summary: 'Lists who changed an agent, a protocol or an API key of this database, and when, the latest first.',
    query: z.strictObject({
      ...pageQuery,
      kind: z.enum(auditKinds).optional().meta({ description: 'Only changes of this kind of object.' }),
      name: name.meta({
        description: 'Only changes of this object: the id of an agent or a key, the name of the rest.',
      }),
      by: name.meta({ description: 'Only changes by this principal, such as `user:anna`.' }),
    }),
    answers: { 200: { schema: pageOf(auditEntrySchema), description: 'A page of changes.' } },
    handle: async ({ witan, query }) => ({ status: 200, body: await witan.audit(given(query)) }),
  }),
]
