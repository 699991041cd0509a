/** API keys of the caller's database, and who the caller is. */
import { apiKeySchema, createdKeySchema, keyRequestSchema, principalSchema } from '@witan/protocol/schemas'
import { z } from 'zod'
import { defineRoute, param, type Route } from '../route.ts'
import { given, pageOf, pageQuery } from './paging.ts'

const tag = 'keys'
const shownOnce = createdKeySchema.extend({
  key: z.string().nullable().meta({ description: 'The key, shown once: null in a repeat under an idempotency key.' }),
})

/** Everything under /api/v1/keys, and /api/v1/principal. */
export const keyRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/api/v1/keys',
    name: 'createKey',
    tag,
    summary: 'Creates an API key of this database. The reply is the only one that shows it.',
    body: keyRequestSchema,
    bodyOptional: true,
    answers: { 201: { schema: shownOnce, description: 'The key is new.' } },
    handle: async ({ witan, body }) => {
      const made = await witan.keys.create(body)
      return { status: 201, body: made, remembered: { ...made, key: null } }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/keys',
    name: 'listKeys',
    tag,
    summary: 'Lists the API keys of this database, the latest first, without the keys themselves.',
    query: z.strictObject(pageQuery),
    answers: { 200: { schema: pageOf(apiKeySchema), description: 'A page of keys.' } },
    handle: async ({ witan, query }) => ({ status: 200, body: await witan.keys.list(given(query)) }),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/v1/keys/{keyId}',
    name: 'revokeKey',
    tag,
    summary: 'Revokes an API key: within five seconds every process refuses it.',
    answers: { 204: { schema: null, description: 'It is revoked.' } },
    handle: async (call) => {
      await call.witan.keys.revoke(param(call, 'keyId'))
      return { status: 204 }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/principal',
    name: 'getPrincipal',
    tag,
    summary: 'Who the caller is to this server.',
    answers: { 200: { schema: principalSchema, description: 'The caller.' } },
    handle: async ({ witan: { principal } }) => {
      const { database, id, roles, address } = principal
      return { status: 200, body: { database, id, roles, address } }
    },
  }),
]
